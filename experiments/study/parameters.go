package study

import (
	"mldpbench/internal/params"
	"mldpbench/models"
	"mldpbench/models/attack"
)

// Parameter is one that a study may give to models or attackers.
type Parameter struct {
	params.Parameter
	Of string // a model, or attackers
}

// Parameters lists those of each model, then those of attackers: the options of a study. What is fixed is left out.
func Parameters() (all []Parameter) {
	for _, d := range models.Definitions() {
		for _, p := range d.Parameters {
			if !p.Fixed {
				all = append(all, Parameter{Parameter: p, Of: d.Name})
			}
		}
	}
	for _, p := range attack.Parameters {
		all = append(all, Parameter{Parameter: p, Of: "attackers"})
	}
	return all
}
