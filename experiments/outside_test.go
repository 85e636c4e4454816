package experiments_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/results"
	"mldpbench/stream"
)

// client is a mechanism from outside: this test's own binary.
func client(kind string) {
	if of, _, _ := strings.Cut(kind, "-"); of == "attacker" || of == "measurement" {
		role(kind)
		return
	}
	h := external.Hello{Name: kind, Version: "1", Repeatable: kind != "whim"}
	// Words are permuted within their document.
	handle := func(_ context.Context, q external.Request, seeds []stream.Seed) (external.Answer, error) {
		for i, d := range q.Documents {
			seed := seeds[i]
			if kind == "whim" || kind == "liar" {
				if _, err := rand.Read(seed[:]); err != nil {
					return external.Answer{}, err
				}
			}
			seed.Rand().Shuffle(len(d), func(a, b int) { d[a], d[b] = d[b], d[a] })
		}
		return external.Answer{Documents: q.Documents}, nil
	}
	switch kind {
	case "stillborn":
		fmt.Fprintln(os.Stderr, "no module named torch")
		os.Exit(3)
	case "shorter": // a rewriter
		no := false
		h.Aligned, h.Input = &no, external.Text
		handle = func(_ context.Context, q external.Request, _ []stream.Seed) (a external.Answer, err error) {
			for _, t := range q.Texts {
				d := strings.Fields(t)
				a.Texts = append(a.Texts, strings.Join(d[:(len(d)+1)/2], " "))
			}
			return a, nil
		}
	case "k-rr": // randomised response over the words of the command line
		words := strings.Fields(os.Args[3])
		handle = func(_ context.Context, q external.Request, seeds []stream.Seed) (external.Answer, error) {
			stay := math.Exp(q.Epsilon) / (math.Exp(q.Epsilon) + float64(len(words)-1))
			for i, d := range q.Documents {
				rng := seeds[i].Rand()
				for j, w := range d {
					if rng.Float64() >= stay {
						others := slices.DeleteFunc(slices.Clone(words), func(o string) bool { return o == w })
						d[j] = others[rng.IntN(len(others))]
					}
				}
			}
			return external.Answer{Documents: q.Documents}, nil
		}
	case "undefined":
		handle = func(context.Context, external.Request, []stream.Seed) (a external.Answer, err error) {
			return a, &mechanisms.UndefinedError{Reason: "not at this epsilon"}
		}
	case "dies", "short":
		handle = func(_ context.Context, q external.Request, _ []stream.Seed) (external.Answer, error) {
			if kind == "dies" {
				fmt.Fprintln(os.Stderr, "KeyError: 'oil'")
				os.Exit(1)
			}
			return external.Answer{Documents: q.Documents[1:]}, nil
		}
	}
	if err := external.Serve(context.Background(), os.Stdin, os.Stdout, h, handle); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// selfName is this test's binary by its name, which TestMain puts on the search
// path.
func selfName(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(self)
}

// outside is a study of mechanisms from outside beside CMP, on generated text.
func outside(t testing.TB, mechanisms string, edits ...string) *study.Study {
	t.Helper()
	text := strings.NewReplacer(append([]string{"SELF", selfName(t)}, edits...)...).Replace(`schema: 1
name: outside
seed: 3
datasets: [{name: generated-reviews, train: 60, validation: 20, test: 40}]
embeddings: [{name: generated, dimensions: [20]}]
epsilons: [5]
models: [{name: svm}]
repetitions: 1
metrics: {deniability: {words: 3, runs: 5}, low: 20, cs: {encoder: sif, documents: 5}}
mechanisms:
  - {name: cmp}
` + mechanisms)
	s := parsed(t, text)
	return s
}

// named returns the records of a mechanism.
func named(records []results.Cell, name string) []results.Cell {
	return results.Where(records, func(r results.Cell) bool { return r.Mechanism == name })
}

func TestCommandInAStudy(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	put(t, dir, "model.bin", "first")
	s := outside(t, `
  - {name: mine, command: [SELF, client, shuffle, "{k}", DIR/model.bin], parameters: {k: [1, 2]}}
  - {name: whim, command: [SELF, client, whim]}
  - {name: shorter, command: [SELF, client, shorter]}
  - {name: never, command: [SELF, client, undefined]}
`, "DIR", dir)
	roundTrip(t, s) // what the manifest has
	mine := list.Count(units(t, s), func(u engine.Unit) bool { return u.Place.Mechanism == "mine" })
	one := mustRun(t, s, engine.Options{Out: out, Workers: 1})
	repeatable := func(r results.Row) bool { return !r.Unrepeatable }
	same(t, "three workers", results.Where(one.Rows, repeatable),
		results.Where(mustRun(t, s, engine.Options{Workers: 3}).Rows, repeatable))
	for _, c := range cells(t, one) {
		word := c.Has("pp") && c.Has("n_w")
		text := c.Has("cs") && c.Has("low") && c.Has("accuracy")
		ok := c.IsBaseline() || c.Mechanism == "cmp"
		switch c.Mechanism {
		case "mine", "whim":
			ok = word && text && c.GuaranteeReason == "the command declares none" && c.Policy == "" &&
				c.Unrepeatable == (c.Mechanism == "whim") && c.Variant == string(mechanisms.External)
		case "shorter": // tokens do not align, so metrics of single words are not measured
			ok = text && !c.Has("pp") && !c.Has("n_w") && at(c, "pp").Whole == 0
		case "never":
			ok = c.Status == results.StatusUndefined && strings.Contains(c.Reason, "not at this epsilon")
		}
		if !ok {
			t.Errorf("%s: %+v", c.Mechanism, c)
		}
	}
	if own := named(cells(t, one), "mine"); len(own) != 2 || own[0].Parameters != "k=1" {
		t.Errorf("mine: %+v", own)
	}
	if again := mustRun(t, s, engine.Options{Out: out}); again.Ran != 0 {
		t.Errorf("%d units run again", again.Ran)
	}
	put(t, dir, "model.bin", "second")
	if again := mustRun(t, s, engine.Options{Out: out}); again.Ran != mine {
		t.Errorf("after a change of one file %d units run, want its %d", again.Ran, mine)
	}
}

// An error of a command fails only its own units, each with one clear error; why, the
// end of its standard error, is shown once, however many units it fails.
func TestCommandsThatFail(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"stillborn": "its hello: ended (exit status 3)\nthe end of its standard error:\n\tno module named torch",
		"dies":      "its answer: ended (exit status 1)\nthe end of its standard error:\n\tKeyError: 'oil'",
		"short":     "2 answers for 3",
		"liar":      "declares to be repeatable, but document ",
	}
	list := "  - {name: stillborn, command: [SELF, client, stillborn]}\n"
	for kind := range want {
		if kind != "stillborn" {
			list += fmt.Sprintf("  - {name: %s, command: [SELF, client, %[1]s]}\n", kind)
		}
	}
	s := outside(t, list+"  - {name: theirs, command: [SELF, client, shuffle]}\n")
	dir := t.TempDir()
	const good = 1 + 6 + 6                    // of plain text, cmp and theirs
	for _, finished := range []int{0, good} { // the second run tries them again
		var log bytes.Buffer
		sum, err := runUnits(t, s, "", engine.Options{Out: dir, Workers: 1, Log: &log})
		if err == nil || !strings.Contains(err.Error(),
			fmt.Sprintf("%d of %d units failed", 6*len(want), 6*len(want)+good-finished)) {
			t.Fatalf("%v", err)
		}
		if all := log.String() + err.Error(); strings.Count(all, "no module named torch") != 1 {
			t.Errorf("%s", all)
		}
		if sum.Reused != finished || len(cells(t, sum)) != 3 || len(named(cells(t, sum), "theirs")) != 1 {
			t.Fatalf("%d finished before, %d records", sum.Reused, len(cells(t, sum)))
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "failed", "*"))
	if err != nil || len(files) < len(want) {
		t.Fatalf("%d failures kept, %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		of := slices.IndexFunc(slices.Sorted(maps.Keys(want)), func(kind string) bool {
			return strings.Contains(string(text), "client "+kind) && strings.Contains(string(text), want[kind])
		})
		if of < 0 {
			t.Errorf("%s is of none of them", text)
		}
	}
}

