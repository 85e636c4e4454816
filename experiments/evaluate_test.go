package experiments_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/experiments"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/stream"
)

// reviews writes reviews whose words reveal their label and author; change
// returns a version's words for row i.
func reviews(t *testing.T, name string, rows int, header []string, change func(i int, words []string) []string) string {
	t.Helper()
	dir, table := t.TempDir(), strings.Join(header, ",")+"\n"
	rng := stream.FromUint64(1).Rand()
	for i := range rows {
		label, author := i%2, i/2%2
		words := []string{"the", []string{"awful", "superb"}[label], "food", []string{"indeed", "truly"}[author],
			fmt.Sprintf("word%c", 'a'+rng.IntN(26))}
		fields := map[string]string{
			"id": fmt.Sprint("r", i), "body": strings.Join(change(i, words), " "),
			"stars": fmt.Sprint(1 + 4*label), "author": fmt.Sprint("author", author),
		}
		table += strings.Join(list.Map(header, func(h string) string { return fields[h] }), ",") + "\n"
	}
	put(t, dir, name, table)
	return filepath.Join(dir, name)
}

// evaluation asks for versions of a table with a body and stars, by name.
func evaluation(t *testing.T, original string, versions ...string) experiments.Evaluation {
	t.Helper()
	return experiments.Evaluation{Original: study.DatasetSpec{File: original, Text: study.Columns{"body"}, Label: "stars"},
		Call: experiments.Call{Data: t.TempDir()}, Versions: versions}
}

// evaluate gives the cells by mechanism, of the first repetition.
func evaluate(t *testing.T, e experiments.Evaluation) (map[string]results.Cell, error) {
	t.Helper()
	e.Out = t.TempDir()
	outcome, err := experiments.Evaluate(t.Context(), e)
	if err != nil {
		return nil, err
	}
	by := map[string]results.Cell{}
	for _, c := range outcome.Analysis.Cells {
		if c.Repetition == 1 {
			by[c.Mechanism] = c
		}
	}
	return by, nil
}

func unchanged(_ int, words []string) []string { return words }

// TestVersionsAreMeasured checks numbers that are known: label and author are
// single words, which one version keeps, one hides and one drops.
func TestVersionsAreMeasured(t *testing.T) {
	t.Parallel()
	const rows = 400
	original := reviews(t, "original.csv", rows, []string{"id", "body", "stars", "author"}, unchanged)
	copied := reviews(t, "copied.csv", rows, []string{"body"}, unchanged)
	hidden := reviews(t, "hidden.csv", rows, []string{"body"},
		func(_ int, w []string) []string { return []string{w[0], "x", w[2], w[3], w[4]} })
	short := reviews(t, "short.csv", rows, []string{"body"}, func(_ int, w []string) []string { return []string{w[1]} })
	e := evaluation(t, original, "copied@3="+copied, "hidden="+hidden, "short@1="+short)
	e.Original.Private = "author"
	by, err := evaluate(t, e)
	if err != nil || len(by) != 4 {
		t.Fatalf("%d versions, %v", len(by), err)
	}
	const attacker, linked, overlap = "attribute-adaptive-svm-accuracy", "linkage-tfidf-p1", "overlap-jaccard"
	missing := math.NaN()
	for _, want := range []struct {
		name                             string
		accuracy, private, pp, low, same float64
	}{
		{"none", 100, missing, missing, missing, missing}, {"copied", 100, 1, 0, 100, 1},
		{"hidden", missing, 1, 20, missing, 4.0 / 6}, {"short", 100, missing, missing, missing, 1.0 / 5},
	} {
		c := by[want.name]
		for quantity, v := range map[string]float64{"accuracy": want.accuracy, attacker: want.private, "pp": want.pp,
			"low": want.low, overlap: want.same} {
			got := c.Get(quantity).Float()
			if !math.IsNaN(v) && !(math.Abs(got-v) <= 1e-9) {
				t.Errorf("%s: %s is %v, want %v", want.name, quantity, got, v)
			}
		}
		if hasPP := !math.IsNaN(want.pp); c.Has("pp") != hasPP {
			t.Errorf("%s: PP was measured: %v, want %v", want.name, c.Has("pp"), hasPP)
		}
		for _, quantity := range []string{"cs", "english"} {
			if c.Has(quantity) {
				t.Errorf("%s: %s was measured, which nobody asked for", want.name, quantity)
			}
		}
		hasEpsilon := want.name == "copied" || want.name == "short"
		if c.Epsilon.Known() != hasEpsilon {
			t.Errorf("%s: it has an ε: %v, want %v", want.name, c.Epsilon.Known(), hasEpsilon)
		}
		if c.IsBaseline() {
			continue
		}
		m := at(c, linked)
		if !(m.Floor.Float() > 1.0/81) {
			t.Errorf("%s: the floor of %s is %v, want more than 1/81", want.name, linked, m.Floor.Float())
		}
		low, value, high := m.Low.Float(), m.Value.Float(), m.High.Float()
		if !(low <= value && value <= high && low < high) {
			t.Errorf("%s: %s is %v with the interval %v to %v, want one around it", want.name, linked, value, low, high)
		}
		if c.GuaranteeMetric != "" {
			t.Errorf("%s: it guarantees something in the distance %q, want nothing", want.name, c.GuaranteeMetric)
		}
		if c.Variant != string(mechanisms.External) {
			t.Errorf("%s: its variant is %q, want %q", want.name, c.Variant, mechanisms.External)
		}
	}
	// The word that tells stars is hidden, and new ones are no language.
	copy, hide := by["copied"], by["hidden"]
	layout := at(copy, "linkage-layout-p1")
	if math.Abs(layout.Value.Float()-layout.Ceiling.Float()) > 1e-9 {
		t.Errorf("by its layout %v of a copy are linked, want the ceiling %v", layout.Value.Float(),
			layout.Ceiling.Float())
	}
	if !hide.Has("linkage-layout-lower-p1") {
		t.Error("of the hidden text linkage-layout-lower-p1 was not measured")
	}
	if m := at(copy, linked); m.Value != m.Ceiling {
		t.Errorf("%s of a copy is %v, want its ceiling %v", linked, m.Value.Float(), m.Ceiling.Float())
	}
	if got := hide.Get("accuracy").Float(); !(got < 80) {
		t.Errorf("accuracy of the hidden text is %v, want less than 80", got)
	}
	if got, most := hide.Get(linked).Float(), copy.Get(linked).Float(); !(got < most) {
		t.Errorf("%s of the hidden text is %v, want less than %v of a copy", linked, got, most)
	}
}

