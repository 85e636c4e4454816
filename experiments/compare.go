package experiments

import (
	"context"
	"slices"

	"mldpbench/internal/check"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/published"
	"mldpbench/results/quantity"
	"mldpbench/results/views"
)

// Comparing asks how runs differ: two from each other, or one or more, joined, from what is printed or among
// their mechanisms.
type Comparing struct {
	Call
	Runs      []string        // results files, or folders of runs
	Published bool            // compares with the published tables
	Levels    quantity.Levels // compares mechanisms where these are equal
	Most      int             // changed numbers that are shown; -1 shows all
}

// Compare compares runs. Its outcome comes with a Verdict where they differ, or nothing could be compared.
func Compare(_ context.Context, c Comparing) (*Outcome, error) {
	o := c.answer()
	if !c.Published && c.Levels.Quantity == "" {
		if len(c.Runs) != 2 {
			return nil, check.Wrong("compare takes two runs; with --published or --align one or more")
		}
		return o, o.compareRuns(c.Runs[0], c.Runs[1], analysis.Options{}, c.Most)
	}
	read, err := o.loadRuns(c.Levels, c.Runs...)
	if err != nil {
		return nil, err
	}
	if c.Published {
		all := published.Tables(read.Prepared)
		if len(all) == 0 {
			return o, nothing("none of the %d cells measures what the study printed: its texts or as many of them, "+
				"GloVe 6B, an LSTM", len(read.Cells))
		}
		o.tables(all...)
		return o, nil
	}
	isOfMechanisms := func(v views.View) bool { return v.From == "equal" || v.From == "pairs" }
	o.tables(views.Tables(read, results.Where(views.Builtin().Tables, isOfMechanisms))...)
	hasTwo := func(scene analysis.Alignment) bool { return scene.Reached() > 1 }
	if !slices.ContainsFunc(read.Alignments("", c.Levels.At[0]), hasTwo) {
		return o, nothing("no two mechanisms were measured on both sides of %s",
			views.LevelOf(c.Levels.Quantity, c.Levels.At[0]))
	}
	return o, nil
}

// Checking asks whether results are worse than a baseline.
type Checking struct {
	Call
	Baseline, Results string
	Level             float64 // probability of a false alarm over all tests
	Most              int     // changed numbers that are shown; -1 shows all
}

// Check compares results with a baseline. Its outcome comes with a Verdict where they differ by more than chance, or
// nothing could be compared.
func Check(_ context.Context, c Checking) (*Outcome, error) {
	o := c.answer()
	if err := check.Inside("level", c.Level, 0, 1); err != nil {
		return nil, err
	}
	return o, o.compareRuns(c.Baseline, c.Results, analysis.Options{Level: c.Level, Thresholds: true}, c.Most)
}

// compareRuns answers what changed between two runs.
func (o *Outcome) compareRuns(first, second string, options analysis.Options, most int) error {
	before, err := o.loadRuns(quantity.Levels{}, first)
	if err != nil {
		return err
	}
	after, err := o.loadRuns(quantity.Levels{}, second)
	if err != nil {
		return err
	}
	c := analysis.Runs(before.Prepared, after.Prepared, options)
	o.Records["changes"] = []struct{}{} // where there are none
	o.Records["tests"] = []struct{}{}
	o.tables(views.Compared(c, most)...)
	o.Records["outcome"] = []struct{ Outcome, Sentence string }{{string(c.Outcome()), c.Sentence()}}
	o.say("%s", c.Sentence())
	switch c.Outcome() {
	case analysis.Changed:
		return &Verdict{Changed, c.Sentence()}
	case analysis.Incomplete:
		return &Verdict{Nothing, c.Sentence()}
	}
	return nil
}