// Texts of one ε each, matched by ids, and a folder with a file for each repetition.
func TestTextFromFilesInAStudy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	words := []string{"good", "bad", "fine", "food", "room", "the", "quite", "all", "of", "it", "really"}
	original, rewritten, lines, vectors := "id,body,stars\n", "", "", ""
	for i := range 60 {
		original += fmt.Sprintf("r%d,The %s %s %s!,%d\n", i, words[i%2], words[3+i%2], words[2], i%2)
		lines += words[i%2] + ".\n"
		j := 59 - i // from the last to the first: ids say which is which
		rewritten += fmt.Sprintf("{\"id\": \"r%d\", \"body\": \"Quite <b>%s</b>, all of it, really\"}\n", j, words[j%2])
	}
	for i, w := range words {
		vectors += fmt.Sprintf("%s %d %d\n", w, i, i*i%7)
	}
	for name, text := range map[string]string{"reviews.csv": original, "vectors.txt": vectors, "a-5.jsonl": rewritten,
		"a-9.jsonl": rewritten, "folder/1.txt": lines, "folder/2.txt": lines} {
		put(t, dir, name, text)
	}
	s := parsed(t, strings.ReplaceAll(`schema: 1
name: texts
seed: 3
datasets: [{name: own-reviews, file: DIR/reviews.csv, text: body, label: stars}]
embeddings: [{name: own, file: DIR/vectors.txt}]
models: [{name: svm, parameters: {features: tfidf}}]
repetitions: 2
metrics: {deniability: {words: 3, runs: 5}, low: 4, cs: {encoder: sif, documents: 5}, document_loss: {}}
mechanisms:
  - {name: rewritten, text: "DIR/a-{epsilon}.jsonl", id: id, epsilons: [5, 9], repetitions: 1}
  - {name: folder, text: DIR/folder}
`, "DIR", dir))
	out, counts := t.TempDir(), map[string]int{}
	for _, c := range cells(t, mustRun(t, s, engine.Options{Out: out})) {
		if counts[c.Mechanism]++; c.IsBaseline() {
			continue
		}
		if c.Has("n_w") || c.Has("pp") || c.Policy != "" || !strings.Contains(c.GuaranteeReason, "text made elsewhere") ||
			c.Get("accuracy").Float() != 100 || !c.Has("cs") || !c.Has("low") { // each row met its own text
			t.Errorf("%s: %+v", c.Mechanism, c)
		}
		// The game is played with the text that was released, once a pair.
		if g := at(c, "document_game_topic"); c.Repetition == 1 && (g.Whole == 0 || g.Whole > 100 ||
			c.Has("document_game_word")) {
			t.Errorf("%s: game %+v", c.Mechanism, g)
		}
	}
	if counts["rewritten"] != 2 || counts["folder"] != 2 {
		t.Errorf("records: %v", counts)
	}
	put(t, dir, "a-9.jsonl", strings.ReplaceAll(rewritten, "Quite", "Really"))
	if again := mustRun(t, s, engine.Options{Out: out}); again.Ran != 6 {
		t.Errorf("after a change of one text %d units run, want its 6", again.Ran)
	}
}

