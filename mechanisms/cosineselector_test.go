package mechanisms

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// everyWord is a thesaurus that covers all words.
type everyWord struct{}

func (everyWord) Covers(string) bool     { return true }
func (everyWord) Lemmas(string) []string { return nil }

// cosineSelectorOf is the mechanism in the form used for many outputs. Some
// words are no output; see wordList.
func cosineSelectorOf(t testing.TB, s *embeddings.Space, epsilon float64) (*Mechanism, *cosineSelector) {
	t.Helper()
	m := mustNew(t, environment(s), Settings{Mechanism: "syntf", Epsilon: epsilon})
	if x, ok := m.sampler.(*cosineSelector); ok {
		return m, x
	}
	var outputs []WordID
	for y, w := range s.Vocabulary.Words() {
		if (wordList{}).Covers(w) {
			outputs = append(outputs, WordID(y))
		}
	}
	x := newCosineSelector(samplerOf[*selector](t, m), s, outputs, normsOf(s))
	m.sampler = x
	return m, x
}

// rowOf makes the row of a word.
func (m *cosineSelector) rowOf(word WordID) *cosineRow {
	var row *cosineRow
	b := m.builder()
	b.build([]rowKey{{word, m.epsilon}}, func(_ int, r *cosineRow) { row = r })
	row.head = slices.Clone(row.head)
	m.release(b)
	return row
}