// New words of a text made outside, with a vector or without, are words for its classifier: a study with vectors
// measures the accuracy that evaluate does. Half of the texts hide their label among words that no review has.
func TestNewWordsCountInAStudyAsInEvaluate(t *testing.T) {
	t.Parallel()
	const rows = 400
	original := reviews(t, "original.csv", rows, []string{"body", "stars"}, unchanged)
	rng := stream.FromUint64(2).Rand()
	made := reviews(t, "made.csv", rows, []string{"body"}, func(i int, w []string) []string {
		w[1] = []string{"dire", "divine"}[i%2]
		if rng.IntN(2) == 0 {
			w[1] = fmt.Sprint("thing", rng.IntN(200))
		}
		return w
	})
	vectors := "dire 1 0\ndivine 0 1\nawful 1 0\nsuperb 0 1\n"
	for i, w := range []string{"the", "food", "indeed", "truly", "thing7"} {
		vectors += fmt.Sprintf("%s %v 0.5\n", w, float64(i)/8)
	}
	put(t, filepath.Dir(made), "vectors.txt", vectors)
	with := "embeddings=[{name: v, file: " + filepath.Join(filepath.Dir(made), "vectors.txt") + "}]"
	accuracy := func(set ...string) (v [2]float64) {
		e := evaluation(t, original, "made="+made)
		e.Set = set
		by, err := evaluate(t, e)
		if err != nil {
			t.Fatal(err)
		}
		return [2]float64{by["none"].Get("accuracy").Float(), by["made"].Get("accuracy").Float()}
	}
	const tfidf = "models=[{name: logistic, parameters: {features: tfidf}}]"
	files, study := accuracy(tfidf), accuracy(tfidf, with)
	if files != study || files[0] != 100 || files[1] < 65 || files[1] > 85 {
		t.Errorf("plain and made text: %v by evaluate, %v in a study with vectors", files, study)
	}
	// A mean of vectors has those of the new words, and a network that learns its own has each of them.
	for _, model := range []string{"{name: logistic}", "{name: averaged, parameters: {epochs: 20}}"} {
		if study := accuracy("models=["+model+"]", with); study[0] != 100 || study[1] < 65 || study[1] > 85 {
			t.Errorf("%s: %v", model, study)
		}
	}
}

// TestRowsAreMatchedByID gives the versions in another order.
func TestRowsAreMatchedByID(t *testing.T) {
	t.Parallel()
	const rows = 200
	original := reviews(t, "original.csv", rows, []string{"id", "body", "stars", "author"}, unchanged)
	copied := reviews(t, "copied.csv", rows, []string{"id", "body"}, unchanged)
	data, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	slices.Reverse(lines[1:])
	write := func(lines []string) { put(t, filepath.Dir(copied), "copied.csv", strings.Join(lines, "\n")) }
	write(lines)
	e := evaluation(t, original, "rewrite@2=column:author", "copied@1="+copied)
	e.ID = "id"
	by, err := evaluate(t, e)
	if c := by["copied"]; err != nil || c.Get("pp").Float() != 0 || c.Get("low").Float() != 100 {
		t.Errorf("%+v, %v", c, err)
	}
	if c := by["rewrite"]; c.Has("pp") || c.Epsilon.Float() != 2 || !c.Has("accuracy") {
		t.Errorf("a column of the same table: %+v", c)
	}
	e.ID = ""
	if by, err = evaluate(t, e); err != nil || by["copied"].Get("pp").Float() == 0 {
		t.Errorf("by order the rows are others: %+v, %v", by, err)
	}
	write(lines[:len(lines)-20])
	for id, want := range map[string]string{"id": "no text for", "": "180 texts for 200 documents"} {
		e.ID = id
		if _, err := evaluate(t, e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("id %q: %v", id, err)
		}
	}
}

