package plots

import (
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mldpbench/results/quantity"

	"gonum.org/v1/plot/vg"

	_ "mldpbench/experiments/measure" // names of attackers' quantities
	"mldpbench/internal/list"
	"mldpbench/internal/records"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/results/analysis"
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
				out = append(out, r.Of("em", results.Number(0.9-0.3*float64(k)-0.01*float64(i))))
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
func drawn(p *results.Prepared, names ...string) ([]Figure, []string) {
	return All(analysis.Of(p, quantity.Levels{}), results.Where(views.Builtin().Figures, func(v views.View) bool {
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
	v := newView(analysis.Of(records.View(t, "extended"), quantity.Levels{}))
	for _, name := range []string{"rank-fix", "cmp", "diffractor"} {
		if !slices.ContainsFunc(v.curves, func(id results.Place) bool { return id.Mechanism == name && v.named[id] }) {
			t.Errorf("%s is grey", name)
		}
	}
}

var written = regexp.MustCompile(
	`<text x="([-0-9.]+)" y="([-0-9.]+)" font-size="([0-9.]+)"( font-weight="bold")?[^>]*>([^<]*)<`)

// No text is printed over another, and titles say where data are generated.
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
			if strings.Contains(f.Title, "generated data") != (study == "mini") {
				t.Errorf("%s: title %q", study, f.Title)
			}
			var boxes []box
			for _, m := range written.FindAllStringSubmatch(f.Inline(), -1) {
				if strings.Contains(m[0], "rotate") {
					continue
				}
				number := func(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v }
				x, y, size := number(m[1]), number(m[2]), number(m[3])
				style := textStyle(regular(vg.Length(size)))
				if m[4] != "" {
					style = textStyle(bold(vg.Length(size)))
				}
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

// A drawing is well-formed whatever a name contains, and carries its points.
func TestSVG(t *testing.T) {
	f, err := curvesFigure("x", "A title \x00\x1b[31m ]]> \xff", []Panel{{
		Title: "set <1>\x07", X: Axis{Label: "ε"}, Y: Axis{Label: "accuracy in %"},
		Curves: []Curve{{Label: "a \"b\" & c\x01", Points: []Point{{1, 75.5, 70, 81}, {5, 80, math.NaN(), math.NaN()}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	svg, err := f.Render("svg")
	for _, data := range []string{string(svg), f.Inline()} {
		for d := xml.NewDecoder(strings.NewReader(data)); err == nil; {
			_, err = d.Token()
		}
		if err != io.EOF {
			t.Fatalf("not well-formed: %v", err)
		}
		err = nil
	}
	for _, want := range []string{`<g class="series" data-s="a &#34;b&#34; &amp; c` + "\ufffd" + `">`, "<title"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestTheme(t *testing.T) {
	none, skipped := drawn(&results.Prepared{})
	if len(none) != 0 || len(skipped) != len(views.Builtin().Figures) {
		t.Errorf("of nothing %d figures, skipped %v", len(none), skipped)
	}
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
	saved, err := Save(t.TempDir(), []Figure{bare}, Formats)
	paths := saved.Paths
	if err != nil || len(paths) != 4 {
		t.Fatalf("%q, %v", paths, err)
	}
	text, err := os.ReadFile(paths[3])
	if err != nil || !strings.Contains(string(text), "95% t interval") || !strings.HasPrefix(string(text), "Accuracy") {
		t.Errorf("%q, %v", text, err)
	}
}

// Names in letters that the font lacks, or that are not written from left to right, are
// never left out without a word: PNG and PDF are refused, the SVG has them.
func TestLettersThatTheFontLacks(t *testing.T) {
	for _, c := range []struct {
		label, dataset string
		refused        bool
	}{
		{"Δίκτυο", "новости", false}, {"Łódź ‰ ε†", "naïve", false}, {"機構", "news", true}, {"cmp", "समाचार", true},
		{"กลไก", "news", true}, {"آلية", "news", true}, {"מנגנון", "news", true}, {"ours 🙂", "news", true},
	} {
		rows := rowsOf("v", c.dataset, "cmp", "tem")
		for i := range rows {
			if rows[i].Mechanism == "cmp" {
				rows[i].Label = c.label
			}
		}
		figures, _ := drawn(prepared(t, rows), "frontier")
		saved, err := Save(t.TempDir(), figures[:1], Formats)
		if err != nil {
			t.Fatal(err)
		}
		wrote, refused := len(Formats), 0
		if c.refused {
			wrote, refused = 1, 2
		}
		if len(saved.Paths) != wrote || len(saved.Refused) != refused {
			t.Errorf("%s on %s: %d files and %q, want %d files and %d refused", c.label, c.dataset, len(saved.Paths),
				saved.Refused, wrote, refused)
			continue
		}
		if !c.refused {
			continue
		}
		svg, err := os.ReadFile(saved.Paths[0])
		if err != nil || !strings.Contains(string(svg), c.label) || !strings.Contains(string(svg), c.dataset) {
			t.Errorf("%s on %s: the SVG lacks one of the names (%v)", c.label, c.dataset, err)
		}
		if !strings.Contains(saved.Refused[0], "take --format svg") {
			t.Errorf("%s: refused with %q, want the way out", c.label, saved.Refused[0])
		}
	}
}

// Any two mechanisms differ in marker or dash.
func TestLooksApart(t *testing.T) {
	type look struct{ marker, dash int }
	seen := map[look]string{}
	for _, d := range mechanisms.Definitions() {
		for _, v := range d.Variants {
			own := lookOf(d.Name)
			_, variant := rank(results.Place{Mechanism: d.Name, Variant: string(v)})
			at := look{own.Marker, (own.Dash + 3*variant) % len(dashes)}
			if other, taken := seen[at]; taken {
				t.Errorf("%s, %s and %s share marker and dash", d.Name, v, other)
			}
			seen[at] = d.Name + ", " + string(v)
		}
	}
}

// Comparison at equal privacy is drawn by a view of five lines: the numbers of the
// alignment over their levels, and what is kept of plain text.
func TestEqualPrivacyIsDrawn(t *testing.T) {
	declared, err := views.Parse("mine.yaml", []byte(
		"figures:\n- name: kept\n  from: equal\n  y: [accuracy]\n  curve: [mechanism]\n  panel: [dataset]\n"))
	if err != nil {
		t.Fatal(err)
	}
	analysed := analysis.Of(records.View(t, "extended"), quantity.Levels{})
	figures, _ := All(analysed, declared.Figures)
	if len(figures) != 1 || figures[0].Title != "Accuracy in % at equal privacy, glove.6B d=100, svm (local)" {
		t.Fatalf("%d figures", len(figures))
	}
	drawn := 0
	for _, level := range []float64{0.5, 0.8} {
		for _, a := range analysed.Alignments("", level) {
			i := slices.IndexFunc(figures[0].panels, func(q Panel) bool { return q.Title == results.DatasetTitle(a.Dataset) })
			if i < 0 {
				continue // over all data sets
			}
			panel := figures[0].panels[i]
			if len(panel.Levels) != 1 || panel.Levels[0].Y != a.Baseline {
				t.Errorf("%s: %+v", a.Dataset, panel.Levels)
			}
			for _, l := range a.Lines {
				points := slices.DeleteFunc(slices.Concat(list.Map(panel.Curves, func(c Curve) []Point { return c.Points })...),
					func(q Point) bool { return q != Point{level, l.Value, l.Low, l.High} })
				if l.Reached != (len(points) == 1) {
					t.Errorf("%s, %s at %g: reached %v, %d points", a.Dataset, l.Name, level, l.Reached, len(points))
				}
				drawn += len(points)
			}
		}
	}
	if drawn < 60 {
		t.Errorf("only %d points", drawn)
	}
}
