package experiments_test

import (
	"math"
	"testing"

	"mldpbench/experiments/engine"
)

// E_M over all words is measured once per mechanism and ε; that of the baselines is
// known: no guess is wrong for plain text, n−1 of n for noise. With a loss weighed by
// distance it is 0 for plain text and, where wrong outputs are any other words alike, E_M
// itself, as a wrong guess is as far away as any word; of noise less, as it is near.
func TestFullVocabularyError(t *testing.T) {
	t.Parallel()
	s := own(t, "  - {name: uniform}\n  - {name: identity}\n  - {name: k-rr, epsilons: [1, 3]}\n  - "+
		"{name: cmp, epsilons: [5, 1000]}")
	s = withText(t, s, "\nrepetitions: 1", "\nrepetitions: 2")
	s = withText(t, s, "    samples: 10", "    samples: 10\n    most: 80\n    distance: true")
	sum := mustRun(t, s, engine.Options{})
	seen := 0
	for _, c := range cells(t, sum) {
		e, d := at(c, "em"), at(c, "em-distance")
		n := float64(c.Vocabulary)
		if c.IsBaseline() || c.Repetition == 2 {
			m := at(c, "em")
			if !c.IsBaseline() && !m.Inherited {
				t.Errorf("%s, repetition 2: E_M was measured again, want that of the first", c.Mechanism)
			}
			if c.Mechanism == "uniform" && m.Value.Float() != 1-1/n {
				t.Errorf("uniform, repetition 2: E_M is %v, want %v of the first", m.Value, 1-1/n)
			}
			continue
		}
		seen++
		want, exact := math.NaN(), true
		switch weight := math.Exp(c.Epsilon.Float()); {
		case c.Mechanism == "uniform":
			want = 1 - 1/n
		case c.Mechanism == "identity":
			want = 0
		case c.Mechanism == "k-rr":
			want = 1 - weight/(weight+n-1)
		case c.Epsilon.Float() == 1000: // noise that is too small to matter
			want, exact = 0, false
		default:
			exact = false
		}
		if !math.IsNaN(want) && !(math.Abs(e.Value.Float()-want) <= 1e-9) || exact != (e.Whole == 0) ||
			!(e.Low.Float() <= e.Value.Float() && e.Value.Float() <= e.High.Float()) {
			t.Errorf("%s ε=%v: %+v, want %v", c.Mechanism, c.Epsilon, e, want)
		}
		if !(c.Get("em-frequency").Float() <= e.Value.Float()+1e-9) {
			t.Errorf("%s: who knows more errs more: %v > %v", c.Mechanism, c.Get("em-frequency"), e.Value)
		}
		far := math.Abs(d.Value.Float() - e.Value.Float())
		near := c.Mechanism == "cmp" && want != 0
		if exact && c.Mechanism != "uniform" && far > 0.03 || near && (!(d.Value.Float() < e.Value.Float()) ||
			d.Whole < 20 || e.Whole != d.Whole || e.Note == "") { // ten draws are not enough
			t.Errorf("%s: distance %+v for E_M %+v", c.Mechanism, d, e)
		}
	}
	if seen != 6 {
		t.Errorf("%d cells, want 6", seen)
	}
}
