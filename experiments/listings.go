package experiments

import (
	"context"

	"mldpbench/experiments/study"
	"mldpbench/internal/params"
	"mldpbench/results/quantity"
)

// ListStudies lists the studies of this program.
func ListStudies(_ context.Context, call Call) (*Outcome, error) {
	o := call.answer()
	var rows [][]any
	for _, name := range Builtin.Names() {
		s, err := Builtin.Open(name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, []any{s.Name, s.Title})
	}
	o.table("studies", []string{"study", "title"}, rows)
	return o, nil
}

// ListKeys lists the keys of studies, the parameters of models, and the quantities that are measured.
func ListKeys(_ context.Context, call Call) (*Outcome, error) {
	o := call.answer()
	var keys, parameters, quantities [][]any
	for _, k := range study.Keys() {
		keys = append(keys, []any{k.Path, k.Kind(), k.Doc})
	}
	for _, p := range study.Parameters() {
		parameters = append(parameters, []any{p.Of, p.Name, params.FormatValue(p.Default), p.Legal, p.Doc})
	}
	for _, c := range quantity.All() {
		if c.Title != "" {
			quantities = append(quantities, describe(c))
		}
	}
	o.table("keys", []string{"key", "value", "meaning"}, keys)
	o.say("")
	o.table("parameters", []string{"of", "parameter", "default", "values", "meaning"}, parameters)
	o.say("")
	o.table("quantities", []string{"quantity", "title", "unit", "better", "threshold", "depends on"}, quantities)
	return o, nil
}

// describe is the line of a quantity: its name, title, unit, which direction is better, the
// change that mldp check lets pass (nothing where it does not look), and what it depends on.
func describe(c quantity.Quantity) []any {
	better := ""
	switch c.Direction {
	case quantity.Up:
		better = "higher"
	case quantity.Down:
		better = "lower"
	}
	var threshold any
	if c.Threshold > 0 {
		threshold = c.Threshold
	}
	depends := "text"
	switch {
	case c.Attacker != "":
		depends = "attacker"
	case c.OfModel:
		depends = "model"
	case c.OfWords:
		depends = "words"
	}
	return []any{c.Name, c.Title, c.Unit, better, threshold, depends}
}
