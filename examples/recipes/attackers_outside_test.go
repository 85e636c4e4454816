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
	got := outsidetest.Run(t, "../..", withAttackers(t, "testdata/attackers.go.txt"))
	// Column, value, floor, ceiling and number of items: all is found, as all words are kept.
	want := "frequency-accuracy 1 0.5 1 4\nlinkage-common-p1 1 0.25 1 4\nunchanged-words 1 0.3 1 10\n"
	if got != want {
		t.Errorf("the attackers found\n%s, want\n%s", got, want)
	}
}

// Attackers of another module, whose init functions run after those of this one, have columns in a study's rows and
// tables.
func TestAttackersFromOutsideInAStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the program for another module")
	}
	t.Parallel()
	files := withAttackers(t, "testdata/study.go.txt")
	files["study.yaml"] = outsidetest.Read(t, "testdata/study.yaml")
	got := outsidetest.Run(t, "../..", files)
	want := "frequency-accuracy measured\nlinkage-common-p1 measured\nunchanged-words measured\n"
	if got != want {
		t.Errorf("the study has\n%s, want\n%s", got, want)
	}
}

// withAttackers are a main program and the templates of attackers, by their paths in a module.
func withAttackers(t *testing.T, program string) map[string]string {
	files := map[string]string{"main.go": outsidetest.Read(t, program)}
	for _, path := range []string{"wordattacker/unchanged.go", "labelattacker/frequency.go",
		"documentattacker/common.go"} {
		files[path] = outsidetest.Read(t, path)
	}
	return files
}
