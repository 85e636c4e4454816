package plots

import (
	"slices"
	"strings"
	"testing"

	"mldpbench/mechanisms"
	"mldpbench/results"
)

// A guarantee between some words only is marked wherever the curve's name
// occurs.
func TestScopedCurvesAreMarked(t *testing.T) {
	records := syntheticRecords(2)
	marked := ""
	for i, r := range records {
		if !r.IsBaseline() && r.GuaranteeMetric != "" && (marked == "" || r.Mechanism == marked) {
			marked, records[i].GuaranteeScope = r.Mechanism, "between words of one group"
		}
	}
	if marked == "" {
		t.Fatal("no mechanism with a guarantee")
	}
	s := newStudy(records)
	for _, id := range s.curves {
		if got := strings.HasSuffix(s.labels[id], results.ScopeMark); got != (id.Mechanism == marked &&
			!s.styles[id].Hollow) {
			t.Errorf("label %q", s.labels[id])
		}
	}
	says := func(note string) bool { return strings.Contains(note, "only between some words") }
	if notes := s.warnings(records); !slices.ContainsFunc(notes, says) {
		t.Errorf("notes %q", notes)
	}
	if notes := newStudy(syntheticRecords(2)).warnings(syntheticRecords(2)); slices.ContainsFunc(notes, says) {
		t.Errorf("notes %q without any scope", notes)
	}
}

// The line of the best joins full guarantees only, whatever a mechanism with a
// partial guarantee keeps.
func TestScopedCurvesAreNotTheBest(t *testing.T) {
	front := pareto([]Curve{
		{Label: "full", Points: []Point{Exactly(0.5, 70)}},
		{Label: "scoped", Style: Style{Scoped: true}, Points: []Point{Exactly(0.6, 90)}},
		{Label: "none", Style: Style{Hollow: true}, Points: []Point{Exactly(0.9, 99)}},
	})
	if len(front) != 1 || front[0].Y != 70 {
		t.Errorf("the best are %v", front)
	}
	records := syntheticRecords(2)
	for i, r := range records {
		if r.GuaranteeMetric != "" && r.Mechanism == "santext" {
			records[i].GuaranteeScope = "between words of one group"
		}
	}
	figures, err := frontierFigures(newStudy(records))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(figures[0].Caption, "guarantees between any two words only") {
		t.Errorf("caption %q", figures[0].Caption)
	}
}

// A reader would take two mechanisms of the same colour for one.
func TestMechanismsHaveColoursOfTheirOwn(t *testing.T) {
	taken := map[Style]string{}
	for _, d := range mechanisms.Definitions() {
		if d.Order%10 != 0 {
			continue // related: newStudy distinguishes them by shade, marker and dash
		}
		style := StyleOf(hue(d.Name, nil))
		if other := taken[style]; other != "" {
			t.Errorf("%s looks like %s", d.Name, other)
		}
		taken[style] = d.Name
	}
}

// More instances than colours: the mechanism with most of them gets separate
// figures.
func TestCrowdStandsApart(t *testing.T) {
	var points []results.Record
	for _, i := range []results.Instance{{Mechanism: "a"}, {Mechanism: "b", Parameters: "1"},
		{Mechanism: "b", Parameters: "2"}, {Mechanism: "c"}} {
		points = append(points, results.Record{Mechanism: i.Mechanism, Parameters: i.Parameters})
	}
	if got := crowd(points); got != "" {
		t.Errorf("%q stands apart from four", got)
	}
	for _, k := range []string{"3", "4", "5", "6", "7"} {
		points = append(points, results.Record{Mechanism: "c", Parameters: k})
	}
	if got := crowd(points); got != "c" {
		t.Errorf("%q stands apart", got)
	}
}
