// Package attacker is a template: copy it, and import it in experiments/measure.
package attacker

import (
	"context"

	"mldpbench/models/attack"
)

func init() {
	attack.Register(attack.Definition{
		Name: "unchanged", OneRelease: true,
		Columns: []attack.Column{{Name: "unchanged-words", Title: "words unchanged"}},
		// Every word is taken for what it was. A need of another attacker, such as attack.NeedsVectors, is a field of s.
		Guess: func(_ context.Context, _ *attack.Situation, release [][]int32) ([][]int32, error) {
			return release, nil
		},
	})
}
