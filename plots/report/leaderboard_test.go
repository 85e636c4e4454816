package report

import (
	"bytes"
	"strings"
	"testing"

	"mldpbench/results"
)

func TestLeaderboard(t *testing.T) {
	in := input()
	for i := range in.Records {
		in.Records[i].Version, in.Records[i].Machine = "v1", "there"
		if in.Records[i].Repetition > 1 {
			in.Records[i].Version = "v2"
		}
	}
	var b bytes.Buffer
	if err := WriteLeaderboard(&b, in.Records, in.Audit); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"CMP keeps 70.7% accuracy", "synthetic &lt;test&gt; data, seed 7, mldp v1, v2, there", "Generated data.",
		`data-filter="mechanism"`, "<th scope=\"row\">CMP</th>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	ranked, promises, found := strings.Cut(page, `id="promises"`)
	if !found || !strings.Contains(promises, "Vickrey") {
		t.Error("no table of promises")
	}
	if strings.Contains(ranked, "Vickrey") {
		t.Error("a variant without a guarantee is ranked")
	}
	for i := range in.Records {
		if in.Records[i].Mechanism == "cmp" {
			in.Records[i].GuaranteeScope = "between words of one group"
		}
	}
	b.Reset()
	if err := WriteLeaderboard(&b, in.Records, in.Audit); err != nil {
		t.Fatal(err)
	}
	// Given error, place, bounds.
	if page := b.String(); !strings.Contains(page, "(guarantee between some words)") ||
		!strings.Contains(page, "<td>0.5</td><td>–</td><td>–</td>") {
		t.Error("a promise between some words has a place among full ones, or no row")
	}
	if err := WriteLeaderboard(&b, []results.Record{results.NewRecord()}, nil); err == nil {
		t.Error("nothing to rank: no error")
	}
}

func init() {
	results.RegisterQuantity(results.Column{Name: "guess-of-test", Title: "guessed", Digits: 2, Table: "guess-of-test"})
}

// Results of a study of attacks alone are enough for a page: what attackers
// learn at a stated loss, and who measured it.
func TestLeaderboardOfAttacks(t *testing.T) {
	t.Parallel()
	var records []results.Record
	for _, m := range []struct {
		x              results.Float
		utility, guess results.Float
	}{{1, 80, 0.4}, {5, 90, 0.6}} {
		r := results.NewRecord()
		r.Study, r.Dataset, r.Series, r.X, r.Chance, r.Ceiling = "attacked", "news", "CMP", m.x, 25, 90
		r.Panel, r.Quantity, r.Value = results.UtilityPanel, "accuracy", m.utility
		records = append(records, r)
		r.Panel, r.Quantity, r.Value = "guess", "guess-of-test", m.guess
		records = append(records, r)
	}
	var page strings.Builder
	if err := WriteLeaderboard(&page, records, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"By attackers’ success", "5 points of accuracy lost, news", "guessed", "0.50", "attacked, seed",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q", want)
		}
	}
}
