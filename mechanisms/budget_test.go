package mechanisms

import (
	"math"
	"strings"
	"testing"

	"mldpbench/internal/spacetest"
)

// Checks the guarantee of a document against the exact odds of a mechanism,
// over all releases of all pairs of two-word texts: it holds for budgets that
// do not look at the text and fails for one that does.
func TestDocumentGuaranteeAgainstExactOdds(t *testing.T) {
	space := spacetest.New(t, 1, []float32{0, 1, 2.5, 4})
	// logs[e][x][y] is ln P(y|x) at epsilon e.
	epsilons := []float64{0.5, 1, 3, 1.5, 2.5, 3.5}
	logs := map[float64][][]float64{}
	for _, e := range epsilons {
		m := mustNew(t, Environment{Space: space}, Settings{Mechanism: "santext", Epsilon: e})
		if !m.Guarantee().Holds() {
			t.Fatal("a mechanism without a guarantee")
		}
		for x := range WordID(4) {
			low, err := m.LogRow(x)
			if err != nil {
				t.Fatal(err)
			}
			logs[e] = append(logs[e], low)
		}
	}
	// excess is the amount by which the largest log-odds exceed Σ ε_i·d_i, with
	// ε_i as assigned to the first text's tokens.
	excess := func(epsilonsOf func(text [2]int) [2]float64) float64 {
		worst := math.Inf(-1)
		for a := range 16 {
			for b := range 16 {
				x, z := [2]int{a / 4, a % 4}, [2]int{b / 4, b % 4}
				ex, ez := epsilonsOf(x), epsilonsOf(z)
				bound, odds := 0.0, 0.0
				for i := range 2 {
					bound += ex[i] * space.Distance(WordID(x[i]), WordID(z[i]))
					most := math.Inf(-1)
					for y := range 4 {
						most = max(most, logs[ex[i]][x[i]][y]-logs[ez[i]][z[i]][y])
					}
					odds += most
				}
				worst = max(worst, odds-bound)
			}
		}
		return worst
	}
	position := func([2]int) [2]float64 { return [2]float64{1, 3} }
	if e := excess(position); e > 1e-9 {
		t.Errorf("weights by position: odds exceed the promise by e^%.3g", e)
	}
	word := func(text [2]int) [2]float64 {
		of := [4]float64{0.5, 1, 1.5, 3}
		return [2]float64{of[text[0]], of[text[1]]}
	}
	if e := excess(word); e < 0.1 {
		t.Errorf("weights by word: the odds exceed the promise by e^%.3g only: the warning would be for nothing", e)
	}
}

func TestDocumentGuarantee(t *testing.T) {
	per := Guarantee{Metric: "euclidean", Epsilon: 1, EuclideanEpsilon: 1, Delta: 1e-3}
	if g := DocumentGuarantee(per, 5); !strings.HasPrefix(g, "document epsilon 5, metric euclidean") ||
		!strings.Contains(g, "delta 0.001, between texts of the same length") {
		t.Error(g)
	}
	if g := DocumentGuarantee(Guarantee{Reason: "it is broken"}, 5); g != "none: it is broken" {
		t.Errorf("a mechanism without a guarantee promises %s", g)
	}
}

func TestWorstCase(t *testing.T) {
	diameter, err := Diameter(spacetest.New(t, 1, []float32{0, 1, 2.5, 4}))
	if err != nil || diameter != 4 {
		t.Fatalf("diameter %v, %v", diameter, err)
	}
	for _, c := range []struct {
		g    Guarantee
		want float64
		say  string
	}{
		{Guarantee{Metric: "euclidean", Epsilon: 2, EuclideanEpsilon: 2}, 8, "2.98e+03"},
		{Guarantee{Metric: "discrete", Epsilon: 2}, 2, "7.39"},
		{Guarantee{Metric: "euclidean", Epsilon: 100, EuclideanEpsilon: 100}, 400, "10^174"},
		{Guarantee{Reason: "it is broken."}, math.Inf(1), "it is broken"},
		{Guarantee{Metric: "list", Epsilon: 1}, math.Inf(1), "any factor"},
	} {
		got, why := WorstCase(c.g, diameter)
		if got != c.want || !strings.Contains(Factor(got)+why, c.say) {
			t.Errorf("%+v: %v, %q", c.g, got, why)
		}
	}
}
