package published

import (
	"fmt"
	"slices"
	"strings"

	"mldpbench/results"
)

// Tables builds every table of results.Tables together with the papers'
// numbers, and the comparison of records with the published tables.
func Tables(in results.TableInputs) []results.Table {
	tables := results.Tables(in)
	for i := range tables {
		switch t := &tables[i]; {
		case t.Name == "datasets":
			besideDatasets(t)
		case strings.HasPrefix(t.Name, "regression") && !strings.HasSuffix(t.Name, "-generated"):
			besideRegression(t)
		}
	}
	comparisons, err := Compare(in.Records, DefaultMargin)
	if err != nil || len(comparisons) == 0 { // a test checks the embedded tables
		return tables
	}
	return append(tables, CompareTables(comparisons)...)
}

// besideDatasets puts the study's Table 2 below our rows.
func besideDatasets(t *results.Table) {
	for _, name := range Datasets {
		i := slices.IndexFunc(t.Rows, func(row []results.TableCell) bool {
			return row[0].Text == results.DatasetTitle(name)
		})
		p, ok := publishedDataset(name)
		if i < 0 || !ok {
			continue
		}
		var row []results.TableCell
		for _, text := range []string{"as published", p["train_size"], p["test_size"], p["total_word_count"],
			p["vocab_size"],
			p["sent_len_mean"] + " (" + p["sent_len_sd"] + ")", p["task_type"], ""} {
			row = append(row, results.TableCell{Text: text})
		}
		t.Rows = slices.Insert(t.Rows, i+1, row)
	}
}

// besideRegression adds the coefficients of the study's Table 4 to ours.
func besideRegression(t *results.Table) {
	estimates, _, r2 := printedTable4()
	if len(t.Rows) != len(estimates) {
		return
	}
	t.Header = append(t.Header, "published coefficient")
	for i, e := range estimates {
		t.Rows[i] = append(t.Rows[i], results.TableCell{Text: fmt.Sprint(e)})
	}
	t.Legend += fmt.Sprintf(" Published: 126 cells, R² = %v, CS of another encoder, S_w without the word itself.", r2)
}
