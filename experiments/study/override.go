package study

import (
	"fmt"
	"slices"
)

// Overrides change a study from the command line. They give a new study value,
// which keys and manifest reflect; empty ones change nothing.
type Overrides struct {
	Datasets            []string
	Embeddings          []string // instead of the study's: files, also relative to Root, or names
	Root                string   // data folder; "" finds it as every command does
	Dimensions          []int
	Mechanisms          []string // name or name:variant
	Epsilons            []float64
	Models              []string
	Settings            []string
	Repetitions         int // baselines keep their proportion unless also given
	BaselineRepetitions int
	Sample              string   // "small"
	Panels              []string // of a paper study: only these panels or sections
	Seed                *uint64
}

// Refuse returns an error where one of the named flags was given, because the
// study does not use it.
func (o Overrides) Refuse(kind string, flags ...string) error {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"datasets", o.Datasets != nil}, {"embedding", o.Embeddings != nil}, {"dimensions", o.Dimensions != nil},
		{"mechanisms", o.Mechanisms != nil},
		{"epsilons", o.Epsilons != nil}, {"models", o.Models != nil}, {"settings", o.Settings != nil},
		{"repetitions", o.Repetitions != 0},
		{"baseline-repetitions", o.BaselineRepetitions != 0}, {"sample", o.Sample != ""}, {"panel", o.Panels != nil},
	} {
		if f.given && slices.Contains(flags, f.name) {
			return fmt.Errorf("--%s does not apply to a %s study: print it with mldp study show, edit it "+
				"and run the file", f.name, kind)
		}
	}
	return nil
}
