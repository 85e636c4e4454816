package nearest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
)

// cachedSpace loads n random words, some at the same place, from a cache.
func cachedSpace(t *testing.T, path, dir string) *embeddings.Space {
	t.Helper()
	s, err := embeddings.Load(t.Context(), path, embeddings.LoadOptions{CacheDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if s.File() == "" {
		t.Fatal("the space is not in a file")
	}
	return s
}

func randomVectors(t *testing.T, n, d int, seed uint64) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var rows strings.Builder
	for i := range n {
		fmt.Fprintf(&rows, "w%d", i)
		for range d {
			fmt.Fprintf(&rows, " %d", rng.IntN(7)-3)
		}
		rows.WriteString("\n")
	}
	path := filepath.Join(t.TempDir(), "v.txt")
	if err := os.WriteFile(path, []byte(rows.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPanelsBesideTheSpace searches with panels that are made, opened, damaged, and of other vectors,
// on every path: results are those of a scan of all words.
func TestPanelsBesideTheSpace(t *testing.T) {
	const n, d = 600, 9
	path := randomVectors(t, n, d, 1)
	dir := t.TempDir()
	queries := normal(rand.New(rand.NewPCG(2, 2)), 50*d, 2)
	search := func(what string) {
		t.Helper()
		kernel.OnPaths(func(name string) { agree(t, what+", "+name, Of(cachedSpace(t, path, dir)), queries, 3, nil) })
	}
	search("made")
	search("opened")
	files, err := filepath.Glob(filepath.Join(dir, "*.panels"))
	if err != nil || len(files) == 0 {
		t.Fatalf("panels %q, %v, want some", files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for i, damaged := range [][]byte{{}, data[:len(data)/2], flipped(data, 2), flipped(data, len(data)/2),
			flipped(data, len(data)-1)} {
			if err := os.WriteFile(f, damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			search(fmt.Sprintf("damage %d of %s", i, filepath.Ext(strings.TrimSuffix(f, ".panels"))))
		}
	}
	other, err := os.ReadFile(randomVectors(t, n, d, 3))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, other, 0o644); err != nil {
		t.Fatal(err)
	}
	search("of other vectors before")
}

// flipped is a copy with a bit of a byte changed.
func flipped(data []byte, at int) []byte {
	changed := slices.Clone(data)
	changed[at] ^= 4
	return changed
}

// TestOthersBesideTheSpace: the nearest other words are the same when they are found, kept, and kept
// of other words or vectors before.
func TestOthersBesideTheSpace(t *testing.T) {
	const n, d = 600, 4
	path := randomVectors(t, n, d, 1)
	dir := t.TempDir()
	for round := range 3 {
		if round == 2 {
			other, err := os.ReadFile(randomVectors(t, n, d, 3))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, other, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, reversed := range []bool{false, false, true} {
			s := cachedSpace(t, path, dir)
			words := s.Vocabulary.IDs()[:n-1]
			if reversed {
				slices.Reverse(words)
			}
			want := Of(s).Others(words)
			got := Of(s).OthersKept(words)
			if !slices.Equal(got, want) {
				t.Errorf("round %d, reversed %v: others %v, want %v", round, reversed, got[:9], want[:9])
			}
		}
	}
	kept, err := filepath.Glob(filepath.Join(dir, "*.others"))
	if err != nil || len(kept) != 1 {
		t.Errorf("kept %q, %v, want one file", kept, err)
	}
}

// TestFewQueriesNeedNoPanels counts the queries that are answered without them.
func TestFewQueriesNeedNoPanels(t *testing.T) {
	s, err := embeddings.Load(t.Context(), randomVectors(t, 100, 4, 1), embeddings.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x := newIndex(s)
	made := 0
	panels := x.panels
	x.panels = func() *packed {
		made++
		return panels()
	}
	for _, c := range []struct{ queries, made int }{{1, 0}, {fewQueries - 2, 0}, {1, 0}, {1, 1}, {fewQueries, 2}} {
		agree(t, fmt.Sprint(c.queries, " queries"), x, s.Vectors[:c.queries*4], 2, nil)
		if made != c.made {
			t.Errorf("%d queries more: panels asked for %d times, want %d", c.queries, made, c.made)
		}
	}
}
