// Package check validates parameters. Every numeric parameter of the project is
// checked here once, where it enters, so a wrong value gives one sentence of
// the form "epsilon = -1: must be > 0 and finite".
package check

import (
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// Error is a value that is not allowed and that the user can correct.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

// Wrong returns an Error with the caller's text.
func Wrong(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Panics calls do and returns a panic in it as an error that ends with the stack.
func Panics(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}

// notIn says what is legal.
func notIn(name string, v float64, legal string) error {
	return Wrong("%s = %v: must be %s", name, v, legal)
}

// Positive requires v > 0 and finite.
func Positive(name string, v float64) error {
	if v > 0 && !math.IsInf(v, 0) {
		return nil
	}
	return notIn(name, v, "> 0 and finite")
}

// NonNegative requires v >= 0 and finite.
func NonNegative(name string, v float64) error {
	if v >= 0 && !math.IsInf(v, 0) {
		return nil
	}
	return notIn(name, v, ">= 0 and finite")
}

// Within requires lo <= v <= hi.
func Within(name string, v, lo, hi float64) error {
	if v >= lo && v <= hi {
		return nil
	}
	return notIn(name, v, fmt.Sprintf("in [%v, %v]", lo, hi))
}

// Inside requires lo < v < hi.
func Inside(name string, v, lo, hi float64) error {
	if v > lo && v < hi {
		return nil
	}
	return notIn(name, v, fmt.Sprintf("in (%v, %v)", lo, hi))
}

// AtLeast requires v >= lo.
func AtLeast(name string, v, lo int) error {
	if v < lo {
		return Wrong("%s = %d: must be >= %d", name, v, lo)
	}
	return nil
}

// OneOf requires v to be one of the allowed names.
func OneOf(name, v string, allowed ...string) error {
	if slices.Contains(allowed, v) {
		return nil
	}
	return Wrong("%s = %q: must be one of %s%s", name, v, Choice(v, allowed), Meant(v, allowed))
}

// Choice shows the allowed names to who wrote v: of more than a dozen the five nearest.
func Choice(v string, allowed []string) string {
	const dozen = 12
	if len(allowed) <= dozen {
		return fmt.Sprintf("%q", allowed)
	}
	distance := func(name string) int { return levenshtein.ComputeDistance(name, v) }
	byDistance := func(x, y string) int { return distance(x) - distance(y) }
	nearest := slices.SortedStableFunc(slices.Values(allowed), byDistance)
	return fmt.Sprintf("%d names, the nearest are %q", len(allowed), nearest[:5])
}

// Meant returns "; did you mean …?" for a word that is probably a misspelling
// of an allowed one, else "".
func Meant(v string, allowed []string) string {
	if s := suggest(v, allowed); s != "" {
		return fmt.Sprintf("; did you mean %q?", s)
	}
	return ""
}

// Name requires a text that may be shown in a terminal, a table or a figure:
// printable characters of valid UTF-8 only.
func Name(what, v string) error {
	if strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return Wrong("%s = %.200q: must have printable characters only", what, v)
	}
	return nil
}

// Heading is Name for what begins a cell of CSV, where a spreadsheet must not take
// it for a formula.
func Heading(what, v string) error {
	if strings.ContainsAny(v[:min(1, len(v))], "=+-@") {
		return Wrong("%s = %.200q: must not begin with =, +, - or @, which begin formulas", what, v)
	}
	return Name(what, v)
}

// Shown is a text as a terminal may show it: without control characters, except
// those of lines and columns.
func Shown(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return utf8.RuneError
		}
		return r
	}, s)
}

// suggest returns the word that was probably meant by another: the one with the
// fewest insertions, deletions and substitutions, at most two, the first among
// equals; "" where none is close.
func suggest(word string, among []string) string {
	best := ""
	bestDistance := min(2, utf8.RuneCountInString(word)-1) + 1
	for _, w := range among {
		if d := levenshtein.ComputeDistance(w, word); d < bestDistance {
			best = w
			bestDistance = d
		}
	}
	return best
}
