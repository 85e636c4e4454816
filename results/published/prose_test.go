package published

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mldpbench/internal/records"
	"mldpbench/results/tables"
)

var (
	decimal   = regexp.MustCompile(`[0-9]+\.[0-9]+`)
	anyNumber = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
	// spans are no prose: code, and the addresses of links.
	spans = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)")
	// thousands are separated by commas.
	thousands = regexp.MustCompile(`([0-9]),([0-9]{3})`)
)

// TestProseRestsOnTables: every number with a decimal point in the text of the
// reports is, rounded to its digits, one of the tables of its page, which other
// tests hold to the records; or one of those given here.
func TestProseRestsOnTables(t *testing.T) {
	t.Parallel()
	var elsewhere strings.Builder // for the first report
	for _, x := range tables.All(records.View(t, "grown")) {
		for _, n := range x.Notes {
			fmt.Fprintln(&elsewhere, n)
		}
	}
	for _, c := range records.View(t, "extended").Cells {
		if c.Dataset == "agnews" {
			for _, q := range []string{"e_m_full_uniform", "e_m_full_corpus"} {
				if m, ok := c.At(q); ok && m.Value.Known() {
					fmt.Fprintln(&elsewhere, m.Value, (m.High-m.Low)/2)
				}
			}
		}
	}
	for name, more := range map[string]string{
		// What TestEqualPrivacyFollowsItsRecords and TestOtherParametersFollowTheirRecords hold, and the nearest word.
		"1-equal-privacy": elsewhere.String() + " 1.18 1.01 18.8 3.6 99.7 6.3",
		// The tolerance of PP and LOW, and beyond three standard deviations.
		"2-the-2024-tables": "1.5 0.003",
		"3-source-papers":   "",
		// Held by TestAttackersProseFollowsItsRecords; the last two are of the earlier records and a rounded ε.
		"4-attackers": "50.1 33.3 83.5 90.3 45.1 12.2 9.5",
	} {
		page, err := os.ReadFile(filepath.Join("..", "reports", name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		var prose strings.Builder
		known := strings.Builder{}
		known.WriteString(more)
		for line := range strings.Lines(string(page)) {
			switch {
			case strings.HasPrefix(line, "|"):
				known.WriteString(thousands.ReplaceAllString(line, "$1$2"))
			case !strings.HasPrefix(line, "    "):
				prose.WriteString(line)
			}
		}
		checked := 0 // the third report has its numbers in tables
		for _, x := range decimal.FindAllString(spans.ReplaceAllString(prose.String(), ""), -1) {
			if checked++; !isOneOf(x, known.String()) {
				t.Errorf("%s: no table has %s", name, x)
			}
		}
		t.Logf("%s: %d numbers", name, checked)
		if checked < 20 && name != "3-source-papers" {
			t.Errorf("%s: %d numbers", name, checked)
		}
	}
}

// isOneOf reports whether a number is, to its digits, one of a text, or that as a
// percentage.
func isOneOf(x, text string) bool {
	_, digits, _ := strings.Cut(x, ".")
	want, _ := strconv.ParseFloat(x, 64) // it was found as a number
	half := 0.5*math.Pow(10, -float64(len(digits))) + 1e-9
	for _, s := range anyNumber.FindAllString(text, -1) {
		y, _ := strconv.ParseFloat(s, 64)
		for _, y := range []float64{y, 100 * y} {
			if math.Abs(y-want) <= half {
				return true
			}
		}
	}
	return false
}
