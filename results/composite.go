package results

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
)

// Composite declares the privacy-utility composite of a study, PUC: weights by quantity.
// See metrics.PUC.
type Composite struct {
	Utility map[string]float64 `yaml:"utility,omitempty"`
	Privacy map[string]float64 `yaml:"privacy,omitempty"`
	Alphas  []float64          `yaml:"alphas,omitempty"` // weights of utility
}

// studyComposite is the choice of Meisenbacher et al. 2024 (eq. 4).
var studyComposite = Composite{map[string]float64{"accuracy": 1},
	map[string]float64{"n_w": 1, "s_w": 1, "pp": 1, "cs": 1, "low": 1}, []float64{0.75, 0.5, 0.25}}

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
		q, err := FindColumn(name)
		if err != nil {
			return check.Wrong("%s = %q: no such quantity; mldp study keys lists them", key, name)
		}
		if !q.percent() && !q.Share && !q.Error && !q.Mean {
			return check.Wrong("%s = %q: must be a quantity in 0 to 100 or 0 to 1", key, name)
		}
		if err := check.Positive(key+"."+name, weights[name]); err != nil {
			return err
		}
	}
	return nil
}

// percent reports whether a quantity is in 0–100; S_w is of 100 runs.
func (c Column) percent() bool { return c.Unit == "%" || c.Unit == "×100" || c.Name == "s_w" }

// pucName is the quantity of the composite at a weight of utility.
func pucName(alpha float64) string { return fmt.Sprintf("puc_%.4g", 100*alpha) }

// ofPUC is the column of the composite at a weight that is not the study's.
func ofPUC(name string) (Column, bool) {
	percent, err := strconv.ParseFloat(strings.TrimPrefix(name, "puc_"), 64)
	if err != nil || pucName(percent/100) != name || percent == 50 {
		return Column{}, false
	}
	c := MustColumn("puc_50")
	c.Name = name
	c.Title = fmt.Sprintf("PUC α=%.4g", percent/100)
	return c, true
}

// plainly is what a cell shares with its baseline, and a quantity as its label. The setting
// is not part of it: without privatisation all settings are one.
func (c Cell) plainly(quantity string) Place {
	s := c.Scene()
	s.Setting = ""
	s.Label = quantity
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
	kept       map[Place][]float64 // values of plain text, of what depends on the classifier
	similarity map[Place][]float64 // CS in the repetitions that have it
}

// plainTextOf gathers it from all cells of a run.
func plainTextOf(cells []Cell) plainText {
	p := plainText{kept: map[Place][]float64{}, similarity: map[Place][]float64{}}
	for _, c := range cells {
		if v := c.Get("cs"); v.Known() {
			p.similarity[c.Group()] = append(p.similarity[c.Group()], v.Float())
		}
		if !c.IsBaseline() {
			continue
		}
		for _, q := range c.Quantities() {
			if v := c.Get(q); v.Known() && MustColumn(q).OfModel {
				p.kept[c.plainly(q)] = append(p.kept[c.plainly(q)], v.Float())
			}
		}
	}
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
			v := c.scaled(q, stats.Mean(text.kept[c.plainly(q)]), stats.Mean(text.similarity[c.Group()]))
			return metrics.Part{Value: v, Weight: weights[q]}
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
		set(pucName(alpha), metrics.PUC(alpha, utility, privacy))
	}
	attackers := slices.Collect(maps.Keys(puc.Privacy))
	if !slices.ContainsFunc(attackers, func(q string) bool { return !MustColumn(q).succeeds() }) {
		set("relative_gain", 2*metrics.PUC(0.5, utility, privacy)/100-1) // U/U₀ less A/A₀
	}
}

// succeeds reports whether a quantity is what an attacker finds.
func (c Column) succeeds() bool { return c.Attacker != "" && c.Direction == Down }

// scaled is a quantity in 0–100, more being better: of a classifier as a share of that on
// plain text, of what an attacker finds 100 less that share, else on its own scale.
func (c Cell) scaled(quantity string, plain, similarity float64) float64 {
	q := MustColumn(quantity)
	v := c.Get(quantity).Float()
	m, _ := c.At(quantity)
	switch nw, ok := c.At("n_w"); {
	case quantity == "s_w" && ok && m.Whole > 0 && nw.Whole > 0: // of 100 runs
		v = 100 * float64(m.Part) / float64(nw.Whole)
	case quantity == "cs" && math.IsNaN(v):
		v = similarity
	case q.OfModel:
		v *= 100 / plain
	case q.succeeds():
		v *= 100 / m.Ceiling.Float()
	case !q.percent():
		v *= 100
	}
	if q.Direction == Down {
		return 100 - v
	}
	return v
}
