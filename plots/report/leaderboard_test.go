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
	}
	var b bytes.Buffer
	if err := WriteLeaderboard(&b, in.Records); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"CMP keeps 70.7% accuracy", "synthetic &lt;test&gt; data, seed 7, mldp v1, there", "Generated data.",
		`data-filter="mechanism"`, "<th scope=\"row\">CMP</th>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "Vickrey") {
		t.Error("a variant without a guarantee is ranked")
	}
	for i := range in.Records {
		if in.Records[i].Mechanism == "cmp" {
			in.Records[i].GuaranteeScope = "between words of one group"
		}
	}
	b.Reset()
	if err := WriteLeaderboard(&b, in.Records); err != nil {
		t.Fatal(err)
	}
	// Error asked for, place, bounds.
	if page := b.String(); !strings.Contains(page, "(guarantee between some words)") ||
		!strings.Contains(page, "<td>0.5</td><td>–</td><td>–</td>") {
		t.Error("a promise between some words has a place among full ones, or no row")
	}
	if err := WriteLeaderboard(&b, []results.Record{results.NewRecord()}); err == nil {
		t.Error("nothing to rank: no error")
	}
}
