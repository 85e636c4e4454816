package embeddings

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.txt")
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "w%d %d %d\n", i, i, -i)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	even := func(w string) bool { return w[len(w)-1]%2 == 0 }
	cache := t.TempDir()
	for range 2 { // from text, from the copy
		s, err := Load(context.Background(), path, LoadOptions{Keep: First(3, even), CacheDir: cache})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(s.Vocabulary.Words()); got != "[w0 w2 w4]" {
			t.Errorf("words %s, want the first three even ones", got)
		}
	}
	if First(0, nil) != nil {
		t.Error("no limit on all words is a function, want none")
	}
	all := First(100, nil)
	for _, w := range []string{"a", "a", "b"} { // "a" as in a second reading
		if !all(w) {
			t.Errorf("%q is not taken", w)
		}
	}
}

// A file is read into one allocation where its size gives the number of rows.
func TestLoadReserves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.txt")
	var b strings.Builder
	const words = 60_000 // more than one block
	for i := range words {
		fmt.Fprintf(&b, "word%d 0.125 %d.5 -0.25 17\n", i, i%10)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Load(context.Background(), path, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != words {
		t.Fatalf("%d words, want %d", s.Len(), words)
	}
	if spare := float64(cap(s.Vectors))/float64(len(s.Vectors)) - 1; spare > 0.06 {
		t.Errorf("%.0f%% of the vectors' memory is spare", 100*spare)
	}
}

func TestCheckMemory(t *testing.T) {
	const gib = 1 << 30
	if err := checkMemory("v.vec", 2_000_000, 300, 16*gib); err != nil {
		t.Error(err)
	}
	if err := checkMemory("v.vec", 2_000_000, 300, 0); err != nil {
		t.Error("unknown memory is refused:", err)
	}
	err := checkMemory("v.vec", 2_000_000, 300, 2*gib)
	if err == nil {
		t.Fatal("2.4 GB of vectors fit 2 GiB")
	}
	for _, want := range []string{"v.vec: 2000000 words × 300", "2.5 GiB", "2.0 GiB are free", "first 842000",
		"--vocabulary"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if free := freeMemory(); free < 0 {
		t.Errorf("%d bytes are free", free)
	}
}
