package mechanisms

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"mldpbench/internal/realdata"
	"slices"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// headTailOf is the mechanism in the form used for a large vocabulary.
func headTailOf(t testing.TB, s *embeddings.Space, name string, epsilon float64) (*Mechanism, *distanceSelector) {
	t.Helper()
	env := Environment{Space: s}
	for i := range s.Len() / 2 {
		env.Documents = append(env.Documents, []string{s.Vocabulary.Word(WordID(2 * i))})
	}
	m := mustNew(t, env, Settings{Mechanism: name, Epsilon: epsilon})
	if x, ok := m.sampler.(*distanceSelector); ok {
		return m, x
	}
	law := func(epsilon float64) distanceLaw {
		if name == "tem" {
			return distanceLaw{epsilon / 2, theorem3(epsilon, 0.001, s.Len()-1)}
		}
		return distanceLaw{epsilon / 2, math.Inf(1)}
	}
	var outputs *outputSet
	if name == "santext-plus" {
		words, contains := rarestWords(env, m.settings.Parameters["w"].(float64))
		outputs = &outputSet{words, contains, m.settings.Parameters["p"].(float64)}
	}
	x := newHeadTail(samplerOf[*selector](t, m), s, law, outputs)
	m.sampler = x
	return m, x
}

// rowOf makes the row of a word.
func (m *distanceSelector) rowOf(word WordID) *headTail {
	var row *headTail
	b := m.builder()
	b.build([]rowKey{{word, m.epsilon}}, func(_ int, r *headTail) { row = r })
	row.head = slices.Clone(row.head) // of the scratch space, where it is not kept
	m.release(b)
	return row
}

// held is the logarithm of the probability of every output that a row draws
// from, given perfect random numbers.
func (m *distanceSelector) held(word WordID, row *headTail) []float64 {
	law, n := m.own, m.space.Len()
	share := m.exactShare(row, rowKey{word, m.epsilon})
	rest := math.Exp(share.logRest)
	logTail := math.Log(float64(share.whole)+rest) - 64*math.Ln2
	if share.whole == 0 {
		logTail = share.logRest - 64*math.Ln2
	}
	logHead := math.Log1p(-math.Exp(logTail))
	logs := make([]float64, n)
	for y := range logs {
		logs[y] = math.Inf(-1)
	}
	columns := map[WordID]float64{}
	for _, c := range row.head {
		if c.threshold == math.MaxUint64 {
			columns[c.word]++
			continue
		}
		keep := math.Ldexp(float64(c.threshold), -64)
		columns[c.word] += keep
		columns[c.alias] += 1 - keep
	}
	for y, p := range columns {
		logs[y] = logHead + math.Log(p/float64(len(row.head)))
	}
	// The tail: every word is proposed alike and taken as drawTail says.
	least, sum := min(row.least, law.most), 0.0
	for y := range WordID(n) {
		if _, head := columns[y]; !head {
			sum += math.Exp(-law.rate * (min(m.space.Distance(word, y), law.most) - least))
		}
	}
	for y := range WordID(n) {
		if _, head := columns[y]; !head {
			logs[y] = logTail - law.rate*(min(m.space.Distance(word, y), law.most)-least) - math.Log(sum)
		}
	}
	return logs
}

// etaOf bounds the errors of float64 in a distribution over a space, as
// docs/guarantees.md states it: the error of distances over p axes (a relative
// (p+2)·2⁻⁵³) in the exponent, of the exponential, of sums of n weights, of
// rounding probabilities of at least 1/(32n) to 64 bits, and of choosing a
// uniform word. The error applies to both a weight and the normaliser.
func etaOf(l distanceLaw, s *embeddings.Space) float64 {
	reach := l.rate * min(2*longestVector(s), l.most)
	return (2*reach*float64(s.Dimension+16) + 100*float64(s.Len())) * 0x1p-53
}

