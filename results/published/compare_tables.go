package published

import (
	"fmt"
	"math"

	"mldpbench/results"
	"mldpbench/results/tables"
)

// interval formats our mean and the half-width of its interval.
func (k Comparison) interval() string {
	if math.IsNaN(k.Ours) {
		return tables.NotMeasured
	}
	text := tables.FormatNumber(k.Ours, 2)
	if !math.IsNaN(k.Low) && k.High > k.Low {
		text += " ± " + tables.FormatNumber(k.High-k.Ours, 2)
	}
	return text
}

// compareTable has the row of every comparison.
func compareTable(comparisons []Comparison) tables.Table {
	t := tables.Table{
		Name: "compare", Title: "Against Meisenbacher et al. 2024, number by number",
		Header: []string{"metric", "table", "cell", "definition", "instance", "embedding", "published", "ours",
			"difference", "class", "note"},
	}
	for i, k := range comparisons {
		difference := tables.NotMeasured
		if !math.IsNaN(k.Difference) {
			difference = fmt.Sprintf("%+.2f", k.Difference)
		}
		instance := k.Name
		if !k.AsPublished {
			instance += " (not the published variant)"
		}
		t.AddRow(k.Metric, k.Table, k.Place.String(), k.Definition.Title, instance, k.Embedding,
			tables.FormatNumber(k.Published, 2), k.interval(), difference, string(k.Class), k.Cause)
		t.Rows[i][0].Separator = i > 0 && comparisons[i-1].Metric != k.Metric
	}
	t.Legend = "A cell agrees when the difference is within the margin or within the 95% interval of a difference " +
		"of two such means; the spread of the published means is not printed and is taken to be ours. One in twenty " +
		"cells of equal truth differs by chance where the interval decides."
	return t
}

// compareSummary counts the outcomes by metric: of what was measured as the study
// describes it, and of the variants that its tables are said to have measured.
func compareSummary(comparisons []Comparison) tables.Table {
	t := tables.Table{Name: "compare-summary", Title: "What became of the published numbers, as described",
		Header: []string{"metric", "confirmed", "differs beyond noise", "not comparable"}}
	for _, d := range definitions {
		counts := map[Class]int{}
		for _, k := range comparisons {
			if k.Definition == d && k.AsPublished && d.described() {
				counts[k.Class]++
			}
		}
		if len(counts) > 0 {
			t.AddRow(d.Metric, fmt.Sprint(counts[Agrees]), fmt.Sprint(counts[Differs]), fmt.Sprint(counts[NotComparable]))
		}
	}
	t.Legend = "Cells of these records with a published counterpart, for the variant that the tables measured: released " +
		"Vickrey, Gumbel and SynTF, TEM with the threshold of Theorem 3, CMP, Mahalanobis and SanText by definition. " +
		"Not comparable: another embedding, classifier, sentence encoder or sample, or undefined."
	return t
}

// Tables returns all tables: the printed numbers as the study's code computes
// them where the records have them; then those that we measured as the study
// describes them, a summary and all numbers.
func Tables(p *results.Prepared, margin float64) []tables.Table {
	comparisons := Compare(p, margin)
	list := ReplicationTables(p)
	if t, ok := HonestTable(p); ok && len(list) > 0 {
		list = append(list, t)
	}
	if len(comparisons) == 0 {
		return list
	}
	return append(list, compareSummary(comparisons), compareTable(comparisons))
}
