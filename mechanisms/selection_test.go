package mechanisms

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// Words with many outputs are drawn from a head and a tail (headTail), split by distance
// or by cosine.

// headTailOf is a mechanism in the form used for a large vocabulary, and its split.
func headTailOf[S split](t testing.TB, env Environment, s Settings) (*Mechanism, *headTail, S) {
	t.Helper()
	m := mustNew(t, env, s)
	if x, ok := m.sampler.(*tables); ok {
		m.sampler = newHeadTail(*x.decay)
	}
	x := samplerOf[*headTail](t, m)
	return m, x, x.split.(S)
}

// distancesOf is headTailOf a mechanism of distances, half of the words in the corpus.
func distancesOf(t testing.TB, s *embeddings.Space, name string, epsilon float64) (*Mechanism, *headTail,
	*distanceSplit) {
	t.Helper()
	env := Environment{Space: s}
	for i := range s.Len() / 2 {
		env.Documents = append(env.Documents, []string{s.Vocabulary.Word(WordID(2 * i))})
	}
	return headTailOf[*distanceSplit](t, env, Settings{Mechanism: name, Epsilon: epsilon})
}

// cosinesOf is headTailOf SynTF. Some words are no output; see wordList.
func cosinesOf(t testing.TB, s *embeddings.Space, epsilon float64) (*Mechanism, *headTail, *cosineSplit) {
	t.Helper()
	return headTailOf[*cosineSplit](t, environment(s), Settings{Mechanism: "syntf", Epsilon: epsilon})
}

// rowOf makes the row of a word. Its head stays valid: the builder is not used again.
func rowOf(m *headTail, word WordID) (row *headRow) {
	if fixed := m.fixed(); fixed != nil {
		return fixed
	}
	m.builder().build([]WordID{word}, func(_ int, r *headRow) { row = r })
	return row
}

// held are the probabilities of the words of a head.
func (t headTable) held() map[WordID]float64 {
	p := map[WordID]float64{}
	for _, c := range t {
		keep := math.Ldexp(float64(c.threshold), -64)
		if c.threshold == math.MaxUint64 {
			keep = 1
		}
		p[c.word] += keep / float64(len(t))
		p[c.alias] += (1 - keep) / float64(len(t))
	}
	return p
}

// log is the logarithm of the tail's probability.
func (s *tailShare) log() float64 {
	if s.whole == 0 {
		return s.logRest - 64*math.Ln2
	}
	return math.Log(float64(s.whole)+math.Exp(s.logRest)) - 64*math.Ln2
}

// distancesHeld is the logarithm of the probability of every output that a row draws
// from, given perfect random numbers.
func distancesHeld(x *headTail, m *distanceSplit, word WordID) []float64 {
	row := rowOf(x, word)
	logTail, head := m.exactShare(row, word).log(), row.head.held()
	logs, tail := make([]float64, m.space.Len()), []float64{}
	for y := range logs { // every word of the tail is proposed alike and taken as drawTail says
		if _, ok := head[WordID(y)]; !ok {
			logs[y] = -m.Rate * (min(m.space.Distance(word, WordID(y)), m.Most) - min(row.least, m.Most))
			tail = append(tail, logs[y])
		}
	}
	if len(tail) > 0 {
		floats.AddConst(logTail-floats.LogSumExp(tail), logs)
	}
	for y, p := range head {
		logs[y] = math.Log1p(-math.Exp(logTail)) + math.Log(p)
	}
	return logs
}

// cosinesHeld is distancesHeld of cosines.
func cosinesHeld(x *headTail, m *cosineSplit, word WordID) []float64 {
	row := rowOf(x, word)
	logTail, logHead := 0.0, math.Inf(-1) // of one round
	if len(row.head) > 0 {
		logTail = row.share.log()
		logHead = math.Log(-math.Expm1(logTail))
	}
	head, logs := row.head.held(), make([]float64, m.Costs.space.Len())
	for y := range logs {
		logs[y] = math.Inf(-1)
	}
	outputs := m.Costs.outputs
	for i, product := range m.Costs.basis.row(word) {
		y := outputs[i]
		cost := max(m.cost(product, word, y)-row.least, 0)
		logs[y] = floats.LogSumExp([]float64{logHead + math.Log(head[y]),
			logTail - math.Log(float64(len(outputs))) - m.Rate*cost})
	}
	floats.AddConst(-floats.LogSumExp(logs), logs) // a round may end without a word
	return logs
}