// TestHeadTailHoldsItsDistribution compares what rows draw from with the
// closed form, in logarithms, down to probabilities that no float64 holds:
// the η of docs/guarantees.md is kept, and with it ε·d + 2·Eta between any words.
func TestHeadTailHoldsItsDistribution(t *testing.T) {
	t.Parallel()
	for _, space := range []*embeddings.Space{spacetest.Gaussian(t, 700, 20, 1, 41),
		spacetest.Gaussian(t, 5000, 3, 2, 42), spacetest.Gaussian(t, 300, 1, 0, 43)} {
		for _, name := range []string{"santext", "tem"} {
			for _, epsilon := range []float64{1e-6, 0.3, 1, 5, 30, 1000, 1e6} {
				whole, m := headTailOf(t, space, name, epsilon)
				eta := etaOf(m.own, space)
				var before []float64
				for _, word := range []WordID{0, 7, WordID(space.Len() - 1)} {
					row := m.rowOf(word)
					logs := m.held(word, row)
					want, err := whole.LogRow(word)
					if err != nil {
						t.Fatal(err)
					}
					worst := 0.0
					for y := range logs {
						// Both sides are rounded to float64 logarithms.
						room := eta + 1e-12 + 4e-15*math.Abs(want[y])
						if worst = max(worst, math.Abs(logs[y]-want[y])-room); worst > 0 || math.IsNaN(logs[y]) {
							t.Fatalf("%s, n = %d, ε = %v, word %d: ln Pr[%d] = %v, want %v ± %v", name, space.Len(),
								epsilon, word, y, logs[y], want[y], room)
						}
						if before != nil {
							limit := epsilon*space.Distance(0, word) + 2*eta + 2e-12 + 1e-14*math.Abs(want[y])
							if gap := math.Abs(logs[y] - before[y]); word != 0 && gap > limit {
								t.Fatalf("%s, ε = %v: the odds of %d change by e^%v between words 0 and %d, "+
									"more than e^%v", name, epsilon, y, gap, word, limit)
							}
						}
					}
					if word == 0 {
						before = logs
					}
				}
			}
		}
	}
}

// TestShareBoundsHold: the float32 bounds on the tail's share contain the
// float64 share on every path, and rows are otherwise the same.
func TestShareBoundsHold(t *testing.T) {
	space := spacetest.Gaussian(t, 2000, 30, 1, 44)
	for _, name := range []string{"santext", "tem", "santext-plus"} {
		for _, epsilon := range []float64{0.01, 1, 4, 20, 500} {
			var want []*headTail
			widest := 0.0
			for _, path := range kernel.Paths() {
				restore, err := kernel.Use(path)
				if err != nil {
					t.Fatal(err)
				}
				_, m := headTailOf(t, space, name, epsilon)
				for word := range WordID(40) {
					row := m.rowOf(word)
					exact := m.exactShare(row, rowKey{word, epsilon})
					if row.low > exact.whole || exact.whole > row.high {
						t.Errorf("%s, ε = %v, %s: share %d outside [%d, %d]", name, epsilon, path, exact.whole, row.low,
							row.high)
					}
					widest = max(widest, float64(row.high-row.low)/0x1p64)
					if len(want) <= int(word) {
						want = append(want, row)
						continue
					}
					w := want[word]
					if !slices.Equal(row.head, w.head) || row.least != w.least || row.last != w.last ||
						row.lastID != w.lastID || row.logHead != w.logHead ||
						*exact != *m.exactShare(w, rowKey{word, epsilon}) {
						t.Errorf("%s, ε = %v: row %d differs on %s", name, epsilon, word, path)
					}
				}
				restore()
			}
			if widest > 1e-3 {
				t.Errorf("%s, ε = %v: bounds are %v apart: float64 would decide too often", name, epsilon, widest)
			}
			t.Logf("%s, ε = %v: bounds at most %.2g apart, head of %d", name, epsilon, widest, len(want[0].head))
		}
	}
}

