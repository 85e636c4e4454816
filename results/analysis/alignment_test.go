package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mldpbench/results/quantity"

	"gonum.org/v1/gonum/stat"

	"mldpbench/internal/list"
	"mldpbench/internal/realdata"
	"mldpbench/results"
)

// known is a mechanism whose accuracy at any E_M is known: plain text's, less a
// loss that grows with E_M.
type known struct {
	name string
	loss float64 // at E_M = 1
	bend float64 // exponent of E_M
}

func (k known) accuracy(e float64) float64 { return 90 - k.loss*math.Pow(e, k.bend) }

// world draws a study of known mechanisms: each has six ε, where E_M is
// measured with an error, and accuracy on documents of differing difficulty,
// with noise of training in each repetition.
type world struct {
	repetitions, documents int
	redrawn, items         bool
	training               float64 // standard deviation of one repetition's accuracy, in points
	privacy                float64 // standard deviation of E_M
}

func (w world) draw(rng *rand.Rand, all []known) *results.Prepared {
	p, hard := &results.Prepared{}, make([][]float64, w.repetitions)
	for r := range hard {
		if hard[r] = hard[0]; r == 0 || w.redrawn {
			hard[r] = make([]float64, w.documents)
			for d := range hard[r] {
				hard[r][d] = rng.Float64()
			}
		}
	}
	for m, k := range all {
		for i := range points {
			e := errorOf(m, i)
			measured := e + w.privacy*rng.NormFloat64()
			for r := range hard {
				share := (k.accuracy(e) + w.training*rng.NormFloat64()) / 100
				// A document is right if it is easier than the share, blurred, which changes
				// nothing between 10% and 90%.
				row := answered(k.name, 10-float64(i), r+1, w.documents,
					func(d int) bool { return hard[r][d]+0.2*(rng.Float64()-0.5) < share })
				if !w.items {
					row.Items = ""
				}
				if w.redrawn {
					row.DatasetFingerprint = "redrawn one"
				}
				c := results.Cell{Place: row.Place, Status: results.StatusOK}
				c.GuaranteeMetric = "euclidean"
				c.Set("accuracy", row.Measured)
				c.Set("em", results.Number(measured).Within(measured-z95*w.privacy, measured+z95*w.privacy))
				p.Cells = append(p.Cells, c)
			}
		}
	}
	return p
}

const points = 6

// errorOf is E_M of a mechanism at an ε: it differs between mechanisms.
func errorOf(mechanism, epsilon int) float64 {
	return 0.22 + 0.1*float64(epsilon) + 0.02*float64(mechanism)
}

// Intervals at equal privacy cover the truth in 93 to 97% of draws, and any two
// mechanisms that are equal are told apart in at most 5% of families. The
// bounds are on 2,000 draws: a true coverage of 95% leaves 93 to 97% with
// probability below 1e-4 (binomial, 3.9 standard deviations of 0.49 points); the
// seeds are fixed.
func TestLongCoverageAtEqualPrivacy(t *testing.T) {
	realdata.Long(t)
	testCoverage(t, 2000, 93, 97, 5)
}

// The same on 200 draws, with wider bounds.
func TestCoverageAtEqualPrivacy(t *testing.T) { testCoverage(t, 200, 91, 99, 9) }

func testCoverage(t *testing.T, draws int, low, high, family float64) {
	t.Parallel()
	all := []known{{"a", 30, 1.5}, {"b", 30, 1.5}, {"c", 30, 1.5}, {"d", 30, 1.5}, {"e", 45, 2}}
	for name, w := range map[string]world{
		"two repetitions, documents":            {2, 200, false, true, 1, 0.01},
		"three repetitions, documents anew":     {3, 150, true, true, 1, 0.01},
		"three repetitions, no outcomes stored": {3, 150, true, false, 1, 0.01},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(36, uint64(len(name))))
			var values, differences, falsely []float64 // 100 where covered, or where a family errs
			add := func(to *[]float64, yes bool) { *to = append(*to, map[bool]float64{true: 100}[yes]) }
			for range draws {
				a := Of(w.draw(rng, all), quantity.Levels{}).Alignments("", 0.5)[0]
				for i, l := range a.Lines {
					truth := all[i].accuracy(0.5)
					add(&values, l.Low <= truth && truth <= l.High)
				}
				wrong := false
				for _, p := range a.Pairs {
					truth := all[p.A].accuracy(0.5) - all[p.B].accuracy(0.5)
					add(&differences, p.Low <= truth && truth <= p.High)
					wrong = wrong || p.Different && (truth == 0 || truth*p.Difference < 0)
				}
				add(&falsely, wrong)
			}
			v, d, f := stat.Mean(values, nil), stat.Mean(differences, nil), stat.Mean(falsely, nil)
			t.Logf("coverage of values %.1f%%, of differences %.1f%%; family error %.1f%%", v, d, f)
			if min(v, d) < low || max(v, d) > high || f > family {
				t.Errorf("want %g to %g, and at most %g", low, high, family)
			}
		})
	}
}

// Eight mechanisms that are equal, on the same documents, with the noise of training:
// of families at 5% at most 5% find any difference, whatever the repetitions. Of one
// nothing is known of training, so nothing is tested. A true share of 5% gives more
// than 6% of 1,000 with probability 0.07; the seeds are fixed.
func TestLongNoFalseFindings(t *testing.T) {
	realdata.Long(t)
	testFalseFindings(t, 1000, 6, 1, 2, 3, 5)
}

// The same on 40 draws, with wider bounds.
func TestNoFalseFindings(t *testing.T) { testFalseFindings(t, 40, 15, 1, 2, 4) }