// TestRowsHoldTheirDistribution compares what rows draw from with the closed form,
// in logarithms, down to probabilities that no float64 holds: the η of
// docs/guarantees.md is kept, and with it ε·d + 2·η between any words.
func TestRowsHoldTheirDistribution(t *testing.T) {
	t.Parallel()
	check := func(name string, whole *Mechanism, words []WordID, eta float64, held func(WordID) []float64,
		distance func(a, b WordID) float64) {
		var first []float64
		for _, word := range words {
			got := held(word)
			want, err := whole.LogRow(word)
			if err != nil {
				t.Fatal(err)
			}
			for y := range got {
				if got[y] == want[y] {
					continue // −Inf
				}
				// Both sides are rounded to float64 logarithms.
				if room := eta + 1e-12 + 4e-15*math.Abs(want[y]); !(math.Abs(got[y]-want[y]) <= room) {
					t.Fatalf("%s, word %d: ln Pr[%d] = %v, want %v ± %v", name, word, y, got[y], want[y], room)
				}
				if first == nil {
					continue
				}
				limit := whole.settings.Epsilon*distance(words[0], word) + 2*eta + 2e-12 + 1e-14*math.Abs(want[y])
				if gap := math.Abs(got[y] - first[y]); gap > limit {
					t.Fatalf("%s: the odds of %d change by e^%v between words %d and %d, more than e^%v", name, y, gap,
						words[0], word, limit)
				}
			}
			if first == nil {
				first = got
			}
		}
	}
	for _, s := range []*embeddings.Space{spacetest.Gaussian(t, 700, 20, 1, 41),
		spacetest.Gaussian(t, 5000, 3, 2, 42), spacetest.Gaussian(t, 300, 1, 0, 43)} {
		for _, name := range []string{"santext", "tem"} {
			for _, epsilon := range []float64{1e-6, 0.3, 1, 5, 30, 1000, 1e6} {
				whole, x, m := distancesOf(t, s, name, epsilon)
				// The error of distances over p axes, a relative (p+2)·2⁻⁵³, in the exponent,
				// of the exponential, of sums of n weights, of rounding probabilities of at
				// least 1/(32n) to 64 bits, and of choosing a uniform word, in both a weight
				// and the normaliser.
				reach := m.Rate * min(2*s.Longest(), m.Most)
				eta := (2*reach*float64(s.Dimension+16) + 100*float64(s.Len())) * 0x1p-53
				check(fmt.Sprintf("%s, n = %d, ε = %v", name, s.Len(), epsilon), whole,
					[]WordID{0, 7, WordID(s.Len() - 1)}, eta,
					func(w WordID) []float64 { return distancesHeld(x, m, w) }, s.Distance)
			}
		}
	}
	for _, s := range []*embeddings.Space{unevenSpace(t, 700, 20, 71), unevenSpace(t, 5000, 3, 72),
		unevenSpace(t, 120, 1, 73)} {
		for _, epsilon := range []float64{1e-6, 1, 5, 6, 10, 30, 200, 1000, 1e6} {
			whole, x, m := cosinesOf(t, s, epsilon)
			if row := rowOf(x, 0); (epsilon <= 5) != (row.least == 0 && len(row.head) == 0) {
				t.Errorf("ε = %v: a head of %d", epsilon, len(row.head))
			}
			// The error of a cost over p axes is (2p+8)·2⁻⁵³, and that of each of the two
			// parts of a probability at most 2⁻⁵³·8n of the whole.
			eta := (2*m.Rate*float64(2*s.Dimension+24) + 100*float64(m.Costs.count())) * 0x1p-53
			check(fmt.Sprintf("syntf, n = %d, ε = %v", s.Len(), epsilon), whole,
				[]WordID{0, 7, 13, 20, WordID(s.Len() - 1)}, eta,
				func(w WordID) []float64 { return cosinesHeld(x, m, w) }, Discrete)
		}
	}
}

