package submit

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/experiments/task"
	"mldpbench/mechanisms"
)

const card = `system: Half of the words
authors: [A. Author]
link: https://example.org
promise: none
unit: none
training: none
`

// made runs the generated task on a text that lacks words, and on k-RR, and
// packs it once for all tests.
func made(t *testing.T) (dir string) {
	t.Helper()
	work := t.TempDir()
	of, _, err := task.Open("generated-styles@1/lite")
	if err != nil {
		t.Fatal(err)
	}
	d, err := of.Load(t.Context(), "", task.Lite)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("id,text\n")
	for _, s := range d.Splits() {
		for _, x := range s.Documents {
			fmt.Fprintf(&text, "%d,%s\n", x.ID, strings.Join(x.Tokens[:(len(x.Tokens)+1)/2], " "))
		}
	}
	write(t, filepath.Join(work, "half.csv"), text.String())
	write(t, filepath.Join(work, "card.yaml"), card)
	s, err := of.Submission(task.Lite, []study.MechanismSpec{{Name: "half", Outside: mechanisms.Outside{
		Text: filepath.Join(work, "half.csv"), Columns: []string{"text"}, ID: "id"}},
		{Name: "k-rr", Epsilons: []float64{10}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(work, "run")
	if _, err := experiments.Run(t.Context(), s, "", engine.Options{Out: run, Version: "test"}); err != nil {
		t.Fatal(err)
	}
	if _, err := Submit(run, filepath.Join(work, "card.yaml"), "", filepath.Join(work, "package")); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(work, "package")
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// verify checks a package and computes it again.
func verify(t *testing.T, name string) error {
	c, err := Check(name, t.TempDir())
	if err != nil {
		return err
	}
	return c.Verify(t.Context(), Options{Version: "another", Samples: 1000})
}

// reseal lists the files of a changed package again: a forger can do that.
func reseal(t *testing.T, dir string) {
	t.Helper()
	var p Package
	data, err := os.ReadFile(filepath.Join(dir, contents))
	if err != nil || json.Unmarshal(data, &p) != nil {
		t.Fatal(err)
	}
	if err := seal(dir, &p); err != nil {
		t.Fatal(err)
	}
}

// TestHostilePackages changes an honest package in 37 ways. Each is refused with
// its reason; the honest one is accepted, as a folder and as a zip file, and
// packing it twice gives equal bytes.
func TestHostilePackages(t *testing.T) {
	honest := made(t)
	var zips [2][]byte
	for i := range zips {
		name := filepath.Join(t.TempDir(), "honest.zip")
		if err := pack(honest, name); err != nil {
			t.Fatal(err)
		}
		zips[i], _ = os.ReadFile(name)
		if i == 0 {
			for _, p := range []string{honest, name} {
				if err := verify(t, p); err != nil {
					t.Fatalf("the honest package: %v", err)
				}
			}
		}
	}
	if !bytes.Equal(zips[0], zips[1]) {
		t.Error("two zip files of one folder differ")
	}
	const half = "texts/1-half.csv"
	replace := func(file, old, new string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			name := filepath.Join(dir, filepath.FromSlash(file))
			data, err := os.ReadFile(name)
			if err != nil || !strings.Contains(string(data), old) {
				t.Fatalf("%s has no %q: %v", file, old, err)
			}
			write(t, name, strings.Replace(string(data), old, new, 1))
		}
	}
	remove := func(file string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, filepath.FromSlash(file))); err != nil {
				t.Fatal(err)
			}
		}
	}
	lines := func(file string, change func([]string) []string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			name := filepath.Join(dir, filepath.FromSlash(file))
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			write(t, name, strings.Join(change(strings.SplitAfter(string(data), "\n")), ""))
		}
	}
	other, _, err := task.Open("sst2")
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(t.TempDir(), "old")
	if err := os.CopyFS(old, os.DirFS(honest)); err != nil {
		t.Fatal(err)
	}
	lines("results.documents.csv", func(l []string) []string {
		for i := range l {
			l[i] = l[i][:max(0, strings.LastIndex(l[i], ","))] + "\n"
		}
		return l[:len(l)-1]
	})(t, old)
	reseal(t, old)
	if err := verify(t, old); err != nil {
		t.Errorf("a package of a version without scores: %v", err)
	}
	for _, c := range []struct {
		name   string
		change func(*testing.T, string)
		sealed bool // the forger lists the files again
		want   string
	}{
		{"a changed byte", replace(rowsFile, "half", "hall"), false, "results.csv was changed"},
		{"a changed text", replace(half, " ", "  "), false, half + " was changed"},
		{"a missing file", remove("results.documents.csv"), false, "results.documents.csv is missing"},
		{"a file too much", func(t *testing.T, d string) { write(t, filepath.Join(d, "run.sh"), "rm") }, false,
			"run.sh is not in"},
		{"no list", remove(contents), false, "there is no package.json"},
		{"a broken list", replace(contents, "{", "["), false, "package.json: "},
		{"another format", replace(contents, `"format": 1`, `"format": 9`), false, "format = 9"},
		{"another kind", replace(contents, `"submission"`, `"program"`), false, `kind = "program"`},
		{"no card", remove(cardFile), true, "there is no card.yaml"},
		{"a card without a promise", replace(cardFile, "promise: none\n", ""), true, "promise: must not be empty"},
		{"a card with more keys", replace(cardFile, "link:", "score: 1\nlink:"), true, `unknown field "score"`},
		{"an edited task", replace(taskFile, "test: 160", "test: 16"), true,
			"task.yaml: generated-styles@1 of this mldp has"},
		{"another task", func(t *testing.T, d string) { write(t, filepath.Join(d, taskFile), string(other.Source())) }, true,
			"of another task"},
		{"a study of its own", replace(studyFile, "test: 160", "test: 16"), true, "is not the study of generated-styles@1"},
		{"a weaker attacker", replace(studyFile, "attribute-adaptive-ngrams", "attribute-surface"), true,
			"is not the study of"},
		{"a command", replace(studyFile, "text: texts/1-half.csv\n    columns:\n      - text\n    id: id",
			"command: [rm, x]\n    epsilons: [1]"), true, "is a command"},
		{"a measurement that is a command", func(t *testing.T, d string) {
			replace(contents, `"submission"`, `"artifact"`)(t, d)
			replace(studyFile, "embeddings:", "metrics:\n  commands: [{name: evil, command: [rm, x]}]\nembeddings:")(t, d)
		}, true, "measurement evil is a command"},
		{"a text elsewhere", replace(studyFile, "text: texts/1-half.csv", "text: /etc/passwd"), true,
			"study.yaml:19: \"/etc/passwd\" is no name in the package"},
		{"a text above", replace(studyFile, "text: texts/1-half.csv", "text: texts/../../x"), true, "is no name in"},
		{"a text beside", replace(studyFile, "text: texts/1-half.csv", "text: results.csv"), true, "is not in the package"},
		{"an escaped path", replace(studyFile, "text: texts/1-half.csv", `text: "\x2fetc/passwd"`), true, "is no name in"},
		{"a packed path", replace(studyFile, "text: texts/1-half.csv", "text: !!binary L2V0Yy9wYXNzd2Q="), true, "no tags"},
		{"data elsewhere", func(t *testing.T, d string) {
			replace(contents, `"submission"`, `"artifact"`)(t, d)
			replace(studyFile, "datasets:", "datasets:\n  - {name: stolen, file: ../../secrets.csv, text: [a]}")(t, d)
		}, true, "is no name in"},
		{"vectors elsewhere", func(t *testing.T, d string) { // opened for their dimension, if it is not refused before
			replace(contents, `"submission"`, `"artifact"`)(t, d)
			replace(studyFile, "embeddings:", "embeddings:\n  - {file: /etc/passwd}")(t, d)
		}, true, `"/etc/passwd" is no name in`},
		{"vectors elsewhere, of the task", replace(taskFile, "embeddings: [", "embeddings: [{file: /etc/passwd}, "), true,
			`"/etc/passwd" is no name in`},
		{"a text nobody reads", func(t *testing.T, d string) { write(t, filepath.Join(d, "texts", "more.csv"), "x") }, true,
			"no mechanism of the study has this text"},
		{"rows of another task", replace(contents, "/lite:", "/full:"), false, "of another task"},
		{"a row less", lines(rowsFile, func(l []string) []string { return append(l[:3:3], l[4:]...) }), true, "cut short"},
		{"no rows", lines(rowsFile, func(l []string) []string { return l[:1] }), true, "no rows"},
		{"items left out", lines("results.documents.csv", func(l []string) []string { return append(l[:2:2], l[3:]...) }),
			true,
			"the answers on the test items are missing"},
		{"a better score", lines("results.documents.csv", func(l []string) []string {
			at := strings.LastIndex(l[1], ",") + 10
			l[1] = l[1][:at] + strings.Map(func(c rune) rune { return 'A' + (c+1)%26 }, l[1][at:at+1]) + l[1][at+1:]
			return l
		}), true, "the scores of the test items are not those of the texts"},
		{"a document left out", lines(half, func(l []string) []string { return append(l[:4:4], l[5:]...) }), true,
			"no text for 1 of 400"},
		{"a document twice", lines(half, func(l []string) []string { return append(l, l[4]) }), true, "once in a file"},
		{"a text cut", lines(half, func(l []string) []string {
			id, _, _ := strings.Cut(l[4], ",")
			l[4] = id + ",cut\n"
			return l
		}), true, "no row has"},
		{"a better number", betterNumber, true, "is not what the texts give"},
		{"another seed", replace(studyFile, "seed: 1", "seed: 2"), true, "no row has"},
		{"a row too much", moreEpsilons, true, "no row has"},
	} {
		dir := filepath.Join(t.TempDir(), "package")
		if err := os.CopyFS(dir, os.DirFS(honest)); err != nil {
			t.Fatal(err)
		}
		c.change(t, dir)
		if c.sealed {
			reseal(t, dir)
		}
		err := verify(t, dir)
		var r *Refusal
		if !errors.As(err, &r) || !strings.Contains(r.Reason, c.want) {
			t.Errorf("%s: %v, want the refusal %q", c.name, err, c.want)
		}
	}
}

