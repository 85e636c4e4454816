package metrics

import (
	"fmt"

	"mldpbench/internal/list"
)

// TokenCounts holds the counts behind PP.
type TokenCounts struct {
	Changed int // tokens that differ after privatising, dropped ones included
	Total   int // tokens before privatising
	Unknown int // tokens outside the mechanism's vocabulary before privatising
}

// CountChanged compares tokens position by position. unknown marks the tokens
// outside the mechanism's vocabulary; nil means none.
//
// Policy drop shortens a document by exactly its unknown tokens. They count
// as changed (the reader does not see them), and the known tokens are
// compared in order. A document of any other length is an error: privatising
// never inserts or removes anything else.
func CountChanged(original, privatised [][]string, unknown func(token string) bool) (TokenCounts, error) {
	var c TokenCounts
	if len(original) != len(privatised) {
		return c, fmt.Errorf("pp: %d documents privatised to %d", len(original), len(privatised))
	}
	if unknown == nil {
		unknown = func(string) bool { return false }
	}
	for i, before := range original {
		after := privatised[i]
		unknowns := list.Count(before, unknown)
		dropped := len(after) != len(before)
		if dropped && len(after) != len(before)-unknowns {
			return c, fmt.Errorf("pp: document %d: %d tokens (%d unknown) privatised to %d", i, len(before), unknowns,
				len(after))
		}
		at := 0
		for _, t := range before {
			if dropped && unknown(t) {
				c.Changed++
				continue
			}
			if after[at] != t {
				c.Changed++
			}
			at++
		}
		c.Total += len(before)
		c.Unknown += unknowns
	}
	return c, nil
}
