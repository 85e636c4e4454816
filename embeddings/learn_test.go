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

// Words of one slot are neighbours, whatever the number of processors.
func TestLearnPPMI(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var pairs [][]string // a word of a slot and what follows it
	for _, sentence := range slotSentences(3000) {
		pairs = slices.AppendSeq(pairs, slices.Chunk(sentence, 2))
	}
	var s *Space
	for _, n := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(n)
		again, err := LearnPPMI("test", pairs, 50)
		if err != nil {
			t.Fatal(err)
		}
		if s != nil && s.Fingerprint() != again.Fingerprint() {
			t.Errorf("%d processors: other vectors", n)
		}
		s = again
	}
	slot := func(id WordID) string { return strings.Split(s.Vocabulary.Word(id), "x")[0] }
	checked, norm, zero := 0, 0.0, make([]float32, s.Dimension)
	for a := range WordID(s.Len()) {
		norm += Euclidean(s.Vector(a), zero) / float64(s.Len())
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
	if checked != 200 || math.Abs(norm-meanNorm) > 1e-3 {
		t.Fatalf("%d words, mean norm %v", checked, norm)
	}
}

// The randomised factorisation against gonum's full one: equal singular values, each
// the square of the length of its column.
func TestLeftSingularAgainstFull(t *testing.T) {
	sentences := slotSentences(1000)
	v, err := NewVocabulary(ByFrequency(sentences))
	if err != nil {
		t.Fatal(err)
	}
	m := ppmi(sentences, v)
	dense := mat.NewDense(v.Len(), v.Len(), nil)
	for r, row := range m {
		for _, e := range row {
			dense.Set(r, e.column, e.value)
		}
	}
	var full mat.SVD
	if !full.Factorize(dense, mat.SVDThin) {
		t.Fatal("no full decomposition")
	}
	const d = 20
	left, err := leftSingular(m, d)
	if err != nil {
		t.Fatal(err)
	}
	// The subspace misses a share that shrinks with the gap to value 40, to the
	// power of 13 passes; it can only underestimate.
	for j, want := range full.Values(nil)[:d] {
		length := mat.Norm(left.ColView(j), 2)
		if sigma := length * length; sigma > want*(1+1e-9) || sigma < want*(1-1e-3) {
			t.Errorf("singular value %d: %v, want %v", j, sigma, want)
		}
	}
}

func TestPPMIByHand(t *testing.T) {
	// a b | a b | a c: #(a)=3, #(b)=2, #(c)=1.
	v, err := NewVocabulary([]string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	all := math.Pow(3, .75) + math.Pow(2, .75) + 1
	want := sparse{{{1, math.Log(2 * all / (3 * math.Pow(2, .75)))}, {2, math.Log(1 * all / (3 * 1))}},
		{{0, math.Log(2 * all / (2 * math.Pow(3, .75)))}}, {{0, math.Log(1 * all / (1 * math.Pow(3, .75)))}}}
	got := ppmi([][]string{{"a", "b"}, {"a", "b"}, {"a", "c"}}, v)
	if !slices.EqualFunc(got, want, func(a, b []entry) bool {
		return slices.EqualFunc(a, b, func(x, y entry) bool { return x.column == y.column && math.Abs(x.value-y.value) < 1e-12 })
	}) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestLearnErrors(t *testing.T) {
	for want, c := range map[string]struct {
		sentences [][]string
		dimension int
	}{
		"dimension = 0: must be >= 1":     {slotSentences(50), 0},
		"must be below the 2 words":       {[][]string{{"a", "b"}}, 2},
		"support fewer than 1 dimensions": {[][]string{{"a"}, {"b"}}, 1},
		"below the 0 words":               {nil, 1},
	} {
		if _, err := LearnPPMI("test", c.sentences, c.dimension); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want %s", err, want)
		}
	}
}