func TestBadOptionsAreOneError(t *testing.T) {
	t.Parallel()
	original := reviews(t, "original.csv", 40, []string{"id", "body", "stars"}, unchanged)
	for want, change := range map[string]func(*experiments.Evaluation){
		`no column "author"`:                func(e *experiments.Evaluation) { e.Original.Private = "author" },
		"id \"1\": must be there, and once": func(e *experiments.Evaluation) { e.ID = "stars" },
		"documents = -1: must be in": func(e *experiments.Evaluation) {
			e.Encoder, e.Set = "sif", []string{"metrics.cs.documents=-1"}
		},
		"no-such-file":             func(e *experiments.Evaluation) { e.Versions[0] = "x@1=no-such-file" },
		"has a meaning of its own": func(e *experiments.Evaluation) { e.Versions[0] = "none=" + e.Original.File },
	} {
		e := evaluation(t, original, "x@1="+original)
		change(&e)
		if _, err := evaluate(t, e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// A mechanism is brought to what an attacker finds in a version, and compared with it there.
func TestAgainst(t *testing.T) {
	t.Parallel()
	rng := stream.FromUint64(2).Rand()
	vocabulary := []string{"the", "awful", "superb", "food", "indeed", "truly"}
	vectors := ""
	for i := range 26 {
		vocabulary = append(vocabulary, fmt.Sprintf("word%c", 'a'+i))
	}
	for _, w := range vocabulary {
		vectors += fmt.Sprintf("%s %.3f %.3f\n", w, rng.Float64(), rng.Float64())
	}
	original := reviews(t, "original.csv", 1000, []string{"id", "body", "stars"}, unchanged)
	// k-ary randomised response by hand: a word stays with probability 0.6.
	krr := reviews(t, "krr.csv", 1000, []string{"body"}, func(_ int, words []string) []string {
		return list.Map(words, func(w string) string {
			if rng.Float64() < 0.6 {
				return w
			}
			return vocabulary[rng.IntN(len(vocabulary))]
		})
	})
	put(t, filepath.Dir(krr), "v.txt", vectors)
	e := evaluation(t, original, krr)
	e.Against, e.At, e.Embedding = []string{"k-rr"}, "linkage", filepath.Join(filepath.Dir(krr), "v.txt")
	e.Out = t.TempDir()
	outcome, err := experiments.Evaluate(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	p := outcome.Analysis
	levels := p.Levels()
	if len(levels.At) != 1 {
		t.Fatalf("compared at %v, want one level: that of the one version", levels.At)
	}
	a := p.Alignments("", levels.At[0])[0]
	if a.Reached() != 2 || len(a.Pairs) != 1 || a.Pairs[0].Different || !(a.Pairs[0].Detectable > 0) {
		t.Errorf("the same mechanism beside itself: %+v", a.Pairs)
	}
	if got, want := a.Lines[1].Epsilon, math.Log(0.6125/0.3875*31); math.Abs(got-want) > 0.7 { // stays: .6 + .4/32
		t.Errorf("as much is found at ε = %g, want about %g", got, want)
	}
	e.At = "pp-of-nothing"
	e.Out = t.TempDir()
	if _, err := experiments.Evaluate(t.Context(), e); err == nil ||
		!strings.Contains(err.Error(), `at = "pp-of-nothing"`) {
		t.Error(err)
	}
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"a/b.csv.gz": "b [] a/b.csv.gz []", "dp-prompt=x.csv": "dp-prompt [] x.csv []", "folder": "folder [] folder []",
		"cmp@0.5=x@y.csv": "cmp-file [0.5] x@y.csv []", "x@y.csv": "x@y [] x@y.csv []", "column:c": "c []  [c]",
	} {
		m, err := experiments.ParseVersion(s)
		if got := fmt.Sprint(m.Name, " ", m.Epsilons, " ", m.Text, " ", m.Columns); err != nil || got != want {
			t.Errorf("%s: %+v, %v", s, m, err)
		}
	}
	for _, bad := range []string{"", "a=", "=b", "a@x=b", "a@-1=b", "a@NaN=b", "@1=b", "column:", "a=column:"} {
		if v, err := experiments.ParseVersion(bad); err == nil {
			t.Errorf("%q gives %+v", bad, v)
		}
	}
}
