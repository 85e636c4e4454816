package experiments_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
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
	shuffle := func(_ context.Context, q external.Request, seeds []stream.Seed) (a external.Answer, err error) {
		for i, d := range q.Documents {
			seed := seeds[i]
			if kind == "whim" || kind == "liar" {
				_, _ = rand.Read(seed[:]) // never fails
			}
			seed.Rand().Shuffle(len(d), func(a, b int) { d[a], d[b] = d[b], d[a] })
		}
		a.Documents = q.Documents
		return a, nil
	}
	handle := shuffle
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
	case "undefined":
		handle = func(context.Context, external.Request, []stream.Seed) (a external.Answer, err error) {
			return a, &mechanisms.UndefinedError{Reason: "not at this epsilon"}
		}
	case "dies", "rubbish", "flood", "short", "disorder":
		handle = func(_ context.Context, q external.Request, _ []stream.Seed) (a external.Answer, err error) {
			a.Documents = q.Documents
			switch kind {
			case "dies":
				fmt.Fprintln(os.Stderr, "KeyError: 'oil'")
				os.Exit(1)
			case "rubbish":
				fmt.Println("loading model...")
			case "flood":
				fmt.Println(strings.Repeat("x", 10<<20+2))
			case "short":
				a.Documents = a.Documents[1:]
			case "disorder":
				fmt.Println(`{"id":999,"documents":[]}`)
			}
			return a, nil
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
	s, err := study.Parse("outside.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// named returns the records of a mechanism.
func named(records []results.Cell, name string) []results.Cell {
	return results.Where(records, func(r results.Cell) bool { return r.Mechanism == name })
}

func TestCommandInAStudy(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "model.bin")
	write := func(text string) {
		if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	s := outside(t, `
  - {name: mine, command: [SELF, client, shuffle, "{k}", SCRIPT], parameters: {k: [1, 2]}}
  - {name: theirs, command: [SELF, client, shuffle]}
  - {name: whim, command: [SELF, client, whim]}
  - {name: shorter, command: [SELF, client, shorter]}
  - {name: never, command: [SELF, client, undefined]}
`, "SCRIPT", script)
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	reread, err := study.Parse("again.yaml", text) // what the manifest has
	if err != nil || !reflect.DeepEqual(reread.Design, s.Design) {
		t.Errorf("printed and read again, it is another study: %v\n%s", err, text)
	}
	l := lab.New("")
	defer l.Close()
	plan, err := planned(s, l)
	if err != nil {
		t.Fatal(err)
	}
	number := map[string]int{}
	for _, u := range plan.Units {
		number[u.Place.Mechanism]++
	}
	dir := t.TempDir()
	one := mustRun(t, s, engine.Options{Out: dir, Workers: 1})
	repeatable := func(r results.Row) bool { return !r.Unrepeatable }
	same(t, "three workers", results.Where(one.Rows, repeatable),
		results.Where(mustRun(t, s, engine.Options{Workers: 3}).Rows, repeatable))
	mine := named(cells(t, one), "mine")
	if len(mine) != 2 || mine[0].Parameters != "k=1" || mine[0].Variant != string(mechanisms.External) ||
		mine[0].Policy != "" {
		t.Fatalf("mine: %+v", mine)
	}
	for _, r := range cells(t, one) {
		switch r.Mechanism {
		case "mine", "theirs", "whim":
			if !r.Has("pp") || !r.Has("n_w") || !r.Has("cs") || !r.Has("low") || !r.Has("accuracy") ||
				r.GuaranteeReason != "the command declares none" || r.Unrepeatable != (r.Mechanism == "whim") {
				t.Errorf("%s: %+v", r.Mechanism, r)
			}
		case "shorter": // tokens do not align, so metrics of single words are not measured
			if r.Has("pp") || at(r, "pp").Whole != 0 || r.Has("n_w") || at(r, "n_w").Whole != 0 || !r.Has("cs") ||
				!r.Has("low") ||
				!r.Has("accuracy") {
				t.Errorf("%s: %+v", r.Mechanism, r)
			}
		case "never":
			if r.Status != results.StatusUndefined || !strings.Contains(r.Reason, "not at this epsilon") {
				t.Errorf("%s: %q", r.Status, r.Reason)
			}
		}
	}
	if again := mustRun(t, s, engine.Options{Out: dir}); again.Ran != 0 {
		t.Errorf("%d units run again", again.Ran)
	}
	write("second")
	if again := mustRun(t, s, engine.Options{Out: dir}); again.Ran != number["mine"] {
		t.Errorf("after a change of one script %d units run, want its %d", again.Ran, number["mine"])
	}
}

// Why a command failed, the end of its standard error, is shown once and whole,
// however many units it fails.
func TestReasonOfAFailureIsShownOnce(t *testing.T) {
	t.Parallel()
	s := outside(t, "  - {name: stillborn, command: [SELF, client, stillborn]}\n")
	var log bytes.Buffer
	sum, err := experiments.Run(t.Context(), s, "", engine.Options{Out: t.TempDir(), Workers: 1, Log: &log})
	if err == nil || sum.Failed < 2 {
		t.Fatalf("%v", err)
	}
	if all := log.String() + err.Error(); strings.Count(all, "no module named torch") != 1 {
		t.Errorf("%s", all)
	}
}

// An error of a command fails only its own units, each with one clear error.
func TestCommandsThatFail(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"stillborn": "its hello: ended (exit status 3)\nthe end of its standard error:\n\tno module named torch",
		"dies":      "its answer: ended (exit status 1)\nthe end of its standard error:\n\tKeyError: 'oil'",
		"rubbish":   `not a line of the protocol: invalid character 'l' looking for beginning of value: "loading model..."`,
		"flood":     "a line longer than 10485760 bytes",
		"short":     "2 answers for 3",
		"disorder":  "must have the id of the request, ",
		"liar":      "declares to be repeatable, but document ",
	}
	var list strings.Builder
	for kind := range want {
		fmt.Fprintf(&list, "  - {name: %s, command: [SELF, client, %[1]s]}\n", kind)
	}
	s := outside(t, list.String()+"  - {name: theirs, command: [SELF, client, shuffle]}\n")
	dir := t.TempDir()
	const good = 1 + 6 + 6                    // of plain text, cmp and theirs
	for _, finished := range []int{0, good} { // the second run tries them again
		sum, err := experiments.Run(t.Context(), s, "", engine.Options{Out: dir, Workers: 4})
		if err == nil || !strings.Contains(err.Error(),
			fmt.Sprintf("%d of %d units failed", 6*len(want), 6*len(want)+good-finished)) {
			t.Fatalf("%v", err)
		}
		if sum.Reused != finished || len(cells(t, sum)) != 3 || len(named(cells(t, sum), "theirs")) != 1 ||
			len(named(cells(t, sum), "cmp")) != 1 {
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
		found := false
		for kind, error := range want {
			if strings.Contains(string(text), " "+kind+" ") && strings.Contains(string(text), "client "+kind) {
				found = true
				if !strings.Contains(string(text), error) {
					t.Errorf("%s:\n%s\ndoes not say %q", kind, text, error)
				}
			}
		}
		if !found {
			t.Errorf("%s is of none of them", text)
		}
	}
}

func TestTextFromFilesInAStudy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) { put(t, dir, name, text) }
	words := []string{"good", "bad", "fine", "food", "room"}
	var original, aligned, rewritten, lines, vectors strings.Builder
	original.WriteString("id,body,stars\n")
	aligned.WriteString("words\tbody\n") // columns in any order
	for i := range 60 {
		text := []string{words[i%2], words[3+i%2], words[2]}
		fmt.Fprintf(&original, "r%d,The %s!,%d\n", i, strings.Join(text, " "), i%2)
		fmt.Fprintf(&aligned, "5\tthe %s %s %s\n", words[(i+1)%2], text[1], text[2])
		fmt.Fprintf(&lines, "%s.\n", text[0])
		if j := 59 - i; j >= 0 { // from the last to the first: ids say which is which
			fmt.Fprintf(&rewritten, "{\"id\": \"r%d\", \"body\": \"Quite <b>%s</b>, all of it, really\"}\n", j,
				words[j%2])
		}
	}
	for i, w := range append(words, "the", "quite", "all", "of", "it", "really") {
		fmt.Fprintf(&vectors, "%s %d %d\n", w, i, i*i%7)
	}
	file("reviews.csv", original.String())
	file("vectors.txt", vectors.String())
	file("aligned.tsv", aligned.String())
	file("rewritten-5.jsonl", rewritten.String())
	file("rewritten-9.jsonl", rewritten.String())
	file("folder/1.txt", lines.String())
	file("folder/2.txt", lines.String())
	s, err := study.Parse("texts.yaml", []byte(strings.ReplaceAll(`schema: 1
name: texts
seed: 3
datasets: [{name: own-reviews, file: DIR/reviews.csv, text: body, label: stars}]
embeddings: [{name: own, file: DIR/vectors.txt}]
epsilons: [5]
models: [{name: svm, parameters: {features: tfidf}}]
repetitions: 2
metrics: {deniability: {words: 3, runs: 5}, low: 4, cs: {encoder: sif, documents: 5}, document_loss: {}}
mechanisms:
  - {name: cmp}
  - {name: aligned, text: DIR/aligned.tsv, epsilons: [5], repetitions: 1}
  - {name: rewritten, text: "DIR/rewritten-{epsilon}.jsonl", id: id, epsilons: [5, 9], repetitions: 1}
  - {name: folder, text: DIR/folder, epsilons: [7]}
`, "DIR", dir)))
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	sum := mustRun(t, s, engine.Options{Out: out})
	counts := map[string]int{}
	for _, r := range cells(t, sum) {
		counts[r.Mechanism]++
		if r.IsBaseline() || r.Mechanism == "cmp" {
			continue
		}
		if r.Has("n_w") || at(r, "n_w").Whole != 0 || r.Policy != "" ||
			!strings.Contains(r.GuaranteeReason, "text made elsewhere") {
			t.Errorf("%s: %+v", r.Mechanism, r)
		}
		if !r.Has("accuracy") || !r.Has("cs") || !r.Has("low") || !r.Has("low_overlap") {
			t.Errorf("%s: something is not measured: %+v", r.Mechanism, r)
		}
		// The game is played with the text that was released, once a pair.
		if g := at(r, "document_game_topic"); r.Repetition == 1 && (g.Whole == 0 || g.Whole > 100 ||
			r.Has("document_game_word")) {
			t.Errorf("%s: game %+v", r.Mechanism, g)
		}
		switch r.Mechanism {
		case "aligned": // one word of four is another, and always the other judgement
			if at(r, "pp").Part != 60 || at(r, "pp").Whole != 240 || r.Get("accuracy").Float() != 100 {
				t.Errorf("%d of %d tokens changed, accuracy %v", at(r, "pp").Part, at(r, "pp").Whole, r.Get("accuracy"))
			}
		default:
			if r.Has("pp") || at(r, "pp").Whole != 0 || r.Get("accuracy").Float() != 100 { // each row met its own text
				t.Errorf("%s: PP %v of %d, accuracy %v", r.Mechanism, r.Get("pp"), at(r, "pp").Whole, r.Get("accuracy"))
			}
		}
	}
	if counts["aligned"] != 1 || counts["rewritten"] != 2 || counts["folder"] != 2 || counts["cmp"] != 2 {
		t.Errorf("records: %v", counts)
	}
	file("rewritten-9.jsonl", strings.ReplaceAll(rewritten.String(), "Quite", "Really"))
	if again := mustRun(t, s, engine.Options{Out: out}); again.Ran != 6 {
		t.Errorf("after a change of one text %d units run, want its 6", again.Ran)
	}
	file("aligned.tsv", "words\tbody\n5\tthe good\n")
	_, err = experiments.Run(t.Context(), s, "", engine.Options{Out: out})
	if err == nil || !strings.Contains(err.Error(), "6 of 6 units failed") {
		t.Errorf("a text of one row for 60: %v", err)
	}
}

