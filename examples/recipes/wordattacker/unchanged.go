// Package wordattacker is a template: copy it, and import it in cmd/mldp.
package wordattacker

import (
	"context"

	"mldpbench/models/attack"
	"mldpbench/models/attack/words"
)

func init() { // needs, such as attack.NeedsModel, are fields of the target
	words.Register(words.Attacker{
		Name:  "unchanged",
		Title: "words unchanged",
		Score: score,
	})
}

// score takes every word for what it was.
func score(_ context.Context, _ *attack.Target, release [][]int32) ([][]int32, error) {
	return release, nil
}
