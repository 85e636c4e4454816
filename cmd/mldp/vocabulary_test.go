package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// strangeWords are words of real vector files that no text holds as one word.
var strangeWords = []string{"</s>", "<unk>", "<user>", "#tag", "@at", "(a", "c++", "mr.", "...", ",", "ganz\u3000gut",
	"10\u00a0km", "cut\xe2\x82"}

// spaces writes a vector file of plain words, and one that has strange words besides.
func spaces(t *testing.T) (clean, strange string) {
	dir := t.TempDir()
	clean = filepath.Join(dir, "clean.vec")
	strange = filepath.Join(dir, "strange.vec")
	var ofClean, ofStrange strings.Builder
	for i := range 40 {
		line := fmt.Sprintf("word%c%c %d %d.5\n", 'a'+i/20, 'a'+i%20, i%7, i*i%11)
		ofClean.WriteString(line)
		if i < len(strangeWords) {
			fmt.Fprintf(&ofStrange, "%s %d %d.25\n", strangeWords[i], i%5, i*i%13)
		}
		ofStrange.WriteString(line)
	}
	writeFile(t, clean, ofClean.String())
	writeFile(t, strange, ofStrange.String())
	return clean, strange
}

// Every command that reads vectors builds the mechanism that privatize draws from: what it
// says is that of the vectors without the words that are never outputs, and it says so.
func TestOneVocabularyAtEveryDoor(t *testing.T) {
	clean, strange := spaces(t)
	text := filepath.Join(t.TempDir(), "in.txt")
	writeFile(t, text, strings.Repeat("wordaa wordab wordbc tag s unk\n", 50))
	requests := fmt.Sprintf(`{"id":1,"epsilon":1,"seeds":["%s"],"texts":["%s"]}`, strings.Repeat("07", 32),
		strings.Repeat("wordaa tag ", 200))
	for _, args := range [][]string{
		{"explain", "--mechanism", "uniform", "--epsilon", "1", "--words", "wordaa", "--top", "100"},
		{"explain", "--mechanism", "tem", "--epsilon", "2", "--words", "wordaa wordbc", "--top", "100"},
		{"explain", "--words", "wordaa", "--top", "100"},
		{"calibrate", "--mechanism", "rank-fix", "--target", "em=0.3,0.5", "--text", text},
		{"calibrate", "--mechanism", "tem", "--target", "nw=0.5"},
		{"audit", "--mechanism", "santext", "--epsilon", "2"},
		{"audit", "--mechanism", "vickrey", "--epsilon", "2", "--samples", "1000"},
		{"privatize", "--mechanism", "uniform", "--epsilon", "1", "--seed", "3", text},
		{"privatize", "--target", "em=0.5", "--seed", "3", text},
		{"serve", "--mechanism", "uniform"},
	} {
		var answers [2]string
		for i, space := range []string{clean, strange} {
			var out, said bytes.Buffer
			c := call{stdin: strings.NewReader(requests), stdout: &out, stderr: &said}
			if code := c.run(append(args, "--embedding", space)...); code != exitOK && code != exitNothing {
				t.Fatalf("%q: exit code %d: %s", args, code, &said)
			}
			leftOut := fmt.Sprintf("%d of the %d words of the vectors, such as %q, would not be read as one word in a text: left "+
				"out", len(strangeWords), len(strangeWords)+40, strangeWords[0])
			if n := strings.Count(said.String(), leftOut); n != i {
				t.Errorf("%q: says %d times that words are left out, want %d: %s", args, n, i, &said)
			}
			answers[i] = strings.ReplaceAll(out.String(), "strange", "clean")
		}
		if answers[0] != answers[1] {
			t.Errorf("%q: with words that are never outputs\n%s\nwant as without\n%s", args, answers[1], answers[0])
		}
	}
}

// A word in capitals is found in lower case, by the rule that the vocabulary follows, at
// every door.
func TestLowerCaseAtEveryDoor(t *testing.T) {
	dir := t.TempDir()
	space := filepath.Join(dir, "v.txt")
	words := "οδος χρονος istanbul diyarbakır"
	var vectors strings.Builder
	for i, w := range append(strings.Fields(words), "other") {
		fmt.Fprintf(&vectors, "%s %d %d\n", w, i, i*i)
	}
	writeFile(t, space, vectors.String())
	upper := "ΟΔΟΣ ΧΡΟΝΟΣ İSTANBUL DİYARBAKIR"
	identity := []string{"--quiet", "privatize", "--mechanism", "identity", "--epsilon", "1", "--embedding", space}
	request, err := json.Marshal(map[string]any{"id": 1, "epsilon": 1, "seeds": []string{strings.Repeat("07", 32)},
		"texts": []string{upper}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in   string
		args []string
		want string
	}{
		"privatize": {upper + "\n", append(identity, "--policy", "drop"), words + "\n"},
		"plain":     {upper + "!\n", append(identity, "--layout", "plain"), words + "\n"},
		"kept": {upper + "\n", []string{"--quiet", "privatize", "--mechanism", "uniform", "--epsilon", "1", "--embedding", space,
			"--layout", "plain", "--keep-words", words}, words + "\n"},
		"serve": {string(request), []string{"--quiet", "serve", "--mechanism", "identity", "--embedding", space, "--policy", "drop"},
			`"` + words + `"`},
		"explain": {"", []string{"--quiet", "explain", "--mechanism", "identity", "--epsilon", "1", "--embedding", space, "--words",
			upper}, "istanbul    istanbul"},
		"neighbours": {"", []string{"--quiet", "explain", "--embedding", space, "--words", upper, "--top", "1"}, "diyarbakır  "},
	} {
		var out, said bytes.Buffer
		code := call{stdin: strings.NewReader(c.in), stdout: &out, stderr: &said}.run(c.args...)
		if code != exitOK || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: exit code %d, %q, want %q; %s", name, code, out.String(), c.want, &said)
		}
		if strings.Contains(said.String(), "not in the vocabulary") {
			t.Errorf("%s: a word is not found: %s", name, &said)
		}
	}
}