// TestShareBoundsHold: the float32 bounds on the tail's share contain the
// float64 share on every path, and rows are otherwise the same.
func TestShareBoundsHold(t *testing.T) {
	space := spacetest.Gaussian(t, 2000, 30, 1, 44)
	for _, name := range []string{"santext", "tem", "santext-plus"} {
		for _, epsilon := range []float64{0.01, 1, 4, 20, 500} {
			var want []*headRow
			widest := 0.0
			kernel.OnPaths(func(path string) {
				_, x, m := distancesOf(t, space, name, epsilon)
				for word := range WordID(12) {
					row := rowOf(x, word)
					exact := m.exactShare(row, word)
					if row.low > exact.whole || exact.whole > row.high {
						t.Errorf("%s, ε = %v, %s: share %d outside [%d, %d]", name, epsilon, path, exact.whole, row.low,
							row.high)
					}
					widest = max(widest, float64(row.high-row.low)/0x1p64)
					if len(want) <= int(word) {
						want = append(want, row)
					}
					w := want[word]
					if !slices.Equal(row.head, w.head) || row.least != w.least || row.last != w.last ||
						row.lastID != w.lastID || row.logHead != w.logHead || *exact != *m.exactShare(w, word) {
						t.Errorf("%s, ε = %v: row %d differs on %s", name, epsilon, word, path)
					}
				}
			})
			if widest > 1e-3 {
				t.Errorf("%s, ε = %v: bounds are %v apart: float64 would decide too often", name, epsilon, widest)
			}
		}
	}
}

// TestRowsDraw compares draws with the closed form: heads and tails, words that are
// no output or have no direction, words with equal vectors, and heads as large as
// the vocabulary.
func TestRowsDraw(t *testing.T) {
	t.Parallel()
	equal := make([]float32, 600*2)
	for i := range 100 {
		equal[2*i] = float32(i % 10)
	}
	middle, uneven := spacetest.Gaussian(t, 900, 6, 1, 45), unevenSpace(t, 5000, 6, 74)
	for _, c := range []struct {
		mechanism string
		space     *embeddings.Space
		epsilons  []float64
		words     []WordID
	}{
		{"santext", middle, []float64{0.05, 1, 3, 15}, []WordID{3}},
		{"tem", middle, []float64{0.05, 1, 3, 15}, []WordID{3}},
		{"santext-plus", middle, []float64{0.05, 1, 3, 15}, []WordID{3, 4}}, // 4 may be kept
		{"santext", spacetest.New(t, 2, equal), []float64{0.1, 2, 100}, []WordID{1, 500}},
		{"santext", spacetest.Gaussian(t, 20, 2, 1, 51), []float64{0.5}, []WordID{4}},
		{"syntf", uneven, []float64{1, 5, 8, 40}, []WordID{3, 6, 7, 13}}, // 6 and 13 are no output
	} {
		for _, epsilon := range c.epsilons {
			var whole *Mechanism
			if c.mechanism == "syntf" {
				whole = mustNew(t, environment(c.space), Settings{Mechanism: "syntf", Epsilon: epsilon})
				samplerOf[*headTail](t, whole)
			} else {
				whole, _, _ = distancesOf(t, c.space, c.mechanism, epsilon)
			}
			for _, w := range c.words {
				requireFit(t, fmt.Sprintf("%s, ε = %v, word %d", c.mechanism, epsilon, w),
					sample(whole, w, 50_000, stream.FromUint64(46).At(uint64(w))), lawOf(t, whole, w))
			}
		}
	}
}

// TestTailDraws draws where the bounds on the tail's share must be settled in float64.
func TestTailDraws(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"santext", "tem", "santext-plus"} {
		for _, epsilon := range []float64{0.05, 3, 15} {
			whole, x, m := distancesOf(t, spacetest.Gaussian(t, 900, 6, 1, 45), name, epsilon)
			row, label := rowOf(x, 3), fmt.Sprintf("%s, ε = %v", name, epsilon)
			if c := m.Costs; math.IsInf(row.least, 1) || c.contains != nil && (!c.contains[3] || c.contains[4]) {
				t.Fatalf("%s: no tail, or word 3 is no output, or 4 is one: choose others", label)
			}
			row.low, row.high = 0, math.MaxUint64
			all, random, law := make([]int, 900), stream.FromUint64(49).Rand(), lawOf(t, whole, 3)
			for range 50_000 {
				all[m.choose(row, 3, drawRandom(random, 4))]++
			}
			requireFit(t, label+", settled in float64", all, law)
		}
	}
}

