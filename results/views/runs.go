package views

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"mldpbench/results/compare"
)

// digits suffice to show a threshold.
func digits(threshold float64) int {
	if threshold == 0 {
		return 3
	}
	return 2 + max(0, int(math.Ceil(-math.Log10(threshold))))
}

// Tests returns the tests of a comparison of two runs that found a change or,
// if there are none, the largest change of each quantity.
func Tests(c *compare.Comparison) Table {
	t := Table{Name: "tests", Title: "Tests of changes between two runs", Header: []string{"quantity", "scope", "cells",
		"before", "after", "change", "95% interval", "p (Holm)", "detectable", "chance from", "verdict"}}
	shown := slices.Clone(c.Tests)
	found := slices.ContainsFunc(shown, func(x compare.Test) bool { return x.Changed })
	largest := map[string]float64{}
	for _, x := range shown {
		largest[x.Quantity] = max(largest[x.Quantity], math.Abs(x.Change))
	}
	for _, x := range shown {
		switch {
		case found && x.Changed:
		case found || math.Abs(x.Change) < largest[x.Quantity]:
			continue
		default:
			largest[x.Quantity] = math.Inf(1) // only the first of equal ones
		}
		verdict := "same"
		if x.Changed {
			verdict = "changed"
		}
		n := digits(x.Threshold)
		change := fmt.Sprintf("%+.*f", n, x.Change)
		if x.Relative {
			change += " beyond the others"
		}
		t.AddRow(x.Quantity, x.Scope, fmt.Sprint(x.Cells), Number(x.Before, n), Number(x.After, n), change,
			fmt.Sprintf("%+.*f to %+.*f", n, x.Low, n, x.High), Probability(x.Adjusted),
			Number(x.Detectable, n), x.How, verdict)
	}
	t.Legend = fmt.Sprintf("%d cells in both runs (%d of equal seed and data, which must be equal), %d only in the "+
		"second; %d tests, Holm-corrected at %g over all of them; %d numbers without a test, for want of repetitions or "+
		"outcomes of documents. Detectable: the change that the test finds with probability 80%%.", c.Cells, c.Exact,
		c.New, len(c.Tests), c.Level, c.Untested)
	return t
}

// Changes returns the numbers that differ although seed and data are equal, at
// most so many.
func Changes(c *compare.Comparison, most int) Table {
	t := Table{Name: "changes", Title: "Numbers that differ at equal seed and data",
		Header: []string{"cell", "repetition", "quantity", "before", "after"}}
	for _, x := range c.Changes[:min(most, len(c.Changes))] {
		t.AddRow(x.Place, fmt.Sprint(x.Repetition), x.Quantity, Short(x.Before.Float()), Short(x.After.Float()))
	}
	if left := len(c.Changes) - len(t.Rows); left > 0 {
		t.Legend = fmt.Sprintf("And %d more.", left)
	}
	return t
}

// JUnit form of a comparison: one suite a quantity, one case a test.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	Failure   *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes a comparison for continuous integration. What keeps it from
// being a whole one is a failure too.
func WriteJUnit(w io.Writer, c *compare.Comparison) error {
	all := junitSuites{Name: "mldp check"}
	add := func(suite, scope, failure string) {
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != suite {
			all.Suites = append(all.Suites, junitSuite{Name: suite})
		}
		s := &all.Suites[len(all.Suites)-1]
		k := junitCase{Name: scope, ClassName: "mldp." + strings.ReplaceAll(suite, " ", "_")}
		if failure != "" {
			k.Failure = &junitFailure{Message: failure, Text: failure}
			s.Failures++
			all.Failures++
		}
		s.Tests++
		all.Tests++
		s.Cases = append(s.Cases, k)
	}
	for _, x := range c.Tests {
		failure := ""
		if d := digits(x.Threshold); x.Changed {
			failure = fmt.Sprintf("mean over %d cells went from %.*f to %.*f (%+.*f ± %.*f by %s, Holm-corrected p = "+
				"%s, threshold %g)", x.Cells, d, x.Before, d, x.After, d, x.Change, d, x.Error, x.How,
				Probability(x.Adjusted), x.Threshold)
		}
		add(x.Quantity, x.Scope, failure)
	}
	for _, text := range append(slices.Clone(c.Broken), c.Reasons...) {
		add("cells", text, text)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
