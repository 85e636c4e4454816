package embeddings

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A copy gives the same space as learning; a copy that is damaged, from another
// program, or without a folder is not used.
func TestLearnedIsRememberedByItsProgram(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	times := 0
	learned := func(dir string) *Space {
		t.Helper()
		s, err := Learned(t.Context(), dir, "small", 3, func() (*Space, error) {
			times++
			return LearnPPMI("small", slotSentences(50), 3)
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := learned(dir)
	file := filepath.Join(dir, "small.3d.learned.cache")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again := learned(dir)
	if times != 1 || again.Name != first.Name || again.Fingerprint() != first.Fingerprint() ||
		!slices.Equal(again.Vectors, first.Vectors) || !slices.Equal(again.Vocabulary.Words(), first.Vocabulary.Words()) {
		t.Errorf("learned %d times, or another space", times)
	}
	if _, ok, _ := fromCache(t.Context(), file, "another program", file, LoadOptions{}); ok {
		t.Error("another program's vectors were taken")
	}
	damaged := slices.Clone(whole)
	damaged[0] ^= 1
	if err := os.WriteFile(file, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	if s := learned(dir); times != 2 || s.Fingerprint() != first.Fingerprint() {
		t.Errorf("learned %d times after damage", times)
	}
	if repaired, err := os.ReadFile(file); err != nil || !slices.Equal(repaired, whole) {
		t.Errorf("a damaged copy stays (%v)", err)
	}
	if learned(""); times != 3 {
		t.Error("a copy was used that nobody asked for")
	}
	failed := errors.New("failed")
	if _, err := Learned(t.Context(), dir, "other", 3, func() (*Space, error) { return nil, failed }); err != failed {
		t.Errorf("err = %v", err)
	}
}
