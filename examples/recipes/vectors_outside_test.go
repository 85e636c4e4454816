package recipes_test

import (
	"strings"
	"testing"

	"mldpbench/internal/outsidetest"
)

// A format of vectors is one file that compiles in a module of its own; what it reads is, bit by
// bit, what text gives.
func TestVectorsFromOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program for another module")
	}
	t.Parallel()
	got := outsidetest.Run(t, "../..", map[string]string{
		"main.go":              outsidetest.Read(t, "testdata/vectors.go.txt"),
		"vectors/jsonlines.go": outsidetest.Read(t, "vectors/jsonlines.go"),
	})
	lines := strings.Split(strings.TrimSpace(got), "\n")
	const want = `["cat" "a dog"] [1 0.1 -3 2] `
	if len(lines) != 2 || lines[0] != lines[1] || !strings.HasPrefix(lines[0], want) {
		t.Errorf("vectors of the format and of text are\n%s, want twice the line %s and one fingerprint", got, want)
	}
}
