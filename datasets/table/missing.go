package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// missing are what programs write for a value that is not there, in lower case.
var missing = []string{"nan", "na", "n/a", "#n/a", "<na>", "nat", "null", "none", "nil", `\n`}

// LooksMissing reports whether a value is what programs write for one that is not there.
func LooksMissing(value string) bool {
	const longest = 8 // with spaces around
	if len(value) < 2 || len(value) > longest {
		return false
	}
	return slices.Contains(missing, strings.ToLower(strings.TrimSpace(value)))
}

// Suspects counts texts that look like missing ones.
type Suspects map[string]int

// Add counts a text.
func (s Suspects) Add(text string) {
	if LooksMissing(text) {
		s[strings.TrimSpace(text)]++
	}
}

// Warnings are a sentence for each.
func (s Suspects) Warnings() (out []string) {
	for _, text := range slices.Sorted(maps.Keys(s)) {
		out = append(out, fmt.Sprintf("%d texts are %s: are they missing ones?", s[text], text))
	}
	return out
}
