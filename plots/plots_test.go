package plots

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"gonum.org/v1/plot"

	_ "mldpbench/experiments/measure" // names of attackers' quantities
	"mldpbench/internal/records"
	"mldpbench/results"
	"mldpbench/results/views"
)

// rowsOf is TEST DATA: invented numbers in the shape of a study of one data set.
func rowsOf(space, dataset string, names ...string) []results.Row {
	var out []results.Row
	for i, name := range names {
		for k, e := range []float64{1, 5, 10} {
			for rep := range 3 {
				r := results.NewRow()
				r.Study, r.Key, r.Dataset = "test", fmt.Sprint(space, dataset, name, e), dataset
				r.Embedding, r.Dimension = space, 50
				r.Mechanism, r.Variant, r.Epsilon, r.Repetition = name, "proved", results.Float(e), rep
				r.Model, r.Setting, r.GuaranteeMetric = "svm", "local", "euclidean"
				out = append(out, r.Of("accuracy", results.Number(60+10*float64(k)+float64(i+rep))))
				r.Model, r.Setting = "", ""
				out = append(out, r.Of("e_m_map", results.Number(0.9-0.3*float64(k)-0.01*float64(i))))
			}
		}
	}
	return out
}

func prepared(t testing.TB, rows []results.Row) *results.Prepared {
	t.Helper()
	p, err := results.Prepare(results.Run{Name: "test", Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// draw returns the figures of some views of the program, of all without a name.
func drawn(p *results.Prepared, names ...string) ([]Figure, []Skip) {
	return All(p, results.Where(views.Builtin().Figures, func(v views.View) bool {
		return len(names) == 0 || slices.Contains(names, v.Name)
	}))
}

// A panel names at most eight mechanisms, the same ones in all panels of a run, and no
// two of one figure have one marker; leaders are among them.
func TestAtMostEightWithTheirMarkers(t *testing.T) {
	for _, study := range []string{"mini", "extended", "attacks", "comparative"} {
		figures, _ := drawn(records.View(t, study), "frontier", "attacks")
		if len(figures) == 0 {
			t.Fatalf("%s: no figures", study)
		}
		for _, f := range figures {
			markers := map[int]string{}
			for _, p := range f.panels {
				named := 0
				for _, c := range p.Curves {
					if c.Style.Subdued {
						continue
					}
					if !c.Style.Reference {
						named++
					}
					if other, taken := markers[c.Style.Marker]; taken && other != c.Label {
						t.Errorf("%s, %s: %s and %s have one marker", study, f.Name, c.Label, other)
					}
					markers[c.Style.Marker] = c.Label
				}
				if named > maxCurves {
					t.Errorf("%s, %s: %d named curves", study, f.Name, named)
				}
			}
		}
	}
	v := newView(records.View(t, "extended"))
	for _, name := range []string{"rank-fix", "cmp", "diffractor"} {
		if !slices.ContainsFunc(v.curves, func(id results.Place) bool { return id.Mechanism == name && v.named[id] }) {
			t.Errorf("%s is grey", name)
		}
	}
}

var written = regexp.MustCompile(
	`<text x="([-0-9.]+)" y="([-0-9.]+)" font-size="([0-9.]+)"( font-weight="bold")?[^>]*>([^<]*)<`)

// No text is printed over another.
func TestTextsDoNotTouch(t *testing.T) {
	type box struct {
		x0, x1, y0, y1 float64
		text           string
	}
	for study, kinds := range map[string][]string{
		"mini": {"epsilon", "frontier"}, "extended": {"frontier", "deniability", "values"}, "attacks": {"attacks"},
	} {
		figures, _ := drawn(records.View(t, study), kinds...)
		if len(figures) == 0 {
			t.Fatalf("%s: no figures", study)
		}
		for _, f := range figures {
			var boxes []box
			for _, m := range written.FindAllStringSubmatch(f.Inline(), -1) {
				if strings.Contains(m[0], "rotate") {
					continue
				}
				number := func(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v }
				x, y, size := number(m[1]), number(m[2]), number(m[3])
				style := textStyle(vg.Length(size), m[4] != "")
				b := box{x, x + float64(style.Width(html.UnescapeString(m[5]))), y - 0.65*size, y, m[5]}
				for _, o := range boxes {
					if b.x0 < o.x1-0.2 && o.x0 < b.x1-0.2 && b.y0 < o.y1-0.2 && o.y0 < b.y1-0.2 {
						t.Errorf("%s %s: %q touches %q", study, f.Name, b.text, o.text)
					}
				}
				boxes = append(boxes, b)
			}
			if len(boxes) < 10 {
				t.Errorf("%s %s: only %d texts were found", study, f.Name, len(boxes))
			}
		}
	}
}

func wellFormedXML(t *testing.T, data []byte) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
}

// A drawing is well-formed whatever a name contains, and carries its points.
func TestSVG(t *testing.T) {
	f, err := Curves("x", "A title \x00\x1b[31m ]]> \xff", []Panel{{
		Title: "set <1>\x07", X: Axis{Label: "ε"}, Y: Axis{Label: "accuracy in %"},
		Curves: []Curve{{Label: "a \"b\" & c\x01", Points: []Point{{X: 1, Y: 75.5, Low: 70, High: 81}, {X: 5, Y: 80, Low: math.NaN(), High: math.NaN()}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	svg, err := f.Render("svg")
	if err != nil {
		t.Fatal(err)
	}
	wellFormedXML(t, svg)
	wellFormedXML(t, []byte(f.Inline()))
	for _, want := range []string{`<g class="series" data-s="a &#34;b&#34; &amp; c` + "\ufffd" + `">`, "<title"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %s", want)
		}
	}
	for _, format := range []string{"png", "pdf"} {
		if data, err := f.Render(format); err != nil || len(data) == 0 {
			t.Errorf("%s: %v", format, err)
		}
	}
	if _, err := f.Render("gif"); err == nil {
		t.Error("gif: no error")
	}
}

// Names that make one file name do not overwrite each other.
func TestUniqueNames(t *testing.T) {
	rows := append(rowsOf("V x", "a", "cmp"), rowsOf("v-x", "a", "cmp")...)
	figures, _ := drawn(prepared(t, rows), "epsilon", "frontier")
	taken := map[string]bool{}
	for _, f := range figures {
		if taken[f.Name] {
			t.Errorf("two figures are called %s", f.Name)
		}
		taken[f.Name] = true
	}
	if len(figures) != 4 {
		t.Errorf("%d figures", len(figures))
	}
}

func TestTheme(t *testing.T) {
	figures, _ := drawn(prepared(t, rowsOf("v", "a", "cmp", "tem")), "frontier")
	f := figures[0]
	if a, b := f.Inline(), f.In(Theme{}).Inline(); a != b {
		t.Error("the usual theme draws another figure")
	}
	bare := f.In(Theme{Width: 3.03 * vg.Inch, Bare: true})
	if math.Abs(float64(bare.width-3.03*vg.Inch)) > 1e-9 || bare.height <= 0 {
		t.Errorf("%v × %v", bare.width, bare.height)
	}
	if svg := bare.Inline(); strings.Contains(svg, ">Accuracy in") || strings.Contains(svg, "repetitions") {
		t.Error("title or notes are left")
	}
	dir := t.TempDir()
	paths, err := Save(dir, []Figure{bare}, Formats)
	if err != nil || len(paths) != 4 {
		t.Fatalf("%q, %v", paths, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, bare.Name+".txt"))
	if err != nil || !strings.Contains(string(text), "95% t interval") || !strings.HasPrefix(string(text), "Accuracy") {
		t.Errorf("%q, %v", text, err)
	}
	again := figures[0].In(Theme{Width: 3.03 * vg.Inch, Bare: true})
	for _, format := range Formats {
		a, err1 := bare.Render(format)
		b, err2 := again.Render(format)
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: two runs differ (%v, %v)", format, err1, err2)
		}
	}
}

func TestGeneratedInEveryTitle(t *testing.T) {
	figures, skipped := drawn(records.View(t, "mini"))
	for _, f := range figures {
		if !strings.Contains(f.Title, "generated data") {
			t.Errorf("%s: title %q does not say that data are generated", f.Name, f.Title)
		}
	}
	for _, s := range skipped {
		if s.Reason == "" || s.Name == "" {
			t.Errorf("skipped: %+v", s)
		}
	}
	if figures, skipped := drawn(&results.Prepared{}); len(figures) != 0 || len(skipped) != 5 {
		t.Errorf("of nothing: %d figures, %d skipped", len(figures), len(skipped))
	}
}

// The axis of an attacker's share ends where the share does, but for half a marker,
// and has no mark beyond.
func TestSharesEndAtOne(t *testing.T) {
	r, axis := newRange(axisOf(results.MustColumn(results.AttackerQuantity("mine", "accuracy")))), plot.Axis{}
	r.add(1)
	r.apply(&axis, 0.05)
	if axis.Max > 1.05 || axis.Min < -0.05 {
		t.Errorf("from %v to %v", axis.Min, axis.Max)
	}
	for _, tick := range axis.Tick.Marker.Ticks(axis.Min, axis.Max) {
		if tick.Value < 0 || tick.Value > 1 {
			t.Errorf("a mark at %v", tick.Value)
		}
	}
}
