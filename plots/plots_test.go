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

	"mldpbench/results"
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

// A mechanism has one look in every study, whatever else is shown; a panel names
// at most eight, and all panels of a run the same.
func TestOneLookAndAtMostEight(t *testing.T) {
	looks := map[results.Instance]Style{}
	for _, study := range []string{"mini", "extended", "attacks", "comparative"} {
		p := reference(t, study)
		part := p.Select(func(c results.Cell) bool { return c.Mechanism == "cmp" || c.Mechanism == "tem" })
		for _, v := range []*view{newView(p), newView(part)} {
			for id, style := range v.styles {
				if old, ok := looks[id]; ok && old != style {
					t.Errorf("%s: %v is %+v, elsewhere %+v", study, id, style, old)
				}
				looks[id] = style
			}
			for _, x := range []string{results.EM, epsilon} {
				var panels []Panel
				for _, s := range v.scenes("accuracy") {
					panels = append(panels, v.panel(s, x, "accuracy"))
				}
				v.limit(panels)
				for _, q := range panels {
					named := 0
					for _, c := range q.Curves {
						if !c.Style.Subdued && !c.Style.Reference {
							named++
						}
					}
					if named > maxCurves {
						t.Errorf("%s, %s against %s: %d named curves", study, q.Title, x, named)
					}
				}
			}
		}
	}
}

// The two that lead at equal privacy are named, not grey.
func TestLeadersAreNamed(t *testing.T) {
	v := newView(reference(t, "extended"))
	if len(v.named) != maxCurves {
		t.Errorf("%d mechanisms are named", len(v.named))
	}
	for _, name := range []string{"rank-fix", "kth"} {
		if !slices.ContainsFunc(v.curves, func(id results.Instance) bool { return id.Mechanism == name && v.named[id] }) {
			t.Errorf("%s leads and is grey", name)
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
		"mini": {"accuracy", "frontier"}, "extended": {"frontier", "metric"}, "attacks": {"attacks"},
	} {
		figures, _ := All(reference(t, study), kinds...)
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
	f, err := Curves("x", "x", "A title \x00\x1b[31m ]]> \xff", []Panel{{
		Title: "set <1>\x07", X: Axis{Label: "ε"}, Y: Axis{Label: "accuracy in %"},
		Curves: []Curve{{Label: "a \"b\" & c\x01", Points: []Point{{X: 1, Y: 75.5, Low: 70, High: 81}, Exactly(5, 80)}}},
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
	for _, want := range []string{`<g class="series" data-s="a &#34;b&#34; &amp; c` + "\ufffd" + `">`,
		`data-p="accuracy in % 75.5 (70 to 81) at ε 1"`, "<title"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(string(svg), "<text") {
		t.Error("a file needs the reader's fonts")
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
	figures, _ := All(prepared(t, rows), "accuracy", "frontier")
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
	figures, _ := All(prepared(t, rowsOf("v", "a", "cmp", "tem")), "accuracy")
	f := figures[0]
	if a, b := f.Inline(), f.In(Theme{}).Inline(); a != b {
		t.Error("the usual theme draws another figure")
	}
	bare := f.In(Theme{Width: 3.03 * vg.Inch, FontSize: 9, NoTitle: true, NoNotes: true})
	width, height := bare.Size()
	if math.Abs(float64(width-3.03*vg.Inch)) > 1e-9 || height <= 0 {
		t.Errorf("%v × %v", width, height)
	}
	if svg := bare.Inline(); strings.Contains(svg, ">Accuracy against") || strings.Contains(svg, "repetitions") {
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
	again := figures[0].In(Theme{Width: 3.03 * vg.Inch, FontSize: 9, NoTitle: true, NoNotes: true})
	for _, format := range Formats {
		a, err1 := bare.Render(format)
		b, err2 := again.Render(format)
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: two runs differ (%v, %v)", format, err1, err2)
		}
	}
}

// Lines of a single panel are named at their ends, without a legend.
func TestLabelsAtTheEnds(t *testing.T) {
	figures, _ := All(prepared(t, rowsOf("v", "a", "cmp", "tem")), "accuracy")
	if f := figures[0]; len(f.layout.legend) > 0 || !strings.Contains(f.Inline(), ">TEM<") {
		t.Errorf("legend %v", f.layout.legend)
	}
}

// The line of the best joins full guarantees only, references aside.
func TestFront(t *testing.T) {
	points := front([]Curve{
		{Label: "full", Points: []Point{Exactly(0.5, 70), Exactly(0.4, 60)}},
		{Label: "scoped", Style: Style{Scoped: true}, Points: []Point{Exactly(0.6, 90)}},
		{Label: "none", Style: Style{Hollow: true}, Points: []Point{Exactly(0.9, 99)}},
		{Label: "uniform", Style: Style{Reference: true}, Points: []Point{Exactly(1, 50)}},
	})
	if len(points) != 1 || points[0].Y != 70 || points[0].At != "full" {
		t.Errorf("the best are %v", points)
	}
}

func TestGeneratedInEveryTitle(t *testing.T) {
	figures, skipped := All(reference(t, "mini"))
	for _, f := range figures {
		if !strings.Contains(f.Title, "generated data") {
			t.Errorf("%s: title %q does not say that data are generated", f.Name, f.Title)
		}
	}
	for _, s := range skipped {
		if s.Reason == "" || !slices.ContainsFunc(kinds, func(k kind) bool { return k.name == s.Name }) {
			t.Errorf("skipped: %+v", s)
		}
	}
	if figures, skipped := All(&results.Prepared{}); len(figures) != 0 || len(skipped) != len(kinds) {
		t.Errorf("of nothing: %d figures, %d skipped", len(figures), len(skipped))
	}
}

// One repetition has the interval over its test items: 90 right of 120 are 66.3
// to 82.5% (Clopper–Pearson).
func TestOneRepetitionHasItsItems(t *testing.T) {
	c := results.Cell{}
	c.Set("accuracy", results.Share(90, 120))
	p, ok := mean([]results.Cell{c}, "accuracy")
	if !ok || p.Y != 75 || math.Abs(p.Low-66.27) > 0.01 || math.Abs(p.High-82.45) > 0.01 {
		t.Errorf("%+v, %v", p, ok)
	}
}

// The axis of an attacker's share ends where the share does, but for half a marker,
// and has no mark beyond.
func TestSharesEndAtOne(t *testing.T) {
	r, axis := newRange(axisOf(nil, results.AttackerQuantity("mine", "accuracy"))), plot.Axis{}
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
