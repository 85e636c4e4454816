package plots

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/results"
)

func TestWriteAll(t *testing.T) {
	records := syntheticRecords(5)
	dir := os.Getenv("MLDP_LOOK") // a folder to keep the figures in, for looking at them
	if dir == "" {
		dir = t.TempDir()
	}
	paths, err := WriteAll(dir, records)
	if err != nil {
		t.Fatal(err)
	}
	again, err := WriteAll(t.TempDir(), records)
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
	if _, err := WriteAll(t.TempDir(), nil); err == nil {
		t.Error("no records: no error")
	}
	var r results.Record
	blank(&r)
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
