package datasets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/stream"
)

// The two texts of a pair are cleaned and cut alone, and one row: equal first texts
// with other second ones may be in other splits, and have other fingerprints.
func TestPairs(t *testing.T) {
	root := t.TempDir()
	load := func(rows ...string) *Dataset {
		t.Helper()
		text := "sentence_a,sentence_b,paraphrase\n" + strings.Join(rows, "\n") + "\n"
		if err := os.WriteFile(filepath.Join(root, "mrpc.csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Load(t.Context(), Request{Name: "mrpc", Root: root, MaxTokens: 3, ByHash: true,
			Seed: stream.FromUint64(1)})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	rows := []string{`"One, two; three four",Five!,1`, `"...",six seven,0`}
	for _, second := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		rows = append(rows, "the same,"+second+",1")
	}
	d := load(rows...)
	splits := map[string]bool{}
	for _, split := range d.Splits() {
		for _, doc := range split.Documents {
			switch {
			case doc.ID == 0 && (!slices.Equal(doc.Tokens, []string{"one", "two", "three", "five"}) || doc.First != 3):
				t.Errorf("tokens %q, the second text from %d on; want three of the first and one", doc.Tokens,
					doc.First)
			case doc.ID == 1 && (len(doc.Tokens) != 2 || doc.First != 0):
				t.Errorf("tokens %q, the second text from %d on; want two of the second", doc.Tokens, doc.First)
			case doc.ID > 1:
				splits[split.Name] = true
			}
		}
	}
	if len(splits) < 2 {
		t.Errorf("ten pairs of one first text are all in %v, want more than one split", splits)
	}
	moved := load(append([]string{`one two three,five,1`, "six,seven,0"}, rows[2:]...)...)
	again := load(append([]string{`one two,three five,1`, "six,seven,0"}, rows[2:]...)...)
	if moved.Fingerprint == again.Fingerprint {
		t.Error("two data sets whose second texts begin elsewhere have one fingerprint")
	}
}
