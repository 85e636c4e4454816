package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mldpbench/results/stats"
)

// PromiseTables returns what every mechanism promises, whether an audit found it
// kept, and what it costs, a table per model and setting; those of real data come
// first.
func PromiseTables(records []Record, audit []AuditRow) []Table {
	var tables []Table
	for _, generated := range []bool{false, true} {
		s := newSheet(Where(records, func(r Record) bool { return r.Generated == generated }), generated, audit)
		for _, task := range s.tasks() {
			tables = append(tables, s.promises(task[0], task[1])...)
		}
	}
	return tables
}

// promises are, for each space of a task, what every mechanism promises, whether
// an audit found it kept, how much error the adversary makes where pointsLost
// points of accuracy are lost, and how fast it is.
func (s sheet) promises(model, setting string) []Table {
	full, _ := FullErrors(s.task(model, setting))
	var tables []Table
	spaces := Spaces(Where(full, func(r Record) bool { return !r.IsBaseline() && r.EMMap.Known() }))
	for _, space := range spaces {
		records := Where(full, func(r Record) bool { return Space{r.Embedding, r.Dimension} == space })
		private := Where(records, func(r Record) bool { return !r.IsBaseline() })
		datasets := Distinct(private, func(r Record) string { return r.Dataset })
		name, title := slug("promises", model, setting), fmt.Sprintf(
			"Promise, verdict, privacy at %d points of accuracy lost, and speed, %s, %s", pointsLost, model, setting)
		if len(spaces) > 1 {
			name, title = slug(name, space.String()), title+", "+space.String()
		}
		t := s.named(name, title)
		t.Groups = []ColumnGroup{{"", 3}, {fmt.Sprintf("E_M at %d points lost,", pointsLost), len(datasets)}, {"", 1}}
		t.Header = []string{"mechanism", "promise", "kept?"}
		for _, d := range datasets {
			t.Header = append(t.Header, DatasetTitle(d))
		}
		t.Header = append(t.Header, "words/s")
		for _, i := range Instances(private) {
			own := Where(private, func(r Record) bool { return r.Instance() == i })
			row := []TableCell{s.instanceCell(&t, own, i), {Text: promiseOf(own)}, {Text: s.verdict(i)}}
			for _, d := range datasets {
				at := func(r Record) bool { return r.Dataset == d }
				row = append(row, TableCell{Text: errorAtLoss(Where(records, func(r Record) bool {
					return at(r) && r.IsBaseline()
				}), Where(own, at))})
			}
			var speed []float64
			for _, c := range GroupCells(TextRecords(own)) {
				speed = append(speed, c.Throughput()...)
			}
			t.Rows = append(t.Rows, append(row, TableCell{Text: spanned(speed)}))
		}
		t.Legend = "Promise: the distance in which ε counts. Kept: \"not refuted\" is what an audit says that found no " +
			"violation, no proof; " + NotMeasured + " where none was run. " + fmt.Sprintf("E_M, the share of words "+
			"that the MAP adversary gets wrong%s, where accuracy is %d points below that of plain text: on the line "+
			"that joins the ε of the study in E_M and accuracy, mean ± half-width of the 95%% t interval over "+
			"repetitions. > all ε lose less, so that the error is greater than the largest measured; < all ε lose more; "+
			"%s neighbouring ε are more than %g apart in E_M; (n of N) only so many repetitions cross that loss. Higher is "+
			"better. Words/s: median (least to greatest) over data sets, ε and repetitions of a text from nothing, tables "+
			"included, wall clock as run: cells that run at once, and whatever else ran, share the machine.",
			candidates(full), pointsLost, NotMeasured, widestGap)
		tables = append(tables, t)
	}
	return tables
}

// promiseOf says what the records of one instance promise.
func promiseOf(records []Record) string {
	r := records[0]
	switch {
	case !slices.ContainsFunc(records, func(r Record) bool { return r.Status != StatusUndefined }):
		return "undefined"
	case r.GuaranteeMetric == "":
		return "none"
	case r.GuaranteeScope != "":
		return "ε, " + r.GuaranteeMetric + ", some words"
	}
	return "ε, " + r.GuaranteeMetric
}

// verdict is what the audit says of an instance, over all ε it was audited at.
func (s sheet) verdict(i Instance) string {
	text := NotMeasured
	for _, a := range s.audit {
		switch {
		case a.Instance() != i || math.IsNaN(a.Lower):
		case a.Violated && a.Promises:
			return "refuted"
		case a.Violated:
			text = "violates ε"
		case text == NotMeasured && a.Promises:
			text = "not refuted"
		case text == NotMeasured:
			text = "nothing to keep"
		}
	}
	return text
}

// errorAtLoss prints the E_M at which records of one instance on one data set
// have lost pointsLost points against plain text.
func errorAtLoss(plain, records []Record) string {
	base := stats.Mean(Cells{Records: plain}.Values(column("accuracy").Get))
	lines := map[int][]Record{}
	var points []Record // of all repetitions
	for _, r := range records {
		if r.Accuracy.Known() && r.EMMap.Known() {
			lines[r.Repetition], points = append(lines[r.Repetition], r), append(points, r)
		}
	}
	if math.IsNaN(base) || len(points) == 0 {
		return NotMeasured
	}
	target := base - pointsLost
	var found []float64
	for _, line := range lines {
		if e, ok := crossing(line, target); ok {
			found = append(found, e)
		}
	}
	slices.Sort(found) // maps have no order; sums do
	if len(found) == len(lines) {
		return WithInterval(stats.Summarize(found), 2)
	}
	byError := func(a, b Record) int { return cmp.Compare(a.EMMap, b.EMMap) }
	loses := func(r Record) bool { return float64(r.Accuracy) < target }
	switch lost := len(Where(points, loses)); lost {
	case 0:
		return "> " + FormatNumber(float64(slices.MaxFunc(points, byError).EMMap), 2)
	case len(points):
		return "< " + FormatNumber(float64(slices.MinFunc(points, byError).EMMap), 2)
	}
	if len(found) > 0 {
		return fmt.Sprintf("%s (%d of %d)", FormatNumber(stats.Mean(found), 2), len(found), len(lines))
	}
	return NotMeasured
}

// crossing is the least E_M at which the accuracy of one repetition falls below a
// target, linear between neighbours in E_M.
func crossing(line []Record, target float64) (float64, bool) {
	line = slices.SortedStableFunc(slices.Values(line), func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.EMMap, b.EMMap), cmp.Compare(b.Epsilon, a.Epsilon))
	})
	for i := 1; i < len(line); i++ {
		low, high := line[i-1], line[i]
		above, below := float64(low.Accuracy)-target, target-float64(high.Accuracy)
		if above >= 0 && below > 0 {
			return float64(low.EMMap) + float64(high.EMMap-low.EMMap)*above/(above+below),
				high.EMMap-low.EMMap <= widestGap
		}
	}
	return 0, false
}