func TestOutsideErrorsNameThePlace(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"{name: cmp, command: [x]}":                `x.yaml:12:5: name = "cmp": is that of a built-in mechanism`,
		"{name: a b, command: [x]}":                `12:12: name = "a b": must consist of letters`,
		"{name: a, command: [x], text: y.csv}":     "12:5: a: give command or text, not both",
		"{name: a, command: [x], variant: proved}": "12:12: a: variant, keep_words and budget are those of built-in",
		"{name: a, command: [x], parameters: {k: 1}}": "12:5: a: parameter k: {k} must stand " +
			"in the command",
		"{name: a, command: x y}":                                        "x.yaml:12:",
		"{name: a, command: [x]}\n  - {name: a, command: [y]}":           "13:12: a is given twice",
		"{name: tem, repetitions: 0}":                                    "repetitions = 0: must be in [1, 10000]",
		`{name: a, command: [x, "{k}"], parameters: {k: []}}`:            "a: parameter k: the list is empty",
		`{name: a, command: [x, "{k}"], parameters: {k: {deep: value}}}`: "a: parameter k: ",
	} {
		refused(t, `schema: 1
name: outside
seed: 3
datasets: [{name: generated-reviews}]
embeddings: [{name: generated, dimensions: [20]}]
epsilons:
  - 5
models: [{name: svm}]
repetitions: 1
mechanisms:
  - {name: cmp}
  - `+entry+"\n", want)
	}
}
