package plots

import (
	"bytes"
	"encoding/xml"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A drawing marks up its shapes and is well-formed whatever a label contains.
func TestSVGNamesItsData(t *testing.T) {
	f, err := Curves("x", "A title", []Panel{{
		Title: "set <1>", X: Axis{Label: "ε"}, Y: Axis{Label: "accuracy in %"},
		Curves: []Curve{{Label: `a "b" & c`, Points: []Point{{1, 75.5, 70, 81}, Exactly(5, 80)}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	svg, err := f.Render("svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<g class="series" data-series="a &#34;b&#34; &amp; c">`,
		`<g class="legend" data-series="a &#34;b&#34; &amp; c">`,
		`data-panel="set &lt;1&gt;"`, `data-x="1" data-y="75.5" data-low="70" data-high="81"><title>a &#34;b&#34; &amp; c: 75.5 (70 to 81) at 1, set &lt;1&gt;</title>`,
	} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.ContainsAny(string(svg), openMark+closeMark+attributeMark) {
		t.Error("a mark is left")
	}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
	for _, format := range []string{"png", "pdf"} {
		if data, err := f.Render(format); err != nil || len(data) == 0 {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// Texts hold the width of their layout, so a different font does not move what
// follows them.
func TestSVGTextsKeepTheirWidth(t *testing.T) {
	figures, err := frontierFigures(newStudy(syntheticRecords(2)))
	if err != nil {
		t.Fatal(err)
	}
	svg := render(t, figures[0])
	if n, m := strings.Count(svg, "<text "), strings.Count(svg, ` textLength="`); n != m || n == 0 {
		t.Errorf("%d of %d texts say their width", m, n)
	}
	part := regexp.MustCompile(`<text x="([0-9.]+)"[^>]* textLength="([0-9.]+)"[^>]*>adversary’s error E</text>\n` +
		`<text x="([0-9.]+)"`).FindStringSubmatch(svg)
	if part == nil {
		t.Fatal("no axis with a subscript")
	}
	var at [3]float64
	for i := range at {
		if at[i], err = strconv.ParseFloat(part[i+1], 64); err != nil {
			t.Fatal(err)
		}
	}
	if end := at[0] + at[1]; end < at[2]-0.2 || end > at[2]+0.2 {
		t.Errorf("the word ends at %v, its subscript begins at %v", end, at[2])
	}
}
