package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mldpbench/results/stats"
)

// Aligned is the accuracy of one mechanism at given errors of the adversary. A
// given ε would have a different meaning for each mechanism.
type Aligned struct {
	Dataset   string
	Embedding string
	Dimension int
	Instance
	Accuracy []stats.Summary // by level; N = 0 where the mechanism does not reach it
	Epsilon  []stats.Summary // the ε that gives the level
}

// AlignedLevels are errors E_M of the MAP adversary (0/1 loss): the share of
// words that it gets wrong.
var AlignedLevels = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

// widestGap is the largest distance in E_M between two neighbouring ε:
// interpolation across more than this would be a guess.
const widestGap = 0.7

// Align interpolates accuracy and ε at given levels of E_M, for each data set,
// space and mechanism of one model and setting: linearly in E_M and accuracy,
// and in log ε, between neighbouring ε of the study. Each repetition has its
// own line; a level counts where all repetitions reach it.
func Align(records []Record, levels []float64) []Aligned {
	type curve struct {
		dataset string
		space   Space
		Instance
	}
	records, _ = FullErrors(records)
	lines := map[curve]map[int][]Record{}
	var order []curve
	for _, r := range records {
		if r.IsBaseline() || !r.Accuracy.Known() || !r.EMMap.Known() || !r.Epsilon.Known() {
			continue
		}
		c := curve{r.Dataset, Space{r.Embedding, r.Dimension}, r.Instance()}
		if lines[c] == nil {
			lines[c] = map[int][]Record{}
			order = append(order, c)
		}
		lines[c][r.Repetition] = append(lines[c][r.Repetition], r)
	}
	// Group by data set and space, then by mechanism.
	first := map[string]int{}
	rank := func(key string) int {
		if _, ok := first[key]; !ok {
			first[key] = len(first)
		}
		return first[key]
	}
	for _, c := range order {
		rank(c.dataset + c.space.String())
		rank(c.Mechanism)
	}
	slices.SortStableFunc(order, func(a, b curve) int {
		return cmp.Or(cmp.Compare(rank(a.dataset+a.space.String()), rank(b.dataset+b.space.String())),
			cmp.Compare(rank(a.Mechanism), rank(b.Mechanism)))
	})
	var out []Aligned
	for _, c := range order {
		a := Aligned{Dataset: c.dataset, Embedding: c.space.Embedding, Dimension: c.space.Dimension,
			Instance: c.Instance}
		for _, level := range levels {
			var accuracy, epsilon []float64
			for _, line := range lines[c] {
				if x, e, ok := at(line, level); ok {
					accuracy, epsilon = append(accuracy, x), append(epsilon, e)
				}
			}
			if len(accuracy) < len(lines[c]) {
				accuracy, epsilon = nil, nil
			}
			slices.Sort(accuracy) // sort, because maps have no order and sums depend on it
			slices.Sort(epsilon)
			a.Accuracy, a.Epsilon = append(a.Accuracy, stats.Summarize(accuracy)),
				append(a.Epsilon, stats.Summarize(epsilon))
		}
		out = append(out, a)
	}
	return out
}

// at interpolates accuracy and ε at a level of E_M between its neighbours in
// E_M.
func at(line []Record, level float64) (accuracy, epsilon float64, ok bool) {
	line = slices.Clone(line)
	slices.SortStableFunc(line, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.EMMap, b.EMMap), cmp.Compare(b.Epsilon, a.Epsilon))
	})
	for i := 1; i < len(line); i++ {
		low, high := line[i-1], line[i]
		if level < float64(low.EMMap) || level > float64(high.EMMap) || low.EMMap == high.EMMap ||
			high.EMMap-low.EMMap > widestGap {
			continue
		}
		x := (level - float64(low.EMMap)) / float64(high.EMMap-low.EMMap)
		mix := func(a, b float64) float64 { return a + x*(b-a) }
		return mix(float64(low.Accuracy), float64(high.Accuracy)),
			math.Exp(mix(math.Log(float64(low.Epsilon)), math.Log(float64(high.Epsilon)))), true
	}
	return 0, 0, false
}

// alignment tabulates accuracy and ε at equal error of the adversary.
func (s sheet) alignment(model, setting string) []Table {
	records := s.task(model, setting)
	aligned := Align(records, AlignedLevels)
	reached := func(level int) bool {
		return slices.ContainsFunc(aligned, func(a Aligned) bool { return a.Accuracy[level].N > 0 })
	}
	var shown []int
	for level := range AlignedLevels {
		if reached(level) {
			shown = append(shown, level)
		}
	}
	if len(shown) == 0 {
		return nil
	}
	var tables []Table
	for _, kind := range []struct {
		name, title, legend string
		values              func(Aligned) []stats.Summary
		digits              int
		best                bool
	}{
		{"aligned-accuracy", "Accuracy in % at equal error of the adversary", "Bold: highest of a column and data set.",
			func(a Aligned) []stats.Summary { return a.Accuracy }, 2, true},
		{"aligned-epsilon", "ε at equal error of the adversary",
			"Mechanisms need different ε for the same privacy against this adversary. No interval where E_M was " +
				"measured once for all repetitions.",
			func(a Aligned) []stats.Summary { return a.Epsilon }, 2, false},
	} {
		t := s.named(slug(kind.name, model, setting), fmt.Sprintf("%s, %s, %s", kind.title, model, setting))
		t.Groups, t.Header = []ColumnGroup{{"", 2}, {"E_M", len(shown)}}, []string{"data set, space", "mechanism"}
		for _, level := range shown {
			t.Header = append(t.Header, fmt.Sprint(AlignedLevels[level]))
		}
		var rows []int
		var means [][]float64
		for k, a := range aligned {
			place := func(a Aligned) string {
				return DatasetTitle(a.Dataset) + ", " + Space{a.Embedding, a.Dimension}.String()
			}
			if k > 0 && place(aligned[k-1]) != place(a) {
				if kind.best {
					markBest(&t, rows, means, true)
				}
				rows, means = nil, nil
			}
			row := []TableCell{{Text: place(a), Separator: rows == nil}, s.instanceCell(&t, records, a.Instance)}
			line := make([]float64, len(shown))
			for j, level := range shown {
				v := kind.values(a)[level]
				text := WithInterval(v, kind.digits)
				if v.N > 1 && v.StdDev == 0 { // E_M is measured once for all repetitions: no spread was seen
					text = FormatNumber(v.Mean, kind.digits)
				}
				row = append(row, TableCell{Text: text})
				line[j] = v.Mean
			}
			rows, means = append(rows, len(t.Rows)), append(means, line)
			t.Rows = append(t.Rows, row)
		}
		if kind.best {
			markBest(&t, rows, means, true)
		}
		t.Legend = "E_M is the share of words that the MAP adversary gets wrong (0/1 loss, uniform prior" +
			candidates(records) + "). Values lie on the line that joins the ε of the study (linear in E_M and " +
			"accuracy, and in log ε), repetition by repetition: mean ± half-width of the 95% t interval. " +
			fmt.Sprintf("– where a mechanism does not reach the error at any ε of the study, or its nearest ε are "+
				"more than %g apart in E_M (more ε would be needed). ", widestGap) + kind.legend
		tables = append(tables, t)
	}
	return tables
}
