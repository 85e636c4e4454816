package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mldpbench/internal/list"
	"mldpbench/mechanisms"
)

// read is a file of the source.
func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{source}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestNamesThatRaceSkips fails for a name that make race skips and no test has.
func TestNamesThatRaceSkips(t *testing.T) {
	var tests strings.Builder
	for _, folder := range []string{"internal", "embeddings", "mechanisms", "models", "experiments"} {
		err := filepath.WalkDir(filepath.Join(source, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			data, err := os.ReadFile(path)
			tests.Write(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	skipped := regexp.MustCompile(`(?m)^SERIAL = (.*)$`).FindStringSubmatch(read(t, "Makefile"))
	if skipped == nil {
		t.Fatal("the Makefile has no list of tests that make race skips")
	}
	for _, name := range strings.Split(skipped[1], "|") {
		if !regexp.MustCompile(`(?m)^func ` + name + `\(`).MatchString(tests.String()) {
			t.Errorf("make race skips %s, which is no test", name)
		}
	}
}

// TestPoliciesAreThoseOfThePages compares the policies that a page names with those there are.
func TestPoliciesAreThoseOfThePages(t *testing.T) {
	names := strings.Join(list.Map(mechanisms.Policies, func(p mechanisms.Policy) string { return string(p) }), ", ")
	if want := "| policy | treatment of unknown words: " + names + " |"; !strings.Contains(read(t, "docs", "terms.md"), want) {
		t.Errorf("docs/terms.md has no line %q", want)
	}
}
