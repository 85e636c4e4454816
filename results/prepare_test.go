package results

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"mldpbench/mechanisms"
	"mldpbench/results/quantity"
)

func prepared(t *testing.T, runs ...Run) *Prepared {
	t.Helper()
	p, err := Prepare(runs...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// text is what was measured of the text of made, whatever the classifier, and
// word of the mechanism, whatever the text.
func text(r Row, quantity string, m Measured) Row {
	r.Model, r.ModelParameters, r.Measurement = "", "", "text@1"
	return r.Of(quantity, m)
}

func word(r Row, quantity string, m Measured) Row {
	r = text(r, quantity, m)
	r.Setting = ""
	return r
}

// A cell has what was measured of its release without a model or a setting; a
// text without a classifier is a cell of its own.
func TestCellsInherit(t *testing.T) {
	a := made(0, 1, 15)
	rest := a
	rest.Setting, rest.Key = "train-only", "other"
	alone := text(made(1, 1, 15), "pp", Share(1, 4))
	alone.Mechanism = "tem"
	p := prepared(t, Run{Rows: []Row{a, rest.Of("accuracy", Share(18, 20)), text(a, "pp", Share(3, 4)),
		word(a, "n_w", Share(10, 50)), alone}})
	if len(p.Cells) != 3 {
		t.Fatalf("%d cells, want local, train-only and the text of TEM: %+v", len(p.Cells), p.Cells)
	}
	for _, c := range p.Cells {
		pp, nw := c.Get("pp"), c.Get("n_w")
		switch {
		case c.Mechanism == "tem" && (pp.Float() != 25 || nw.Known() || c.Has("accuracy")),
			c.Mechanism == "cmp" && nw.Float() != 20,
			c.Mechanism == "cmp" && c.Setting == "local" && (pp.Float() != 75 || c.Get("accuracy").Float() != 75),
			c.Mechanism == "cmp" && c.Setting == "train-only" && (pp.Known() || c.Get("accuracy").Float() != 90):
			t.Errorf("%s %s: PP %v, N_w %v, accuracy %v", c.Mechanism, c.Setting, pp, nw, c.Get("accuracy"))
		}
	}
	if texts := Texts(p.Cells); len(texts) != 2 || texts[0].Get("pp").Float() != 75 || texts[0].Model != "" {
		t.Errorf("%d texts, want 2: %+v", len(texts), texts)
	}
}

// A unit in two runs counts once; if they differ, that is an error.
func TestRunsAreJoined(t *testing.T) {
	a, b := Run{Name: "a", Rows: []Row{baseline(0, 1, 16), made(1, 1, 8)}}, Run{Name: "b", Rows: []Row{made(1, 1, 8)}}
	if p := prepared(t, a, b); len(p.Rows) != 2 || len(p.Cells) != 2 {
		t.Errorf("%d rows and %d cells, want 2 and 2", len(p.Rows), len(p.Cells))
	}
	b.Rows = []Row{made(1, 1, 9)}
	if _, err := Prepare(a, b); err == nil || !strings.Contains(err.Error(), "two runs differ in value of accuracy") {
		t.Errorf("error %v", err)
	}
}

// A run of 200 documents beside one of 4000 is never a repetition of it.
func TestDifferentDataIsNeverAveraged(t *testing.T) {
	small := func(index, right int) Row {
		r := made(index, 1, right)
		r.Key, r.DatasetFingerprint, r.TestItems, r.TrainItems = r.Key+"small", "few", 10, 50
		return r.Of("accuracy", Share(right, 10))
	}
	whole := []Row{baseline(0, 1, 19), made(1, 1, 18), made(1, 2, 17)}
	base := small(0, 5)
	base.Mechanism, base.Variant, base.Epsilon, base.Setting = BaselineMechanism, "", Missing, ""
	p := prepared(t, Run{Name: "whole", Rows: whole}, Run{Name: "small", Rows: []Row{base, small(1, 3)}})
	got := map[string][]float64{}
	for _, g := range GroupCells(p.Private()) {
		got[DatasetTitle(g.Dataset)] = g.Values("accuracy")
	}
	if !slices.Equal(got["IMDb (20 test documents)"], []float64{90, 85}) ||
		!slices.Equal(got["IMDb (10 test documents)"], []float64{30}) || len(got) != 2 {
		t.Errorf("%v", got)
	}
	for _, c := range p.Private() {
		if b := c.Get("baseline_accuracy"); c.TestItems == 20 && b.Float() != 95 || c.TestItems == 10 && b.Float() != 50 {
			t.Errorf("%s: baseline %v", c.Dataset, b)
		}
	}
	if len(p.Warnings) != 2 || !strings.Contains(p.Warnings[0], "never averaged") {
		t.Errorf("warnings %q", p.Warnings)
	}
	// Other cleaning, seed or documents in one repetition of another study too.
	for want, change := range map[string]func(*Row){
		"IMDb (cleaned: lemmas)":  func(r *Row) { r.Cleaning = "lemmas" },
		"IMDb (seed 2)":           func(r *Row) { r.Seed, r.DatasetFingerprint = 2, "drawn anew" },
		"IMDb (of other)":         func(r *Row) { r.Study, r.DatasetFingerprint = "other", "others" },
		"IMDb (10 test documents": func(r *Row) { r.TestItems = 10 },
	} {
		other := made(1, 1, 3)
		other.Key = "other"
		change(&other)
		p := prepared(t, Run{Rows: whole}, Run{Rows: []Row{other}})
		if !slices.ContainsFunc(p.Cells, func(c Cell) bool { return strings.HasPrefix(DatasetTitle(c.Dataset), want) }) {
			t.Errorf("no %q in %q", want, Distinct(p.Cells, func(c Cell) string { return c.Dataset }))
		}
	}
}

// The audit of a run takes the guarantee from its own rows only, and only if it
// was made with the same vectors.
func TestAuditOfARunApplies(t *testing.T) {
	verdict := AuditRow{Mechanism: "cmp", Variant: "proved", Epsilon: Float(5), Promises: true, Violated: true,
		EmbeddingFingerprint: "vectors"}
	mine, other := made(1, 1, 8), made(1, 1, 8)
	other.Key, other.Dataset = "other", "agnews"
	p := prepared(t, Run{Rows: []Row{mine}, Audit: []AuditRow{verdict}}, Run{Rows: []Row{other}})
	for _, c := range p.Cells {
		if refuted := c.Dataset == "imdb"; refuted != (c.GuaranteeMetric == "") ||
			refuted != strings.Contains(c.GuaranteeReason, "refuted by the audit: it claims 5 times") {
			t.Errorf("%s: guarantee %q, %q", c.Dataset, c.GuaranteeMetric, c.GuaranteeReason)
		}
	}
	for name, change := range map[string]func(*AuditRow){
		"other vectors":   func(a *AuditRow) { a.EmbeddingFingerprint = "others" },
		"another variant": func(a *AuditRow) { a.Variant = string(mechanisms.Printed) },
		"not violated":    func(a *AuditRow) { a.Violated = false },
	} {
		v := verdict
		change(&v)
		p := prepared(t, Run{Name: "run", Rows: []Row{mine}, Audit: []AuditRow{v}})
		if p.Cells[0].GuaranteeMetric == "" {
			t.Errorf("%s: refuted", name)
		}
		if stale := len(p.Audit) == 0 && len(p.Warnings) == 1; stale != (name == "other vectors") {
			t.Errorf("%s: %d verdicts, warnings %q", name, len(p.Audit), p.Warnings)
		}
	}
}

// E_M, which is measured once, is that of all repetitions.
func TestErrorOfTheAdversary(t *testing.T) {
	a, b := made(0, 1, 10), made(1, 1, 10)
	b.Mechanism = "tem"
	p := prepared(t, Run{Rows: []Row{a, b, made(0, 2, 10), word(a, "em", Number(0.7)),
		word(b, "em", Number(0.8))}})
	for _, c := range p.Cells { // measured once, it holds for all repetitions
		if want := map[string]Optional{"cmp": Float(0.7), "tem": Float(0.8)}[c.Mechanism]; c.Get("em") != want {
			t.Errorf("%s, repetition %d: E_M %v, want %v", c.Mechanism, c.Repetition, c.Get("em"), want)
		}
	}
}

// PUC by hand from eq. 4 of Meisenbacher et al. 2024: the privacy part is the
// mean of 100 − N_w, S_w, PP, CS and 100 − LOW, the utility part the
// accuracy as a share of the baseline's.
func TestCompositeByHand(t *testing.T) {
	a := made(1, 1, 12)
	nw, sw := Share(10, 50), Number(20)
	sw.Part, sw.Whole = 20, 1 // of 50 runs: 40 of 100
	p := prepared(t, Run{Rows: []Row{baseline(0, 1, 16), a, word(a, "n_w", nw), word(a, "s_w", sw),
		text(a, "pp", Share(7, 10)), text(a, "cs", Number(30)), text(a, "low", Share(3, 10))}})
	c := p.Private()[0]
	utility, privacy := 100*60.0/80, (80+40+70+30+70)/5.0
	for name, alpha := range map[string]float64{"puc_75": 0.75, "puc_50": 0.5, "puc_25": 0.25} {
		if want := alpha*utility + (1-alpha)*privacy; math.Abs(c.Get(name).Float()-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", name, c.Get(name), want)
		}
	}
}

// A study's own composite, by hand; with an attacker alone as P, the relative gain
// U/U0 - A/A0. What has no scale is refused.
func TestOwnComposite(t *testing.T) {
	a := made(1, 1, 12)
	found := Number(0.3)
	found.Ceiling = Float(0.6)
	of := func(c Composite) Cell {
		rows := []Row{baseline(0, 1, 16), a, text(a, "pp", Share(7, 10)), text(a, "cs", Number(30)),
			text(a, quantity.OfAttacker("bayes"), found)}
		return prepared(t, Run{Rows: rows, PUC: &c}).Private()[0]
	}
	c := of(Composite{Utility: map[string]float64{"accuracy": 1, "cs": 3}, Privacy: map[string]float64{"pp": 1},
		Alphas: []float64{0.6}})
	if want := 0.6*(75+3*30)/4 + 0.4*70; math.Abs(c.Get("puc_60").Float()-want) > 1e-9 || c.Has("puc_50") ||
		c.Has("relative_gain") || quantity.Must("puc_60").Title != "PUC α=0.6" {
		t.Errorf("puc_60 = %v, want %v; puc_50 %v", c.Get("puc_60"), want, c.Get("puc_50"))
	}
	c = of(Composite{Privacy: map[string]float64{quantity.OfAttacker("bayes"): 1}})
	if v := c.Get("relative_gain").Float(); math.Abs(v-(60.0/80-0.3/0.6)) > 1e-9 {
		t.Errorf("relative gain %v", v)
	}
	for want, c := range map[string]Composite{
		`puc.privacy = "nw": no such quantity; mldp study keys lists them`: {Privacy: map[string]float64{"nw": 1}},
		`puc.utility = "epochs": must be a quantity in 0 to 100 or 0 to 1`: {Utility: map[string]float64{"epochs": 1}},
		`puc.privacy.pp = -1: must be > 0 and finite`:                      {Privacy: map[string]float64{"pp": -1}},
		`puc.alphas = 2: must be in [0, 1]`:                                {Alphas: []float64{2}},
	} {
		if err := c.Check(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestNames(t *testing.T) {
	of := func(mechanism, variant, parameters string) Place {
		return Place{Mechanism: mechanism, Variant: variant, Parameters: parameters}
	}
	named := of("cmp", "proved", "")
	named.Label = "Calibrated noise"
	svm := Place{Model: "svm", ModelParameters: "features=tfidf", Setting: "local"}
	want := map[Place]string{
		of("cmp", "proved", ""): "CMP", named: "Calibrated noise",
		of("vickrey", "proved", "lambda=0.2"):                    "Vickrey, proved",
		of("vickrey", string(mechanisms.Released), "lambda=0.2"): "Vickrey, released",
		of("tem", "proved", "beta=0.001 gamma=1"):                "TEM, γ=1",
		of("tem", "proved", "beta=0.001 gamma=0.5"):              "TEM, γ=0.5",
		svm: "svm, features=tfidf (local)", {Model: "svm", Setting: "local"}: "svm (local)", {Model: "lstm"}: "lstm",
	}
	names := Names(slices.Collect(maps.Keys(want)))
	for p, want := range want {
		if names[p] != want {
			t.Errorf("%v: %q, want %q", p, names[p], want)
		}
	}
}

// Answers that are all alike, as all right, have an interval: of as many as there
// are test documents (20), and for words of them too. Where some are, it is the one measured.
func TestSharesWithoutSpread(t *testing.T) {
	inf := math.Inf(1)
	row := func(value, low, high float64, whole int) Row {
		m := Number(value).Within(low, high)
		m.Whole = whole
		return made(0, 1, 15).Of(quantity.OfAttacker("mine"), m)
	}
	for _, x := range []struct {
		row       Row
		low, high float64
	}{
		{row(1, 1, 1, 20), math.Pow(0.025, 1.0/20), 1}, {row(0, 0, 0, 20), 0, 1 - math.Pow(0.025, 1.0/20)},
		{row(1, 1, 1, 900), math.Pow(0.025, 1.0/20), 1}, {row(1, 1, 1, 8), math.Pow(0.025, 1.0/8), 1},
		{row(0.95, 0.85, 1, 20), 0.85, 1}, {row(0.5, 0.5, 0.5, 1), 0.0125, 0.9875}, {row(0.5, -inf, inf, 1), 0.0125, 0.9875},
	} {
		m, _ := prepared(t, Run{Rows: []Row{x.row}}).Cells[0].At(x.row.Quantity)
		if math.Abs(m.Low.Float()-x.low) > 1e-12 || math.Abs(m.High.Float()-x.high) > 1e-12 {
			t.Errorf("%v of %d: %v to %v, want %v to %v", x.row.Value, x.row.Whole, m.Low, m.High, x.low, x.high)
		}
	}
}