// betterNumber raises a mean similarity that has no counts to contradict it.
func betterNumber(t *testing.T, dir string) {
	name := filepath.Join(dir, rowsFile)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(data), ",overlap-jaccard,0.")
	if at < 0 {
		t.Fatal("no such number")
	}
	at += len(",overlap-jaccard,0.")
	digit := byte('1')
	if data[at] == digit {
		digit = '2'
	}
	data[at] = digit
	write(t, name, string(data))
}

func moreEpsilons(t *testing.T, dir string) {
	name := filepath.Join(dir, studyFile)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	write(t, name, strings.Replace(string(data), "- 10.0", "- 10.0\n      - 11.0", 1))
}

// TestHostileArchives are zip files that would harm who unpacks them.
func TestHostileArchives(t *testing.T) {
	for _, c := range []struct {
		name, want string
		files      []string
	}{
		{"above", "leaves the folder", []string{"../evil"}},
		{"rooted", "leaves the folder", []string{"/etc/evil"}},
		{"backslash", "leaves the folder", []string{`..\evil`}},
		{"drive", "leaves the folder", []string{"C:evil"}},
		{"twice", "is there twice", []string{"a", "A"}},
		{"many", "more than 2000 files", make([]string, maxFiles+1)},
	} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for i, name := range c.files {
			if name == "" {
				name = fmt.Sprint(i)
			}
			if _, err := z.Create(name); err != nil {
				t.Fatal(err)
			}
		}
		z.Close()
		hostile(t, c.name, b.Bytes(), c.want)
	}
	hostile(t, "no zip", []byte("hello"), "is no zip file")
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: "link"}
	h.SetMode(os.ModeSymlink | 0o777)
	w, _ := z.CreateHeader(h)
	io.WriteString(w, "/etc/passwd")
	z.Close()
	hostile(t, "a link", b.Bytes(), "is no plain file")
}

