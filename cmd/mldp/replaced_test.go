package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An evaluation whose privatised texts were all replaced by "the movie" has
// changed, for compare and for the gate, although original, labels and number of
// documents are the same.
func TestReplacedEvaluation(t *testing.T) {
	t.Chdir(t.TempDir())
	put := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var original, private, movie strings.Builder
	original.WriteString("text,label\n")
	private.WriteString("text\n")
	movie.WriteString("text\n")
	for i := range 120 {
		word := []string{"good", "bad"}[i%2]
		fmt.Fprintf(&original, "the %s film number n%d,%s\n", word, i%7, word)
		fmt.Fprintf(&private, "the %s plot number n%d\n", word, i%5)
		fmt.Fprintln(&movie, "the movie")
	}
	put("original.csv", original.String())
	for name, text := range map[string]string{"before": private.String(), "after": movie.String()} {
		put("private.csv", text) // the same name in both
		if code, out := mldp(t, "evaluate", "--original", "original.csv", "--text", "text", "--label", "label",
			"--privatised", "x@3=private.csv", "--out", name); code != exitOK {
			t.Fatalf("%s: exit %d: %s", name, code, out)
		}
	}
	file := func(name string) string { return filepath.Join(name, "results.csv") }
	for _, args := range [][]string{{"compare", file("before"), file("after")},
		{"check", "--baseline", file("before"), file("after")}} {
		if code, out := mldp(t, args...); code != 1 || !strings.Contains(out, "accuracy") {
			t.Errorf("%v: exit %d: %s", args, code, out)
		}
		args[len(args)-1] = file("before")
		if code, out := mldp(t, args...); code != exitOK {
			t.Errorf("the same: %v: exit %d: %s", args, code, out)
		}
	}
}
