package results

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/results/quantity"
)

// Composite declares the privacy-utility composite of a study, PUC: weights by quantity.
// See metrics.PUC.
type Composite struct {
	Utility map[string]float64 `yaml:"utility,omitempty"`
	Privacy map[string]float64 `yaml:"privacy,omitempty"`
	Alphas  []float64          `yaml:"alphas,omitempty"` // weights of utility
}

// studyComposite is the choice of Meisenbacher et al. 2024 (eq. 4).
var studyComposite = Composite{
	Utility: map[string]float64{"accuracy": 1},
	Privacy: map[string]float64{"n_w": 1, "s_w": 1, "pp": 1, "cs": 1, "low": 1},
	Alphas:  []float64{0.75, 0.5, 0.25},
}

// Check validates a composite and fills in what it leaves open by the choice of 2024.
func (c *Composite) Check() error {
	if len(c.Utility) == 0 {
		c.Utility = studyComposite.Utility
	}
	if len(c.Privacy) == 0 {
		c.Privacy = studyComposite.Privacy
	}
	if len(c.Alphas) == 0 {
		c.Alphas = studyComposite.Alphas
	}
	if err := checkWeights("puc.utility", c.Utility); err != nil {
		return err
	}
	if err := checkWeights("puc.privacy", c.Privacy); err != nil {
		return err
	}
	for _, a := range c.Alphas {
		if err := check.Within("puc.alphas", a, 0, 1); err != nil {
			return err
		}
	}
	return nil
}

// checkWeights validates the weights of quantities below a key.
func checkWeights(key string, weights map[string]float64) error {
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		q, err := quantity.Find(name)
		if err != nil {
			return check.Wrong("%s = %q: no such quantity; mldp study keys lists them", key, name)
		}
		if !q.Percent() && !q.Share && !q.Error && !q.Mean {
			return check.Wrong("%s = %q: must be a quantity in 0 to 100 or 0 to 1", key, name)
		}
		if err := check.Positive(key+"."+name, weights[name]); err != nil {
			return err
		}
	}
	return nil
}

// plainly is what a cell shares with its baseline, and a quantity as its label. The setting
// is not part of it: without privatisation all settings are one.
func (c Cell) plainly(name string) Place {
	s := c.Scene()
	s.Setting = ""
	s.Label = name
	s.DatasetFingerprint = c.DatasetFingerprint
	s.EmbeddingFingerprint = c.EmbeddingFingerprint
	return s
}

// compositesOf are the composites of studies. Where two runs of one study have another,
// neither is used: which one it were would depend on the order of the runs.
func compositesOf(runs []Run) (composites map[string]Composite, warnings []string) {
	composites = map[string]Composite{}
	for _, r := range runs {
		if len(r.Rows) == 0 {
			continue
		}
		own := studyComposite
		if r.PUC != nil && r.PUC.Check() == nil {
			own = *r.PUC
		}
		study := r.Rows[0].Study
		before, again := composites[study]
		if again && !reflect.DeepEqual(before, own) {
			composites[study] = studyComposite
			warnings = append(warnings, fmt.Sprintf("%s: its runs have different puc: that of 2024 is shown", study))
			continue
		}
		composites[study] = own
	}
	return composites, slices.Compact(slices.Sorted(slices.Values(warnings)))
}

// plainText is what derived quantities need of other cells.
type plainText struct {
	kept    map[Place][]float64 // values of plain text, of what depends on the classifier
	sampled map[Place][]float64 // of quantities measured in some repetitions, those that have them
}

// plainTextOf gathers it from all cells of a run.
func plainTextOf(cells []Cell) plainText {
	p := plainText{kept: map[Place][]float64{}, sampled: map[Place][]float64{}}
	for _, c := range cells {
		for _, name := range c.Quantities() {
			q := quantity.Must(name)
			v := c.Get(name)
			if !v.Known() {
				continue
			}
			if q.Sampled {
				at := c.sampledIn(name)
				p.sampled[at] = append(p.sampled[at], v.Float())
			}
			if q.OfModel && c.IsBaseline() {
				at := c.plainly(name)
				p.kept[at] = append(p.kept[at], v.Float())
			}
		}
	}
	return p
}