// inOrder sorts candidates as a head lists them, the first of equals first.
func inOrder(c []headCandidate) []headCandidate {
	slices.SortStableFunc(c, func(a, b headCandidate) int { return cmp.Compare(a.cost, b.cost) })
	return c
}

// TestNearestCandidates compares the candidates of a row with all words in
// order, on every path: where squares have no limit (outputs that lie in one
// fold, vectors too long for float32), where distances are equal, and elsewhere.
func TestNearestCandidates(t *testing.T) {
	gaussian := func(n, dimension int, factor float32) *embeddings.Space {
		return scaled(spacetest.Gaussian(t, n, dimension, 1, 58), factor)
	}
	var oneFold []WordID
	for y := 5; y < 3*folds; y += folds {
		oneFold = append(oneFold, WordID(y))
	}
	for name, c := range map[string]struct {
		space   *embeddings.Space
		outputs []WordID
	}{
		"some":                {gaussian(300, 3, 1), nil},
		"many":                {gaussian(5000, 9, 1), nil},
		"equal":               {gaussian(1500, 2, 0), nil},
		"short":               {gaussian(1000, 4, 1e-30), nil},
		"squares of few bits": {gaussian(1000, 20, 3e-22), nil},
		"long":                {gaussian(1000, 4, 1e19), nil},
		"longest":             {gaussian(1000, 4, 1e30), nil},
		"one fold":            {gaussian(3*folds, 3, 1), oneFold},
	} {
		kernel.OnPaths(func(path string) {
			x := newHeadTail(Decay{Costs: DistanceCosts(c.space, c.outputs), Rate: 0.5, Most: math.Inf(1)})
			m, b := x.split.(*distanceSplit), x.builder().(*headBuilder)
			for _, word := range []WordID{0, 77, WordID(c.space.Len() - 1)} {
				var want []headCandidate
				for y := range WordID(c.space.Len()) {
					if c.outputs == nil || slices.Contains(c.outputs, y) {
						want = append(want, headCandidate{c.space.Distance(word, y), y})
					}
				}
				inOrder(want)
				v := c.space.Vector(word)
				rows := make([]float32, m.panels.Stride())
				m.panels.SquaredDistances32(rows, m.norms, v)
				norm := 0.0
				for _, x := range v {
					norm += float64(x) * float64(x)
				}
				for _, count := range []int{1, 18, headWords + 1} {
					count = min(count, len(want))
					m.nearest(b, v, rows, count, norm)
					if !slices.Equal(b.candidates, want[:count]) {
						t.Errorf("%s, %s: the %d nearest of word %d are %v, want %v", name, path, count, word,
							b.candidates, want[:count])
					}
				}
			}
		})
	}
}

// TestCostIsSettledInFloat64 compares decisions with the costs of rows, at
// limits next to them and away, also where float32 products overflow or
// underflow.
func TestCostIsSettledInFloat64(t *testing.T) {
	for _, factor := range []float32{1, 1e-24, 1e-38, 3e18, 1e30} {
		s := scaled(unevenSpace(t, 400, 19, 77), factor)
		kernel.OnPaths(func(path string) {
			_, _, m := cosinesOf(t, s, 10)
			for _, word := range []WordID{0, 7, 20, 33} {
				for i, product := range m.Costs.basis.row(word) {
					y := m.Costs.outputs[i]
					cost := m.cost(product, word, y)
					for _, limit := range []float64{cost, math.Nextafter(cost, 0), math.Nextafter(cost, 2), cost - 1e-5,
						cost + 1e-5, 0, 0.3} {
						if limit >= 0 && m.within(word, y, limit) != (cost <= limit) {
							t.Errorf("× %v, %s: cost %v of %d for %d within %v: %v", factor, path, cost, y, word, limit,
								cost > limit)
						}
					}
				}
			}
		})
	}
}