func testFalseFindings(t *testing.T, draws int, most float64, numbers ...int) {
	t.Parallel()
	var all []known
	for i := range 8 {
		all = append(all, known{fmt.Sprint(i), 30, 1.5})
	}
	for _, repetitions := range numbers {
		w := world{repetitions, 300, false, true, 1.5, 0.01}
		rng := rand.New(rand.NewPCG(11, uint64(repetitions)))
		falsely, tested := 0, 0
		for range draws {
			a := Of(w.draw(rng, all), quantity.Levels{}).Alignments("", 0.5)[0]
			tested += list.Count(a.Pairs, func(p Pair) bool { return !math.IsNaN(p.P) })
			if slices.ContainsFunc(a.Pairs, func(p Pair) bool { return p.Different }) {
				falsely++
			}
		}
		share := 100 * float64(falsely) / float64(draws)
		t.Logf("%d repetitions: some difference is found in %.1f%% of %d studies", repetitions, share, draws)
		if share > most || repetitions == 1 && (falsely > 0 || tested > 0) || repetitions > 1 && tested == 0 {
			t.Errorf("%d repetitions: %.1f%% of studies find a difference, %d tests", repetitions, share, tested)
		}
	}
}

// Of one repetition each, the spread of training is that of the plain text's, if it
// was trained more often, and it is said.
func TestSpreadOfThePlainText(t *testing.T) {
	t.Parallel()
	w := world{1, 300, false, true, 1, 0.01}
	all := []known{{"a", 30, 1.5}, {"b", 60, 1.5}}
	p := w.draw(rand.New(rand.NewPCG(3, 3)), all)
	if a := Of(p, quantity.Levels{}).Alignments("", 0.5)[0]; a.Training != "" || !math.IsNaN(a.Pairs[0].P) ||
		a.Pairs[0].Different {
		t.Errorf("%q, %+v", a.Training, a.Pairs[0])
	}
	for r := 1; r <= 4; r++ {
		c := p.Cells[0]
		c.Mechanism, c.Epsilon, c.Setting, c.Repetition = results.BaselineMechanism, results.Missing, "", r
		c.Set("accuracy", results.Share(270+2*(r%2), 300))
		p.Cells = append(p.Cells, c)
	}
	a := Of(p, quantity.Levels{}).Alignments("", 0.5)[0]
	if a.Training != ByBaseline || !a.Pairs[0].Different || !(a.Pairs[0].Error > 0) {
		t.Errorf("%q, %+v", a.Training, a.Pairs[0])
	}
}

// Over data sets that say the same a small difference is found that none shows
// alone; level is said only where two one-sided tests say so.
func TestPooledOverDatasets(t *testing.T) {
	t.Parallel()
	w := world{5, 1500, false, true, 0.3, 0.002}
	rng := rand.New(rand.NewPCG(5, 5))
	p := &results.Prepared{}
	for d := range 6 {
		own := w.draw(rng, []known{{"a", 30, 1.5}, {"b", 33, 1.5}, {"c", 30, 1.5}})
		for i := range own.Cells {
			own.Cells[i].Dataset = fmt.Sprint("d", d)
		}
		p.Cells = append(p.Cells, own.Cells...)
	}
	all := Of(p, quantity.Levels{}).Alignments("", 0.5)
	pooled := all[len(all)-1]
	if len(all) != 7 || pooled.Datasets != 6 || len(pooled.Pairs) != 3 {
		t.Fatalf("%d scenes, %d sets, %d pairs", len(all), pooled.Datasets, len(pooled.Pairs))
	}
	mean := 0.0
	for _, a := range all[:6] {
		x, _ := a.Pair(0, 1)
		mean += x.Difference / 6
		if y, _ := pooled.Pair(0, 1); y.Detectable >= x.Detectable {
			t.Errorf("pooled %.2f would be found, alone %.2f", y.Detectable, x.Detectable)
		}
	}
	apart, _ := pooled.Pair(0, 1)
	if equal, _ := pooled.Pair(0, 2); math.Abs(apart.Difference-mean) > 1e-9 || !apart.Different ||
		apart.Equivalent || equal.Different || !equal.Equivalent {
		t.Errorf("apart %+v\nequal %+v", apart, equal)
	}
	if one, _ := all[0].Pair(0, 2); one.Equivalent {
		t.Errorf("one data set does not show that two are level: %+v", one)
	}
}

// The first data set has more mechanisms than the others, so that a mechanism's line has another number there.
func TestPooledOverDatasetsWithOtherMechanisms(t *testing.T) {
	t.Parallel()
	w := world{3, 200, false, true, 1, 0.01}
	rng := rand.New(rand.NewPCG(7, 7))
	all := []known{{"a", 30, 1.5}, {"b", 30, 1.5}, {"c", 30, 1.5}, {"d", 60, 1.5}}
	p := &results.Prepared{}
	for name, own := range [][]known{all, all[2:], all[2:]} {
		drawn := w.draw(rng, own)
		for i := range drawn.Cells {
			drawn.Cells[i].Dataset = fmt.Sprint("d", name)
		}
		p.Cells = append(p.Cells, drawn.Cells...)
	}
	scenes := Of(p, quantity.Levels{}).Alignments("", 0.5)
	pooled := scenes[len(scenes)-1]
	if pooled.Datasets != 3 || len(pooled.Lines) != 2 {
		t.Fatalf("%d lines over %d data sets, want 2 over 3", len(pooled.Lines), pooled.Datasets)
	}
	pair, found := pooled.Pair(0, 1)
	if !found || !pair.Different || pair.Difference < 5 {
		t.Errorf("c keeps %.1f points more than d, significantly: %v; want about 10, significantly", pair.Difference,
			pair.Different)
	}
}
