package mechanisms

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/combin"

	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// The distance of bags is the least over all assignments, counted one by one; it does not
// depend on the order of words, and keeps the triangle inequality.
func TestBagDistance(t *testing.T) {
	s := spacetest.Gaussian(t, 30, 3, 1, 72)
	rng := stream.FromUint64(73).Rand()
	bag := func(n int) (words []WordID) {
		for range n {
			words = append(words, WordID(rng.IntN(30)))
		}
		return words
	}
	for n := 1; n <= 6; n++ {
		for range 20 {
			a, b, c := bag(n), bag(n), bag(n)
			want := math.Inf(1)
			for _, order := range combin.Permutations(n, n) {
				sum := 0.0
				for i, j := range order {
					sum += s.Distance(a[i], b[j])
				}
				want = min(want, sum)
			}
			got := bagDistance(s.Distance, a, b)
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("%v and %v: distance %v, want %v", a, b, got, want)
			}
			shuffled := slices.Clone(b)
			rng.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if other := bagDistance(s.Distance, shuffled, a); math.Abs(other-got) > 1e-9 {
				t.Errorf("%v and %v in another order: distance %v, want %v", a, b, other, got)
			}
			if through := bagDistance(s.Distance, a, c) + bagDistance(s.Distance, c, b); got > through+1e-9 {
				t.Errorf("%v and %v: distance %v, through %v it is %v", a, b, got, c, through)
			}
		}
	}
}

// A bag of two words of a mechanism with rows: each output has the probability of both
// orders, and bags that are not given are one output.
func TestBagsByEnumeration(t *testing.T) {
	s := spacetest.Gaussian(t, 4, 2, 1, 74)
	m := mustNew(t, environment(s), Settings{Mechanism: "santext", Epsilon: 2})
	given := [][]WordID{{0, 1}, {1, 0}, {2, 2}, {3, 1}} // the second is the first
	of, space, err := Bags(m, s, given)
	if err != nil {
		t.Fatal(err)
	}
	if got := space.Vocabulary.Words(); !slices.Equal(got, []string{"w0+w1", "w2+w2", "w1+w3"}) {
		t.Errorf("bags %q, want three of ordered words", got)
	}
	p := func(x, y WordID) float64 { return lawOf(t, m, x)[y] }
	want := []float64{p(0, 0)*p(1, 1) + p(0, 1)*p(1, 0), p(0, 2) * p(1, 2), p(0, 1)*p(1, 3) + p(0, 3)*p(1, 1)}
	want = append(want, 1-want[0]-want[1]-want[2])
	requireFit(t, "bags", sample(of, 0, 50000, stream.FromUint64(75)), want)
	if g := of.Guarantee(); math.Abs(g.Distance(0, 1)-(s.Distance(0, 2)+s.Distance(1, 2))) > 1e-9 ||
		g.Metric != "bag euclidean" {
		t.Errorf("guarantee %s with d = %v, want both words moved to w2", g, g.Distance(0, 1))
	}
	for name, bags := range map[string][][]WordID{"all have one size": {{0}, {1, 2}}, "of 0 words": {{}}} {
		if _, _, err := Bags(m, s, bags); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("bags %v: error %v, want %q", bags, err, name)
		}
	}
	plus := mustNew(t, environment(s), Settings{Mechanism: "santext-plus", Epsilon: 2})
	if _, _, err := Bags(plus, s, given); err == nil || !strings.Contains(err.Error(), "between any two words") {
		t.Errorf("SanText+: error %v, want that its guarantee is not between any two words", err)
	}
}
