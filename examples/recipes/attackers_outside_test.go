package recipes_test

import (
	"testing"

	"mldpbench/internal/outsidetest"
)

// Each attacker is one file that compiles and attacks from a module of its own.
func TestAttackersFromOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the program for another module")
	}
	t.Parallel()
	files := map[string]string{"main.go": outsidetest.Read(t, "testdata/attackers.go.txt")}
	for _, path := range []string{"wordattacker/unchanged.go", "labelattacker/frequency.go", "documentattacker/common.go"} {
		files[path] = outsidetest.Read(t, path)
	}
	got := outsidetest.Run(t, "../..", files)
	// Column, value, floor, ceiling and number of items: all is found, as all words are kept.
	want := "frequency-accuracy 1 0.5 1 4\nlinkage-common-p1 1 0.25 1 4\nunchanged-words 1 0.3 1 10\n"
	if got != want {
		t.Errorf("the attackers found\n%s, want\n%s", got, want)
	}
}
