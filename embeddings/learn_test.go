package embeddings

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mldpbench/stream"
)

// slotSentences writes sentences whose words at the same position are
// interchangeable: word "s3x1" is one of the words of slot 3. Topics use
// different slots.
func slotSentences(n int) [][]string {
	rng := stream.FromUint64(1).Derive("test").Rand()
	sentences := make([][]string, n)
	for i := range sentences {
		topic := rng.IntN(5)
		for range 8 {
			slot := topic*8 + rng.IntN(8)
			sentences[i] = append(sentences[i], fmt.Sprintf("s%dx%d", slot, rng.IntN(5)), fmt.Sprintf("after%d", slot))
		}
	}
	return sentences
}

func TestWordsOfOneSlotAreNeighbours(t *testing.T) {
	var pairs [][]string // a word of a slot and what follows it
	for _, sentence := range slotSentences(4000) {
		for pair := range slices.Chunk(sentence, 2) {
			pairs = append(pairs, pair)
		}
	}
	s, err := LearnPPMI("test", pairs, 50)
	if err != nil {
		t.Fatal(err)
	}
	slot := func(id WordID) string { return strings.Split(s.Vocabulary.Word(id), "x")[0] }
	checked := 0
	for a := range WordID(s.Len()) {
		if !strings.Contains(s.Vocabulary.Word(a), "x") {
			continue
		}
		best := Unknown
		for b := range WordID(s.Len()) {
			if b != a && (best == Unknown || s.Distance(a, b) < s.Distance(a, best)) {
				best = b
			}
		}
		if slot(a) != slot(best) {
			t.Errorf("nearest of %s is %s", s.Vocabulary.Word(a), s.Vocabulary.Word(best))
		}
		checked++
	}
	if checked != 200 {
		t.Fatalf("%d words", checked)
	}
	var norm float64
	zero := make([]float32, s.Dimension)
	for a := range WordID(s.Len()) {
		norm += Euclidean(s.Vector(a), zero) / float64(s.Len())
	}
	if math.Abs(norm-meanNorm) > 1e-3 {
		t.Errorf("mean norm %v", norm)
	}
}

func TestLearningRepeatsOnAnyNumberOfProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	want := ""
	for _, n := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(n)
		s, err := LearnPPMI("test", slotSentences(1000), 30)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = s.Fingerprint()
		}
		if s.Fingerprint() != want {
			t.Errorf("%d processors: other vectors", n)
		}
	}
}

// The randomised factorisation against gonum's full one: equal singular values
// and equal Gram matrices of the leading left vectors.
func TestLeftSingularAgainstFull(t *testing.T) {
	sentences := slotSentences(1000)
	v, err := NewVocabulary(ByFrequency(sentences))
	if err != nil {
		t.Fatal(err)
	}
	m := cooccurrences(sentences, v)
	dense := mat.NewDense(v.Len(), v.Len(), nil)
	fill := func() {
		dense.Zero()
		for r := range m.rows() {
			for i := m.start[r]; i < m.start[r+1]; i++ {
				dense.Set(r, int(m.column[i]), m.value[i])
			}
		}
	}
	fill()
	if !mat.Equal(dense, dense.T()) {
		t.Error("counts are not symmetric")
	}
	m.toPPMI()
	fill()
	var full mat.SVD
	if !full.Factorize(dense, mat.SVDThin) {
		t.Fatal("no full decomposition")
	}
	const d = 20
	_, sigma, err := leftSingular(m, d)
	if err != nil {
		t.Fatal(err)
	}
	// The subspace misses a share that shrinks with the gap to value 40, to the
	// power of 13 passes; it can only underestimate.
	for j, want := range full.Values(nil)[:d] {
		if sigma[j] > want*(1+1e-9) || sigma[j] < want*(1-1e-3) {
			t.Errorf("singular value %d: %v, want %v", j, sigma[j], want)
		}
	}
}

func TestPPMIByHand(t *testing.T) {
	// a b | a b | a c: #(a)=3, #(b)=2, #(c)=1.
	sentences := [][]string{{"a", "b"}, {"a", "b"}, {"a", "c"}}
	v, err := NewVocabulary(ByFrequency(sentences))
	if err != nil {
		t.Fatal(err)
	}
	m := cooccurrences(sentences, v)
	m.toPPMI()
	all := math.Pow(3, .75) + math.Pow(2, .75) + 1
	want := map[string]float64{
		"ab": math.Log(2 * all / (3 * math.Pow(2, .75))), "ac": math.Log(1 * all / (3 * 1)),
		"ba": math.Log(2 * all / (2 * math.Pow(3, .75))), "ca": math.Log(1 * all / (1 * math.Pow(3, .75))),
	}
	for r := range m.rows() {
		for i := m.start[r]; i < m.start[r+1]; i++ {
			pair := v.Word(WordID(r)) + v.Word(WordID(m.column[i]))
			if math.Abs(m.value[i]-want[pair]) > 1e-12 {
				t.Errorf("%s: %v, want %v", pair, m.value[i], want[pair])
			}
			delete(want, pair)
		}
	}
	if len(want) != 0 {
		t.Errorf("missing %v", want)
	}
}

func TestLearnErrors(t *testing.T) {
	some := slotSentences(50)
	for _, c := range []struct {
		sentences [][]string
		dimension int
		want      string
	}{
		{some, 0, "dimension = 0: must be >= 1"},
		{[][]string{{"a", "b"}}, 2, "must be below the 2 words"},
		{[][]string{{"a"}, {"b"}}, 1, "support fewer than 1 dimensions"},
		{nil, 1, "must be below the 0 words"},
	} {
		_, err := LearnPPMI("test", c.sentences, c.dimension)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("err = %v, want %s", err, c.want)
		}
	}
}

func BenchmarkLearnPPMI(b *testing.B) {
	rng := stream.FromUint64(1).Rand()
	sentences := make([][]string, 10000)
	for i := range sentences {
		for range 30 {
			// Zipf-like over 2,000 words
			sentences[i] = append(sentences[i], fmt.Sprint(int(math.Exp(rng.Float64()*math.Log(2001)))))
		}
	}
	for b.Loop() {
		if _, err := LearnPPMI("bench", sentences, 100); err != nil {
			b.Fatal(err)
		}
	}
}