// sampledIn is what all repetitions of a cell share, and a quantity beside its label.
func (c Cell) sampledIn(name string) Place {
	p := c.Group()
	p.Label += "\x00" + name
	return p
}

// derive sets the baseline's mean accuracy, PUC and the relative gain. Those of a
// repetition use its own numbers; where CS was measured in some repetitions only, their
// mean is used.
func (p *Prepared) derive(composites map[string]Composite) {
	text := plainTextOf(p.Cells)
	for i := range p.Cells {
		c := &p.Cells[i]
		c.deriveOfText()
		accuracies := text.kept[c.plainly("accuracy")]
		if c.Status != StatusOK || len(accuracies) == 0 {
			continue
		}
		c.Set("baseline_accuracy", Number(stats.Mean(accuracies)))
		if c.IsBaseline() {
			continue
		}
		puc, own := composites[c.Study]
		if !own {
			puc = studyComposite
		}
		c.deriveComposites(puc, text)
	}
}

// deriveOfText sets what follows from the other quantities of the text.
func (c *Cell) deriveOfText() {
	if c.Own() && c.Has("low") { // PP needs documents of as many words
		aligned := 0.0
		if c.Has("pp") {
			aligned = 1
		}
		c.Set("aligned", Number(aligned))
	}
	ratio := c.Get("n_w").Float() / c.Get("s_w").Float()
	if !math.IsNaN(ratio) && !math.IsInf(ratio, 0) {
		c.Set("nw_sw", Number(ratio))
	}
}

// deriveComposites sets PUC at each α and, of what attackers find, the relative gain.
func (c *Cell) deriveComposites(puc Composite, text plainText) {
	parts := func(weights map[string]float64) []metrics.Part {
		return list.Map(slices.Sorted(maps.Keys(weights)), func(q string) metrics.Part {
			return metrics.Part{Value: c.scaled(q, text), Weight: weights[q]}
		})
	}
	set := func(name string, v float64) {
		if !math.IsNaN(v) {
			c.Set(name, Number(v))
		}
	}
	utility := parts(puc.Utility)
	privacy := parts(puc.Privacy)
	for _, alpha := range puc.Alphas {
		set(quantity.PUC(alpha), metrics.PUC(alpha, utility, privacy))
	}
	attackers := slices.Collect(maps.Keys(puc.Privacy))
	if !slices.ContainsFunc(attackers, func(q string) bool {
		return !quantity.Must(q).Succeeds()
	}) {
		set("relative_gain", 2*metrics.PUC(0.5, utility, privacy)/100-1) // U/U₀ less A/A₀
	}
}

// scaled is a quantity in 0–100, more being better: of a classifier as a share of that on
// plain text, of what an attacker finds 100 less that share, else on its own scale.
func (c Cell) scaled(name string, text plainText) float64 {
	q := quantity.Must(name)
	v := c.Get(name).Float()
	m, _ := c.At(name)
	runs, _ := c.At(q.RunsOf)
	switch {
	case q.RunsOf != "" && m.Whole > 0 && runs.Whole > 0: // of 100 runs
		v = 100 * float64(m.Part) / float64(runs.Whole)
	case q.Sampled && math.IsNaN(v):
		v = stats.Mean(text.sampled[c.sampledIn(name)])
	case q.OfModel:
		v *= 100 / stats.Mean(text.kept[c.plainly(name)])
	case q.Succeeds():
		v *= 100 / m.Ceiling.Float()
	case !q.Percent():
		v *= 100
	}
	if q.Direction == quantity.Down {
		return 100 - v
	}
	return v
}
