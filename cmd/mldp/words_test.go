package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// houseWords are this project's former words, and what the field says.
var houseWords = []struct {
	former *regexp.Regexp
	say    string
}{
	{regexp.MustCompile(`(?i)(told|tells?) apart`), "significantly different"},
	{regexp.MustCompile(`(?i)\b(is|are) level\b|\blevel with`), "equivalent"},
	{regexp.MustCompile(`(?i)would not show`), "minimum detectable"},
	{regexp.MustCompile(`(?i)keeps? most|use over privacy`), "highest utility"},
	{regexp.MustCompile(`(?i)best guess`), "Bayes adversary"},
	{regexp.MustCompile(`(?i)private texts?\b`), "original text or privatised text"},
	{regexp.MustCompile(`(?i)not known of the line`), "interpolation error"},
	{regexp.MustCompile(`(?i)(find|finds|found)( [a-z]+){0,3} again`), "recovers a word, re-identifies a document"},
	{regexp.MustCompile(`(?i)knows? how (often|frequent)`), "word-frequency prior"},
	{regexp.MustCompile(`(?i)\bpromis`), "guarantee"},
	{regexp.MustCompile(`(?i)would tell`), "privacy loss"},
	{regexp.MustCompile(`(?i)\bplayers?\b`), "adversary"},
	{regexp.MustCompile(`(?i)\bscene\b`), "part, setting"},
}

// TestPagesSayTheFieldsWords looks for former words in all that a user reads.
func TestPagesSayTheFieldsWords(t *testing.T) {
	read := 0
	for _, pattern := range []string{"help/*.txt", "../../*.md", "../../docs/*.md", "../../bench/*.md",
		"../../results/reports/*.md", "../../results/reports/*.tmpl", "../../results/views/*.yaml",
		"../../experiments/study/keys.txt", "../../plots/report/*.html", "../../python/*.md",
		"../../python/mldpbench/*.py", "../../examples/*.py"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			page, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			read++
			if filepath.Base(file) != "CHANGELOG.md" { // says what was renamed
				sayHouseWords(t, file, string(page))
			}
		}
	}
	const least = 40
	if read < least {
		t.Errorf("%d pages are read, want at least %d", read, least)
	}
}

// sayHouseWords fails for each former word of a page, which may be broken by a line's end.
func sayHouseWords(t *testing.T, file, page string) {
	t.Helper()
	flat := strings.Join(strings.Fields(page), " ")
	for _, word := range houseWords {
		for _, at := range word.former.FindAllStringIndex(flat, -1) {
			start := max(0, at[0]-40)
			end := min(len(flat), at[1]+20)
			t.Errorf("%s: “…%s…”: say %s", file, flat[start:end], word.say)
		}
	}
}
