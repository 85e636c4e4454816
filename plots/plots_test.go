package plots

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mldpbench/results"
)

func TestSameFiles(t *testing.T) {
	records := syntheticRecords(5)
	dir := os.Getenv("MLDP_LOOK") // a folder to keep the figures in, for looking at them
	if dir == "" {
		dir = t.TempDir()
		// a part is sufficient
		records = slices.DeleteFunc(records, func(r results.Record) bool {
			return r.Dimension != 50 || r.Dataset != "generated-topics"
		})
	}
	figures, _ := All(records)
	paths, err := Save(dir, figures, Formats)
	if err != nil {
		t.Fatal(err)
	}
	figures, _ = All(records)
	again, err := Save(t.TempDir(), figures, Formats)
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) != len(again) || len(paths) == 0 {
		t.Fatalf("%d paths, then %d", len(paths), len(again))
	}
	for i, p := range paths {
		a, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(again[i])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs between two runs", filepath.Base(p))
		}
	}
}

func TestGeneratedInEveryTitle(t *testing.T) {
	figures, _ := All(syntheticRecords(2))
	for _, f := range figures {
		if !strings.Contains(f.Title, "generated data") {
			t.Errorf("%s: title %q does not say that data are generated", f.Name, f.Title)
		}
	}
}

func TestNoRecords(t *testing.T) {
	if figures, _ := All(nil); len(figures) != 0 {
		t.Error("no records: a figure")
	}
	r := results.NewRecord()
	r.Mechanism = "cmp"
	figures, skipped := All([]results.Record{r})
	if len(figures) != 0 || len(skipped) != len(kinds) {
		t.Errorf("a record without metrics: %d figures, %d skipped", len(figures), len(skipped))
	}
	for _, s := range skipped {
		if s.Reason == "" {
			t.Errorf("%s: skipped without a reason", s.Name)
		}
	}
}

// TestAudit looks at the shape of an audit on invented rows (TEST DATA).
func TestAudit(t *testing.T) {
	var rows []results.AuditRow
	for _, e := range []float64{1, 5, 10} {
		rows = append(rows,
			results.AuditRow{Mechanism: "cmp", Variant: "proved", Epsilon: e, Promises: true, Lower: 0.6 * e},
			results.AuditRow{Mechanism: "tem", Variant: "proved", Epsilon: e, Promises: true, Lower: 0.99 * e,
				Exact: true},
			results.AuditRow{Mechanism: "vickrey", Variant: "proved", Epsilon: e, Promises: true, Lower: 0.4 * e},
			results.AuditRow{Mechanism: "vickrey", Variant: "printed", Epsilon: e, Lower: math.Inf(1), Violated: true},
			results.AuditRow{Mechanism: "vickrey", Variant: "released", Epsilon: e, Lower: 3 * e, Violated: true},
		)
	}
	file := filepath.Join(t.TempDir(), "audit.csv")
	if err := results.WriteAudit(file, rows); err != nil {
		t.Fatal(err)
	}
	read, err := results.ReadAudit(file)
	if err != nil || !slices.Equal(read, rows) {
		t.Fatalf("read back %v, %v", read, err)
	}
	f, err := Audit(rows, "Audit of claimed guarantees — test data")
	if err != nil {
		t.Fatal(err)
	}
	dir := os.Getenv("MLDP_LOOK")
	if dir == "" {
		dir = t.TempDir()
	}
	if _, err := Save(dir, []Figure{f}, Formats); err != nil {
		t.Fatal(err)
	}
	if _, err := Audit(nil, "nothing"); err == nil {
		t.Error("no rows: no error")
	}
}

// Regression: long names next to three panels left no room for the bars, which
// were all drawn at one position.
func TestLongNamesLeaveRoomForBars(t *testing.T) {
	records := slices.DeleteFunc(syntheticRecords(1), func(r results.Record) bool { return r.Dimension != 50 })
	for i := range records {
		if records[i].Mechanism == "tem" {
			records[i].Parameters = "gamma=" + []string{"theorem-three-as-published", "a-half"}[i%2]
		}
	}
	figures, err := pucFigures(newStudy(records))
	if err != nil {
		t.Fatal(err)
	}
	svg, err := figures[0].Render("svg")
	if err != nil {
		t.Fatal(err)
	}
	position := regexp.MustCompile(`<text x="([-0-9.]+)" y="([-0-9.]+)"[^>]*>(CMP|Mahalanobis|SanText)<`)
	heights := map[string]bool{}
	for _, m := range position.FindAllSubmatch(svg, -1) {
		heights[string(m[2])] = true
	}
	if len(heights) < 3 {
		t.Errorf("three names stand at %d heights", len(heights))
	}
}