func TestHeadTailDraws(t *testing.T) {
	t.Parallel()
	space := spacetest.Gaussian(t, 900, 6, 1, 45)
	for _, name := range []string{"santext", "tem", "santext-plus"} {
		for _, epsilon := range []float64{0.05, 1, 3, 15} {
			whole, m := headTailOf(t, space, name, epsilon)
			d, err := whole.Row(3)
			if err != nil {
				t.Fatal(err)
			}
			label := fmt.Sprintf("%s, ε = %v", name, epsilon)
			if o := m.outputs; o != nil { // one word of each kind
				kept := slices.Index(o.contains, false)
				p, err := whole.Row(WordID(kept))
				if err != nil {
					t.Fatal(err)
				}
				requireFit(t, label+", a word that may be kept",
					sample(whole, WordID(kept), 200_000, stream.FromUint64(57)), p)
				if !o.contains[3] {
					t.Fatal("word 3 is not sensitive: choose another")
				}
			}
			requireFit(t, label, sample(whole, 3, 200_000, stream.FromUint64(46)), d)

			// The tail by itself, and where bounds must be settled in float64.
			row := m.rowOf(3)
			if math.IsInf(row.least, 1) {
				t.Errorf("%s: no tail", label)
				continue
			}
			head, counts, rng := map[WordID]bool{}, make([]int, 900), rand.NewPCG(47, 48)
			for _, c := range row.head {
				head[c.word] = true
			}
			p, sum := slices.Clone(d), 0.0
			for y := range p {
				if head[WordID(y)] {
					p[y] = 0
				}
				sum += p[y]
			}
			for y := range p {
				p[y] /= sum
			}
			for range 50_000 {
				counts[m.drawTail(row, rowKey{3, epsilon}, rng)]++
			}
			requireFit(t, label+", tail", counts, p)
			row.low, row.high = 0, math.MaxUint64
			counts, random := make([]int, 900), stream.FromUint64(49).Rand()
			for range 100_000 {
				counts[m.choose(row, rowKey{3, epsilon}, wordRandom{random.Uint64(), random.Uint64(), random.Uint64(),
					random.Uint64()})]++
			}
			requireFit(t, label+", settled in float64", counts, d)
		}
	}
}

// Words with equal vectors, a vocabulary of only such words, and heads as large
// as the vocabulary.
func TestHeadTailOfEqualVectors(t *testing.T) {
	t.Parallel()
	vectors := make([]float32, 600*2)
	for i := range 100 {
		vectors[2*i] = float32(i % 10)
	}
	words := make([]string, 600)
	for i := range words {
		words[i] = fmt.Sprint("w", i)
	}
	v, err := embeddings.NewVocabulary(words)
	if err != nil {
		t.Fatal(err)
	}
	space, err := embeddings.NewSpace("equal", v, 2, vectors)
	if err != nil {
		t.Fatal(err)
	}
	for _, epsilon := range []float64{0.1, 2, 100} {
		for _, word := range []WordID{1, 500} {
			whole, _ := headTailOf(t, space, "santext", epsilon)
			d, err := whole.Row(word)
			if err != nil {
				t.Fatal(err)
			}
			requireFit(t, fmt.Sprintf("word %d, ε = %v", word, epsilon), sample(whole, word, 50_000, stream.FromUint64(50)),
				d)
		}
	}
	small := spacetest.Gaussian(t, 20, 2, 1, 51)
	whole, _ := headTailOf(t, small, "santext", 0.5)
	d, err := whole.Row(4)
	if err != nil {
		t.Fatal(err)
	}
	requireFit(t, "all in the head", sample(whole, 4, 50_000, stream.FromUint64(52)), d)
}