func TestOutsideErrorsNameThePlace(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"{name: cmp, command: [x]}":                `outside.yaml:12:5: name = "cmp": is that of a built-in mechanism`,
		"{name: all, command: [x]}":                `12:12: name = "all": has a meaning of its own`,
		"{name: none, text: x.csv, epsilons: [1]}": `12:12: name = "none": has a meaning of its own`,
		"{name: a b, command: [x]}":                `12:12: name = "a b": must consist of letters`,
		"{name: a, command: [x], text: y.csv}":     "12:5: a: give command or text, not both",
		"{name: a, command: [x], variant: proved}": "12:12: a: variant and keep_words are those of built-in",
		"{name: a, command: [x], parameters: {k: 1}}": "12:5: a: parameter k: {k} must stand " +
			"in the command",
		"{name: a, command: [x], id: id}":                                "12:5: a: columns and id describe a text",
		"{name: a, text: y.csv, epsilons: [1, 2]}":                       `12:5: a: text = "y.csv": holds the text of one epsilon`,
		"{name: vickrey, columns: [x]}":                                  "12:5: vickrey: columns and id describe a text",
		"{name: a, command: x y}":                                        "outside.yaml:12:",
		"{name: a, command: [x]}\n  - {name: a, command: [y]}":           "13:12: a is given twice",
		"{name: tem, repetitions: 0}":                                    "repetitions = 0: must be in [1, 10000]",
		`{name: a, command: [x, "{k}"], parameters: {k: []}}`:            "a: parameter k: the list is empty",
		`{name: a, command: [x, "{k}"], parameters: {k: {deep: value}}}`: "a: parameter k: ",
	} {
		_, err := study.Parse("outside.yaml", []byte(`schema: 1
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
  - `+entry+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") ||
			!strings.HasPrefix(err.Error(), "outside.yaml:") {
			t.Errorf("%s:\n got %v\nwant %q", entry, err, want)
		}
	}
}
