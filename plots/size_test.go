package plots

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

// A resized figure has the given width and labels of the given size, after any
// scaling.
func TestResized(t *testing.T) {
	figures, err := accuracyFigures(newStudy(syntheticRecords(2)))
	if err != nil {
		t.Fatal(err)
	}
	f := figures[0]
	same := f.Resized(ColumnWidth, FontSize)
	if a, b := render(t, f), render(t, same); a != b {
		t.Error("the usual size draws another figure")
	}
	wide := f.Resized(PageWidth, 10)
	width, height := wide.Size()
	_, low := f.Size()
	if math.Abs(float64(width-PageWidth)) > 1e-9 || !(height > 0) || height == low || wide.Name != f.Name ||
		wide.Title != f.Title {
		t.Errorf("%v × %v, %q", width, height, wide.Name)
	}
	svg := render(t, wide)
	scale := regexp.MustCompile(`<g transform="scale\(([0-9.]+),[0-9.]+\)"`).FindStringSubmatch(svg)
	if scale == nil {
		t.Fatal("nothing is enlarged")
	}
	by, err := strconv.ParseFloat(scale[1], 64)
	if err != nil || math.Abs(by*FontSize-10) > 1e-6 {
		t.Errorf("labels of %v points are drawn %v times as large, want 10 points", FontSize, scale[1])
	}
}

func render(t *testing.T, f Figure) string {
	t.Helper()
	svg, err := f.Render("svg")
	if err != nil {
		t.Fatal(err)
	}
	return string(svg)
}
