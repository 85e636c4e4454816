package published

import (
	"fmt"
	"slices"
	"strings"

	"mldpbench/results"
	"mldpbench/results/tables"
)

// Tables builds every table of package tables together with the papers'
// numbers, and the comparison of cells with the published tables.
func Tables(p *results.Prepared) []tables.Table {
	list := tables.All(p)
	for i := range list {
		switch t := &list[i]; {
		case t.Name == "datasets":
			besideDatasets(t)
		case strings.HasPrefix(t.Name, "regression") && !strings.HasSuffix(t.Name, "-generated"):
			besideRegression(t)
		}
	}
	comparisons, err := Compare(p, DefaultMargin)
	if err != nil { // a test checks the embedded tables
		return list
	}
	return append(list, CompareTables(p, comparisons)...)
}

// besideDatasets puts the study's Table 2 below our rows.
func besideDatasets(t *tables.Table) {
	for _, name := range Datasets {
		i := slices.IndexFunc(t.Rows, func(row []tables.TableCell) bool {
			return row[0].Text == results.DatasetTitle(name)
		})
		p, ok := publishedDataset(name)
		if i < 0 || !ok {
			continue
		}
		var row []tables.TableCell
		for _, text := range []string{"as published", p["train_size"], p["test_size"], p["total_word_count"],
			p["vocab_size"],
			p["sent_len_mean"] + " (" + p["sent_len_sd"] + ")", p["task_type"], ""} {
			row = append(row, tables.TableCell{Text: text})
		}
		t.Rows = slices.Insert(t.Rows, i+1, row)
	}
}

// besideRegression adds the coefficients of the study's Table 4 to ours.
func besideRegression(t *tables.Table) {
	estimates, _, r2 := printedTable4()
	if len(t.Rows) != len(estimates) {
		return
	}
	t.Header = append(t.Header, "published coefficient")
	for i, e := range estimates {
		t.Rows[i] = append(t.Rows[i], tables.TableCell{Text: fmt.Sprint(e)})
	}
	t.Legend += fmt.Sprintf(" Published: 126 cells, R² = %v, CS of another encoder, S_w without the word itself.", r2)
}