func hostile(t *testing.T, name string, data []byte, want string) {
	t.Helper()
	file, dir := filepath.Join(t.TempDir(), "x.zip"), t.TempDir()
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Check(file, filepath.Join(dir, "in"))
	var r *Refusal
	if !errors.As(err, &r) || !strings.Contains(r.Reason, want) {
		t.Errorf("%s: %v, want the refusal %q", name, err, want)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 1 {
		t.Errorf("%s: wrote beside its folder", name)
	}
}

func TestEmptyCardIsRefused(t *testing.T) {
	t.Parallel()
	half := strings.Replace(EmptyCard, "First Author, Second Author", "A. Author", 1)
	for want, text := range map[string]string{
		"is that of the empty card": EmptyCard, `link = "https://example.org/paper"`: half,
	} {
		if _, err := ReadCard("card.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if _, err := ReadCard("card.yaml", []byte(strings.Replace(half, "/paper", "/ours", 1))); err != nil {
		t.Error(err)
	}
}

func FuzzReadCard(f *testing.F) {
	f.Add([]byte(card))
	f.Add([]byte(EmptyCard))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := ReadCard("card.yaml", data); err == nil && c.System == "" {
			t.Error("a card without a name")
		}
	})
}

func FuzzArchive(f *testing.F) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.Create(contents)
	io.WriteString(w, `{"format": 1, "kind": "submission"}`)
	z.Close()
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "x.zip")
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Check(file, t.TempDir()); err == nil {
			t.Error("accepted")
		}
	})
}
