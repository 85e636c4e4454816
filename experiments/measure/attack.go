package measure

import (
	"fmt"
	"strings"

	"mldpbench/models/attack"
	"mldpbench/results"
)

func init() {
	for _, name := range attack.Names() {
		d, _ := attack.Find(name) // it is registered
		for _, c := range d.Columns {
			// Better is better kept: a study of attacks is read by who releases.
			better := results.Down
			if c.HigherIsPrivate {
				better = results.Up
			}
			digits, gate := 3, 0.05
			if c.Unit == "bits" || c.Unit == "tokens" {
				digits, gate = 2, 0.5
			}
			unit := c.Unit
			if unit == "share" || unit == "ratio" {
				unit = ""
			}
			results.RegisterQuantity(results.Column{
				Name: c.Name, Title: c.Title, Unit: unit, Direction: better, Digits: digits, Threshold: gate,
				Table: name,
			})
		}
	}
}

// Attacked is the row of what an attacker found.
func Attacked(r results.Record, o attack.Outcome) results.Record {
	r.Quantity, r.Value = o.Column, results.Float(o.Value.Estimate)
	r.ValueLow, r.ValueHigh = results.Float(o.Value.Low), results.Float(o.Value.High)
	r.Chance, r.Ceiling, r.Trials = results.Float(o.Floor), results.Float(o.Ceiling), o.Count
	var notes []string
	if o.Draws > 0 {
		notes = append(notes, fmt.Sprintf("channel learned from %d draws a word", o.Draws))
	}
	if o.Note != "" {
		notes = append(notes, o.Note)
	}
	r.Note = strings.Join(notes, "; ")
	return r
}