// TestNearestCandidates compares the candidates of a row with all words in
// order, on every path: where squares have no limit (outputs that lie in one
// fold, vectors too long for float32), where distances are equal, and elsewhere.
func TestNearestCandidates(t *testing.T) {
	scaled := func(n, dimension int, factor float32) *embeddings.Space {
		s := spacetest.Gaussian(t, n, dimension, 1, 58)
		vectors := slices.Clone(s.Vectors)
		for i := range vectors {
			vectors[i] *= factor
		}
		s, err := embeddings.NewSpace("scaled", s.Vocabulary, dimension, vectors)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	oneFold := &outputSet{contains: make([]bool, 3*folds), replaced: 1}
	for y := 5; y < 3*folds; y += folds {
		oneFold.words, oneFold.contains[y] = append(oneFold.words, WordID(y)), true
	}
	for _, c := range []struct {
		name    string
		space   *embeddings.Space
		outputs *outputSet
	}{
		{"some", scaled(300, 3, 1), nil},
		{"many", scaled(5000, 9, 1), nil},
		{"equal", scaled(1500, 2, 0), nil},
		{"short", scaled(1000, 4, 1e-30), nil},
		{"squares of few bits", scaled(1000, 20, 3e-22), nil},
		{"long", scaled(1000, 4, 1e19), nil},
		{"longest", scaled(1000, 4, 1e30), nil},
		{"one fold", scaled(3*folds, 3, 1), oneFold},
	} {
		law := func(epsilon float64) distanceLaw { return distanceLaw{epsilon / 2, math.Inf(1)} }
		full := &selector{epsilon: 1}
		for _, path := range kernel.Paths() {
			restore, err := kernel.Use(path)
			if err != nil {
				t.Fatal(err)
			}
			m := newHeadTail(full, c.space, law, c.outputs)
			b := m.builder().(*headTailBuilder)
			for _, word := range []WordID{0, 77, WordID(c.space.Len() - 1)} {
				var want []headCandidate
				for y := range WordID(c.space.Len()) {
					if c.outputs == nil || c.outputs.contains[y] {
						want = append(want, headCandidate{c.space.Distance(word, y), y})
					}
				}
				slices.SortStableFunc(want, func(a, c headCandidate) int { return cmp.Compare(a.distance, c.distance) })
				v := c.space.Vector(word)
				rows := make([]float32, m.panels.Stride())
				m.panels.SquaredDistances32(rows, m.norms, v)
				norm := 0.0
				for _, x := range v {
					norm += float64(x) * float64(x)
				}
				uncertain := kernel.SquaredDistanceError(len(v), math.Sqrt(norm), m.longest)
				for _, count := range []int{1, 18, headWords + 1} {
					count = min(count, len(want))
					b.nearestOf(v, rows, count, norm, uncertain)
					if !slices.Equal(b.candidates, want[:count]) {
						t.Errorf("%s, %s: the %d nearest of word %d are %v, want %v", c.name, path, count, word,
							b.candidates, want[:count])
					}
				}
			}
			restore()
		}
	}
}

// TestCandidateOrder compares with a sort: distances of a word itself, equal ones, ones
// far apart and ones as close as float64 has them.
func TestCandidateOrder(t *testing.T) {
	t.Parallel()
	rng := stream.FromUint64(59).Rand()
	var b headTailBuilder
	for range 400 {
		n := rng.IntN(6 * headWords)
		scale := math.Ldexp(1, rng.IntN(2000)-1000)
		b.ids, b.distances = make([]uint32, n), make([]float64, n)
		want := make([]headCandidate, n)
		for i := range n {
			b.ids[i] = uint32(3 * i)
			switch rng.IntN(4) {
			case 0:
				b.distances[i] = scale * float64(rng.IntN(3))
			case 1:
				b.distances[i] = math.Nextafter(scale, math.Inf(rng.IntN(2)*2-1))
			default:
				b.distances[i] = scale * rng.Float64()
			}
			want[i] = headCandidate{b.distances[i], WordID(3 * i)}
		}
		slices.SortStableFunc(want, func(a, c headCandidate) int { return cmp.Compare(a.distance, c.distance) })
		if b.order(); !slices.Equal(b.candidates, want) {
			t.Fatalf("%v, want %v", b.candidates, want)
		}
	}
}

// Text does not depend on path, workers, batches, or on what is kept.
func TestHeadTailTextIsTheSame(t *testing.T) {
	space := spacetest.Gaussian(t, 2000, 12, 1, 53)
	for _, name := range []string{"santext", "tem", "santext-plus"} {
		for _, epsilon := range []float64{0.5, 3, 40} {
			requireSameText(t, fmt.Sprintf("%s, ε = %v", name, epsilon), space, epsilon, func(few bool) *Mechanism {
				m, x := headTailOf(t, space, name, epsilon)
				if few {
					x.rowsKept.limit = 20 << 10
				}
				return m
			})
		}
	}
}

// requireSameText fails where text depends on path, workers, batches, or on
// what is kept. fresh makes the mechanism, with memory for a few rows only
// where few is set.
func requireSameText(t *testing.T, name string, space *embeddings.Space, epsilon float64,
	fresh func(few bool) *Mechanism) {
	t.Helper()
	rng := stream.FromUint64(54).Rand()
	documents := make([][]string, 40)
	for i := range documents {
		for range 30 {
			documents[i] = append(documents[i], space.Vocabulary.Word(WordID(rng.IntN(300))))
		}
	}
	var want [][]string
	for i, path := range kernel.Paths() {
		restore, err := kernel.Use(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{1, 3} {
			m := fresh(workers == 3 && i == 0)
			for range 2 { // once without rows, once with
				got, err := Text(context.Background(), m, Random, documents, stream.FromUint64(55), workers)
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
					t.Fatalf("%s: text differs on %s with %d workers", name, path, workers)
				}
			}
			for d, document := range documents { // one at a time
				ids := space.Vocabulary.Encode(nil, document)
				if err := m.Privatize(context.Background(), ids, ids, stream.FromUint64(55).At(uint64(d)).Rand()); err != nil {
					t.Fatal(err)
				}
				for j, id := range ids {
					if space.Vocabulary.Word(id) != want[d][j] {
						t.Fatalf("%s: document %d alone differs at %d", name, d, j)
					}
				}
			}
		}
		restore()
	}
}

// TestUnderflowLosesNoWord is SanText at ε = 1000: most probabilities are
// smaller than any float64, and every word keeps its own.
func TestUnderflowLosesNoWord(t *testing.T) {
	t.Parallel()
	space := spacetest.Gaussian(t, 5000, 50, 1, 56)
	_, m := headTailOf(t, space, "santext", 1000)
	underflow := 0
	for y, l := range m.held(9, m.rowOf(9)) {
		if math.Exp(l) == 0 {
			underflow++
		}
		if want := -500 * space.Distance(9, WordID(y)); math.Abs(l-want) > 1e-9*(1-want) {
			t.Fatalf("ln Pr[%d] = %v, want %v", y, l, want)
		}
	}
	if underflow < 4000 {
		t.Errorf("%d of 5000 probabilities underflow: the test sees nothing", underflow)
	}
	// A table has a least probability instead.
	small := spacetest.Gaussian(t, 60, 50, 1, 56)
	table := mustNew(t, Environment{Space: small}, Settings{Mechanism: "santext", Epsilon: 1000})
	b := samplerOf[*selector](t, table).builder()
	b.build([]rowKey{{9, 1000}}, func(_ int, a *aliasTable) {
		for y, p := range a.held() {
			if p < leastProbability*(1-1e-3) {
				t.Errorf("Pr[%d] = %v, below the floor", y, p)
			}
		}
	})
}

var ctx = context.Background()

var selectionEpsilons = []float64{1, 2, 3, 5, 10}

// BenchmarkSelectionPrepare measures the making of rows, many at once.
func BenchmarkSelectionPrepare(b *testing.B) {
	s := gloveSpace(b)
	for _, name := range []string{"santext", "tem"} {
		for _, epsilon := range selectionEpsilons {
			b.Run(fmt.Sprintf("%s/%v", name, epsilon), func(b *testing.B) {
				_, m := headTailOf(b, s, name, epsilon)
				builder := m.builder()
				keys := make([]rowKey, m.rowsAtOnce())
				word, columns, rows := 0, 0, 0
				cpu := realdata.CPU()
				for b.Loop() {
					for i := range keys {
						keys[i] = rowKey{WordID(word % s.Len()), epsilon}
						word += 7 // in no order of frequency
					}
					builder.build(keys, func(_ int, r *headTail) { columns += len(r.head); rows++ })
				}
				b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(rows), "ms/row")
				b.ReportMetric((realdata.CPU()-cpu)*1e3/float64(rows), "cpu-ms/row")
				b.ReportMetric(float64(columns)/float64(rows), "columns/row")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkSelectionFirst measures words that no row is kept for, four at a
// time: a row, if one is made, and one draw each.
func BenchmarkSelectionFirst(b *testing.B) {
	s := gloveSpace(b)
	env := Environment{Space: s, Thesaurus: everyWord{}}
	for _, name := range []string{"santext", "tem", "syntf"} {
		for _, epsilon := range selectionEpsilons {
			b.Run(fmt.Sprintf("%s/%v", name, epsilon), func(b *testing.B) {
				m := mustNew(b, env, Settings{Mechanism: name, Epsilon: epsilon})
				rng := stream.FromUint64(60).Rand()
				words := make([]WordID, kernel.PairRows)
				word, cpu := 0, realdata.CPU()
				for b.Loop() {
					for i := range words {
						words[i] = WordID(word * 7 % s.Len()) // in no order of frequency
						word++
					}
					_ = m.sampler.draw(ctx, []Document{{words, epsilon, rng}}, 1)
				}
				b.ReportMetric((realdata.CPU()-cpu)*1e3/float64(word), "cpu-ms/word")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkSelectionText measures a corpus of 100,000 words drawn by Zipf's
// law, with a fresh mechanism.
func BenchmarkSelectionText(b *testing.B) {
	s := gloveSpace(b)
	env := Environment{Space: s, Thesaurus: everyWord{}}
	rng := stream.FromUint64(61).Rand()
	zipf := rand.NewZipf(rng, 1.1, 10, uint64(s.Len()-1))
	documents := make([][]WordID, 500)
	for i := range documents {
		for range 200 {
			documents[i] = append(documents[i], WordID(zipf.Uint64()))
		}
	}
	for _, name := range []string{"santext", "tem", "syntf"} {
		for _, epsilon := range selectionEpsilons {
			b.Run(fmt.Sprintf("%s/%v", name, epsilon), func(b *testing.B) {
				cpu := realdata.CPU()
				for b.Loop() {
					m := mustNew(b, env, Settings{Mechanism: name, Epsilon: epsilon})
					_ = m.sampler.draw(ctx, texts(documents, epsilon, stream.FromUint64(62)), 1)
				}
				b.ReportMetric((realdata.CPU()-cpu)*1e6/100_000/float64(b.N), "cpu-µs/word")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkSelectionDraw measures words whose rows are cached, in a random
// order of all 27,000.
func BenchmarkSelectionDraw(b *testing.B) {
	s := gloveSpace(b)
	for _, name := range []string{"santext", "tem"} {
		for _, epsilon := range selectionEpsilons {
			b.Run(fmt.Sprintf("%s/%v", name, epsilon), func(b *testing.B) {
				_, m := headTailOf(b, s, name, epsilon)
				rng := stream.FromUint64(57).Rand()
				documents := make([][]WordID, s.Len()/25)
				order := rng.Perm(s.Len())
				for i := range documents {
					for _, w := range order[25*i : 25*i+25] {
						documents[i] = append(documents[i], WordID(w))
					}
				}
				all := texts(documents, epsilon, stream.FromUint64(58))
				_ = m.draw(ctx, all, 1)
				words, cpu := 0, realdata.CPU()
				for b.Loop() {
					d := words / 25 % len(documents)
					copy(all[d].Words, documents[d])
					_ = m.draw(ctx, all[d:d+1], 1)
					words += 25
				}
				b.ReportMetric(float64(words)/b.Elapsed().Seconds(), "words/s")
				b.ReportMetric((realdata.CPU()-cpu)*1e6/float64(words), "cpu-µs/word")
				b.ReportMetric(float64(m.rowsKept.bytes.Load())/(1<<20), "MiB")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