// held is the logarithm of the probability of every word as draw gives it,
// given perfect random numbers.
func (m *cosineSelector) held(word WordID, row *cosineRow) []float64 {
	const log64 = 64 * math.Ln2
	n, rate := float64(len(m.outputs)), m.epsilon/2
	logs := make([]float64, m.space.Len())
	for y := range logs {
		logs[y] = math.Inf(-1)
	}
	logShare, logHead := 0.0, math.Inf(-1) // of one round
	if len(row.head) > 0 {
		logShare = row.share.logRest - log64
		if row.share.whole > 0 {
			logShare = math.Log(float64(row.share.whole)+math.Exp(row.share.logRest)) - log64
		}
		logHead = math.Log(-math.Expm1(logShare))
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
	products, _ := m.basisRows(nil, word)
	done := 0.0 // probability that a round ends
	for i, y := range m.outputs {
		logs[y] = logShare - math.Log(n) - rate*max(m.cost(products[i], word, y)-row.least, 0)
		if p, ok := columns[y]; ok {
			above := logHead + math.Log(p/float64(len(row.head)))
			larger := max(above, logs[y])
			logs[y] = larger + math.Log(math.Exp(above-larger)+math.Exp(logs[y]-larger))
		}
		done += math.Exp(logs[y])
	}
	for _, y := range m.outputs {
		logs[y] -= math.Log(done)
	}
	return logs
}

// unevenSpace is a space with vectors of different lengths, some in the same
// or opposite directions, equal ones, and two of no direction.
func unevenSpace(t testing.TB, n, dimension int, seed uint64) *embeddings.Space {
	t.Helper()
	s := spacetest.Gaussian(t, n, dimension, 1, seed)
	vectors := slices.Clone(s.Vectors)
	vector := func(w int) []float32 { return vectors[w*dimension : (w+1)*dimension] }
	for w := range n {
		factor := float32(math.Exp(float64(w%11) - 5))
		switch w % 50 {
		case 20:
			copy(vector(w), vector(w-10))
		case 30:
			copy(vector(w), vector(w-23))
			factor = -3
		case 40:
			copy(vector(w), vector(w-33))
		}
		for i := range vector(w) {
			vector(w)[i] *= factor
		}
	}
	clear(vector(7)) // an output
	clear(vector(13))
	s, err := embeddings.NewSpace("uneven", s.Vocabulary, dimension, vectors)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCosineRowsHoldTheirDistribution compares what is drawn from with the
// closed form, in logarithms, down to probabilities that no float64 holds: the
// Eta of the guarantee is kept, and with it ε + 2·Eta between any words.
func TestCosineRowsHoldTheirDistribution(t *testing.T) {
	t.Parallel()
	for _, space := range []*embeddings.Space{unevenSpace(t, 700, 20, 71), unevenSpace(t, 5000, 3, 72),
		unevenSpace(t, 120, 1, 73)} {
		for _, epsilon := range []float64{1e-6, 1, 5, 6, 10, 30, 200, 1000, 1e6} {
			whole, m := cosineSelectorOf(t, space, epsilon)
			// The error of a cost over p axes ((2p+8)·2⁻⁵³) in the exponent, and the
			// others as in etaOf; each of the two parts of a probability as drawn
			// has an error of at most 2⁻⁵³·8n of the whole.
			eta := (2*cosineLaw(epsilon).rate*float64(2*space.Dimension+24) + 100*float64(len(m.outputs))) * 0x1p-53
			var before []float64
			for _, word := range []WordID{0, 7, 13, 20, WordID(space.Len() - 1)} {
				row := m.rowOf(word)
				if (epsilon <= 5) != (row.least == 0 && len(row.head) == 0) && word == 0 {
					t.Errorf("ε = %v: a head of %d", epsilon, len(row.head))
				}
				logs := m.held(word, row)
				want, err := whole.LogRow(word)
				if err != nil {
					t.Fatal(err)
				}
				for y := range logs {
					if logs[y] == want[y] { // −Inf
						continue
					}
					// Both sides are rounded to float64 logarithms.
					room := eta + 1e-12 + 4e-15*math.Abs(want[y])
					if !(math.Abs(logs[y]-want[y]) <= room) {
						t.Fatalf("n = %d, ε = %v, word %d: ln Pr[%d] = %v, want %v ± %v", space.Len(), epsilon, word, y,
							logs[y], want[y], room)
					}
					if before != nil {
						limit := epsilon + 2*eta + 2e-12 + 1e-14*math.Abs(want[y])
						if gap := math.Abs(logs[y] - before[y]); gap > limit {
							t.Fatalf("ε = %v: the odds of %d change by e^%v between words 0 and %d", epsilon, y, gap,
								word)
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

// TestCosineRowsDraw compares draws over more words than have tables with the
// closed form, with and without a head.
func TestCosineRowsDraw(t *testing.T) {
	t.Parallel()
	space := unevenSpace(t, 5000, 6, 74)
	for _, epsilon := range []float64{1, 5, 8, 40} {
		m := mustNew(t, environment(space), Settings{Mechanism: "syntf", Epsilon: epsilon})
		samplerOf[*cosineSelector](t, m)
		for i, word := range []WordID{3, 6, 7, 13} { // 6 and 13 are no output; 7 and 13 have no direction
			d, err := m.Row(word)
			if err != nil {
				t.Fatal(err)
			}
			requireFit(t, fmt.Sprintf("word %d, ε = %v", word, epsilon),
				sample(m, word, 200_000, stream.FromUint64(75).At(uint64(i))), d)
		}
	}
}

func TestCosineTextIsTheSame(t *testing.T) {
	space := unevenSpace(t, 5000, 17, 76)
	for _, epsilon := range []float64{0.5, 5, 9, 60} {
		requireSameText(t, fmt.Sprintf("ε = %v", epsilon), space, epsilon, func(few bool) *Mechanism {
			m, x := cosineSelectorOf(t, space, epsilon)
			if few {
				x.rowsKept.limit = 20 << 10
			}
			return m
		})
	}
}

// TestCostIsSettledInFloat64 compares decisions with the costs of rows, at
// limits next to them and away, also where float32 products overflow or
// underflow.
func TestCostIsSettledInFloat64(t *testing.T) {
	for _, factor := range []float32{1, 1e-24, 1e-38, 3e18, 1e30} {
		s := unevenSpace(t, 400, 19, 77)
		vectors := slices.Clone(s.Vectors)
		for i := range vectors {
			vectors[i] *= factor
		}
		s, err := embeddings.NewSpace("scaled", s.Vocabulary, 19, vectors)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range kernel.Paths() {
			restore, err := kernel.Use(path)
			if err != nil {
				t.Fatal(err)
			}
			_, m := cosineSelectorOf(t, s, 10)
			for _, word := range []WordID{0, 7, 20, 33} {
				products, _ := m.basisRows(nil, word)
				for i, y := range m.outputs {
					cost := m.cost(products[i], word, y)
					for _, limit := range []float64{cost, math.Nextafter(cost, 0), math.Nextafter(cost, 2), cost - 1e-5,
						cost + 1e-5, 0, 0.3} {
						if limit >= 0 && m.costs(word, y, limit) != (cost <= limit) {
							t.Errorf("× %v, %s: cost %v of %d for %d within %v: %v", factor, path, cost, y, word, limit,
								cost > limit)
						}
					}
				}
			}
			restore()
		}
	}
}

// TestLeastCosts compares the candidates of a head with all outputs in order.
func TestLeastCosts(t *testing.T) {
	for _, space := range []*embeddings.Space{unevenSpace(t, 300, 3, 78), unevenSpace(t, 5000, 9, 79),
		unevenSpace(t, 1000, 1, 80)} {
		_, m := cosineSelectorOf(t, space, 10)
		b := m.builder().(*cosineBuilder)
		for _, word := range []WordID{0, 6, 7, 13, 20} {
			products, _ := m.basisRows(nil, word)
			var want []headCandidate
			for i, y := range m.outputs {
				want = append(want, headCandidate{m.cost(products[i], word, y), WordID(i)})
			}
			slices.SortStableFunc(want, func(a, c headCandidate) int {
				if a.distance < c.distance {
					return -1
				} else if a.distance > c.distance {
					return 1
				}
				return 0
			})
			for _, count := range []int{1, 18, headWords + 1} {
				b.nearestOf(word, products, count)
				if !slices.Equal(b.candidates, want[:count]) {
					t.Errorf("n = %d: the %d of least cost for word %d are %v, want %v", space.Len(), count, word,
						b.candidates, want[:count])
				}
			}
		}
	}
}
