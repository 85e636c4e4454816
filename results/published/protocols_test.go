package published

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mldpbench/results"
)

// madeUp has a cell of CMP and of SanText in each setting at d=100 on IMDb:
// local is off by the given points, train-only equals the paper. The baseline
// is the printed one.
func madeUp(off float64) []results.Record {
	var records []results.Record
	add := func(mechanism, setting string, epsilon, accuracy float64) {
		for i, jitter := range []float64{-0.4, -0.2, 0, 0.2, 0.4} {
			r := baselineRecord(len(records), i+1, int(math.Round(20*(accuracy+jitter))))
			r.Key += mechanism + setting
			r.Mechanism, r.Setting = mechanism, setting
			if mechanism != results.BaselineMechanism {
				r.Epsilon, r.Policy = results.Float(epsilon), "keep"
			}
			if err := r.Recompute(); err != nil {
				panic(err)
			}
			records = append(records, r)
		}
	}
	printed := func(mechanism string, epsilon float64) float64 {
		return Printed().Value(Place{"imdb", 100, epsilon, mechanism}, "accuracy")
	}
	add(results.BaselineMechanism, "local", 0, printed(results.BaselineMechanism, 0))
	for _, m := range []string{"cmp", "mahalanobis", "santext"} {
		for _, e := range Epsilons {
			add(m, "local", e, printed(m, e)-off)
			add(m, "train-only", e, printed(m, e))
		}
	}
	add("cmp", "local", 2, 70) // not printed
	add("santext-plus", "train-only", 1, printed("santext", 1)-off)
	return records
}

func TestVerdictsJudgeAllCellsOfAProtocol(t *testing.T) {
	comparisons, err := Compare(madeUp(8), DefaultMargin)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := Verdicts(comparisons)
	if len(verdicts) != 3 {
		t.Fatalf("%d protocols, want local, train-only, and train-only with SanText+: %+v", len(verdicts), verdicts)
	}
	for i, want := range []Verdict{
		{Cells: 9, Confirmed: 0, RMS: 8, LossCells: 6, LossRMS: 8, SanTextCells: 3},
		{Cells: 9, Confirmed: 9, RMS: 0, LossCells: 6, LossRMS: 0, SanTextCells: 3},
		{Cells: 7, Confirmed: 6, RMS: 8 / math.Sqrt(7), LossCells: 6, LossRMS: 0, SanTextCells: 1},
	} {
		got := verdicts[i]
		if got.Cells != want.Cells || got.Confirmed != want.Confirmed || got.LossCells != want.LossCells ||
			got.SanTextCells != want.SanTextCells {
			t.Errorf("%v: %+v, want %+v", got.Protocol, got, want)
		}
		near(t, "RMS", got.RMS, want.RMS, 0.06) // documents are whole
		near(t, "RMS of losses", got.LossRMS, want.LossRMS, 0.06)
	}
	if s := verdicts[2].Protocol.String(); !strings.Contains(s, "by santext-plus") {
		t.Errorf("protocol %q", s)
	}
	sentence := Sentence(comparisons)
	for _, want := range []string{
		"0 of 9 (RMS 8.0 points; of the loss to the baseline, SanText apart, 0 of 6, RMS 8.0)",
		"9 of 9 (RMS 0.0 points", "3 protocols were tried",
	} {
		if !strings.Contains(sentence, want) {
			t.Errorf("no %q in %q", want, sentence)
		}
	}
}

// A cell that one setting lacks is judged under none, so verdicts of one metric
// are about the same cells.
func TestVerdictsShareTheirCells(t *testing.T) {
	records := slices.DeleteFunc(madeUp(8), func(r results.Record) bool {
		return r.Setting == "train-only" && r.Epsilon == 5
	})
	comparisons, err := Compare(records, DefaultMargin)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range Verdicts(comparisons)[:2] {
		if v.Cells != 6 {
			t.Errorf("%v: %d cells, want 6", v.Protocol, v.Cells)
		}
	}
}

func TestProtocolTables(t *testing.T) {
	comparisons, err := Compare(madeUp(8), DefaultMargin)
	if err != nil {
		t.Fatal(err)
	}
	if l := ProtocolTable(comparisons).Legend; !strings.HasPrefix(l, "3 protocols were tried.") {
		t.Errorf("legend %q", l)
	}
	tables := CellTables(comparisons)
	if len(tables) != 1 {
		t.Fatalf("%d tables, want that of accuracy", len(tables))
	}
	text := strings.Join(strings.Fields(render(t, tables[0], "md")), " ")
	// 79.81 and 78.85 are print; whole documents give 79.80 and 78.85.
	if !strings.Contains(text, "| IMDb | 100 | CMP | | 10 | 78.85 | 70.85 ± 0.39 | 78.85 ± 0.39 | -0.96 | "+
		"-8.95 | -0.95 |") {
		t.Errorf("no row of CMP at ε=10 in %s", text)
	}
}

// Two mechanisms with one other way each are also judged together.
func TestOtherWaysTogether(t *testing.T) {
	records := madeUp(8)
	for _, r := range slices.Clone(records) {
		if r.Mechanism == "mahalanobis" {
			r.Policy, r.Key = "zero", r.Key+"zero"
			records = append(records, r)
		}
	}
	comparisons, err := Compare(records, DefaultMargin)
	if err != nil {
		t.Fatal(err)
	}
	var together []Verdict
	for _, v := range Verdicts(comparisons) {
		if len(v.Others) > 1 {
			together = append(together, v)
		}
	}
	if len(together) != 1 || together[0].Setting != "train-only" || together[0].Cells != 7 ||
		together[0].LossConfirmed != 6 {
		t.Errorf("%+v, want one protocol: train-only, with SanText+ and Mahalanobis under policy zero, 7 cells",
			together)
	}
}
