package metrics

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mldpbench/internal/stats"
	"mldpbench/stream"
)

func testRand(label string) *rand.Rand { return stream.FromUint64(1).Derive(label).Rand() }

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tolerance)
	}
}

func TestWordsPerSecond(t *testing.T) {
	near(t, "WordsPerSecond", WordsPerSecond(500, 0.25), 2000, 0)
	if !math.IsNaN(WordsPerSecond(1, 0)) {
		t.Error("without time there is no throughput")
	}
}

// Published inputs and output of [M24]: CMP, IMDb, d=100, ε=1 of Tables 3, 6
// and 9 are checked in results; here the formula against hand-worked values.
func TestPUC(t *testing.T) {
	utility, privacy := []Part{{50, 1}}, []Part{{90, 1}, {60, 1}, {70, 1}, {50, 1}, {70, 1}} // mean 68
	near(t, "PUC(.75)", PUC(0.75, utility, privacy), 54.5, 1e-12)
	near(t, "PUC(1)", PUC(1, utility, privacy), 50, 1e-12)
	near(t, "PUC(0)", PUC(0, utility, privacy), 68, 1e-12)
	near(t, "PUC, weighted", PUC(0, utility, []Part{{90, 3}, {10, 1}}), 70, 1e-12)
	// half of the utility is left, and a fifth of what an adversary finds
	near(t, "relative gain", 2*PUC(0.5, utility, []Part{{80, 1}})/100-1, 0.5-0.2, 1e-12)
	privacy[3].Value = math.NaN()
	if !math.IsNaN(PUC(0.5, utility, privacy)) {
		t.Error("a missing part must make the composite missing")
	}
}

func TestCorrect(t *testing.T) {
	got, err := Correct([]int{0, 1, 2, 1}, []int{0, 2, 2, 1})
	if err != nil || got != 3 {
		t.Fatalf("Correct = %d, %v, want 3", got, err)
	}
	if _, err := Correct([]int{1}, nil); err == nil {
		t.Error("lengths that differ must be an error")
	}
	near(t, "Percent", Percent(3, 4), 75, 0)
	if !math.IsNaN(Percent(0, 0)) {
		t.Error("a share of nothing must be missing")
	}
}

func TestCountChanged(t *testing.T) {
	unknown := func(w string) bool { return w == "xyzzy" || w == "plugh" }
	for _, c := range []struct {
		name          string
		before, after [][]string
		want          TokenCounts
	}{
		{"aligned", [][]string{{"a", "b", "c"}, {}}, [][]string{{"a", "x", "y"}, {}}, TokenCounts{2, 3, 0}},
		{"keep", [][]string{{"a", "xyzzy"}}, [][]string{{"b", "xyzzy"}}, TokenCounts{1, 2, 1}},
		{"drop", [][]string{{"xyzzy", "a", "plugh", "b"}}, [][]string{{"a", "c"}}, TokenCounts{3, 4, 2}},
		{"drop all", [][]string{{"xyzzy"}}, [][]string{{}}, TokenCounts{1, 1, 1}},
	} {
		got, err := CountChanged(c.before, c.after, unknown)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
	for name, after := range map[string][][]string{"lost document": {}, "lost word": {{"a"}},
		"gained word": {{"a", "b", "c"}}} {
		if _, err := CountChanged([][]string{{"a", "b"}}, after, nil); err == nil {
			t.Errorf("%s must be an error", name)
		}
	}
}

// Counted by hand: of five tokens the lower-cased list has english, paris, film
// and the; the list as printed has film and the. Unknown words are not in
// either.
func TestCountEnglish(t *testing.T) {
	printed, lower := map[string]bool{}, map[string]bool{}
	for _, w := range []string{"English", "Paris", "film", "the", "The"} {
		printed[w], lower[strings.ToLower(w)] = true, true
	}
	documents := [][]string{{"the", "english", "film"}, {"paris", "qzx1"}}
	for _, c := range []struct {
		list map[string]bool
		in   int
	}{{lower, 4}, {printed, 2}} {
		if in, total := CountEnglish(documents, func(w string) bool { return c.list[w] }); in != c.in || total != 5 {
			t.Errorf("%d of %d, want %d of 5", in, total, c.in)
		}
	}
	if in, total := CountEnglish(nil, func(string) bool { return true }); in != 0 || total != 0 {
		t.Errorf("no text: %d of %d", in, total)
	}
}

func TestCosine(t *testing.T) {
	for _, c := range []struct {
		a, b []float32
		want float64
	}{
		{[]float32{1, 0}, []float32{0, 2}, 0},
		{[]float32{1, 2}, []float32{2, 4}, 1},
		{[]float32{1, 2}, []float32{-1, -2}, -1},
		{[]float32{1, 0}, []float32{1, 1}, math.Sqrt2 / 2},
		{[]float32{0, 0}, []float32{0, 0}, 1},
		{[]float32{0, 0}, []float32{1, 0}, 0},
	} {
		near(t, "Cosine", Cosine(c.a, c.b), c.want, 1e-12)
	}
}

func TestCS(t *testing.T) {
	// Similarities 100, 0, 50·√2…: mean and t interval by hand for {100, 0}.
	got, err := CS([][]float32{{1, 0}, {1, 0}}, [][]float32{{1, 0}, {0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "CS", got.Estimate, 50, 1e-12)
	// t(0.975, 1 df) = 12.7062; sd/√n = 50.
	near(t, "CS high", got.High, 50+12.706204736*50, 1e-5)
	if _, err := CS([][]float32{{1}}, nil); err == nil {
		t.Error("counts that differ must be an error")
	}
	if _, err := CS([][]float32{{1}}, [][]float32{{1, 2}}); err == nil {
		t.Error("dimensions that differ must be an error")
	}
}

func TestMeanInterval(t *testing.T) {
	got := stats.MeanInterval([]float64{1, 2, 3, 4, 5}, 0.95)
	near(t, "mean", got.Estimate, 3, 1e-12)
	near(t, "high", got.High, 3+2.776445105*math.Sqrt(2.5/5), 1e-8) // t(0.975, 4 df)
	if one := stats.MeanInterval([]float64{7}, 0.95); one.Estimate != 7 || !math.IsInf(one.High, 1) {
		t.Errorf("one value: %+v, want 7 with no bounds", one)
	}
	if none := stats.MeanInterval(nil, 0.95); !math.IsNaN(none.Estimate) {
		t.Errorf("no value: %+v, want missing", none)
	}
}
