package recipes_test

import (
	"testing"

	"mldpbench/internal/outsidetest"
)

// Each mechanism is one file that compiles, privatises and is audited from a module of its own.
func TestMechanismsFromOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the program for another module")
	}
	t.Parallel()
	files := map[string]string{"main.go": outsidetest.Read(t, "testdata/mechanisms.go.txt")}
	for _, path := range []string{"formulamechanism/coin.go", "scoresmechanism/bounded.go", "noisemechanism/laplace.go",
		"documentmechanism/randomised.go"} {
		files[path] = outsidetest.Read(t, path)
	}
	got := outsidetest.Run(t, "../..", files)
	want := "coin [cat dog rome cat] not refuted\nbounded [cat dog rome cat] not refuted\n" +
		"laplace [cat dog rome cat] not refuted\n" +
		"sentence-response [This text asks nothing.] not refuted\n"
	if got != want {
		t.Errorf("at a large epsilon the mechanisms made\n%s, want\n%s", got, want)
	}
}
