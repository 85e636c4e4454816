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
	anyNumber = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
	// spans are no measured numbers: code, addresses of links, dates, papers, data sets
	// and processors with numbers in their names, numbers of lists and headings.
	spans = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)|[0-9]{4}-[0-9]{2}-[0-9]{2}( (to|and) [0-9]{2})?|" +
		`(et al\.|Kasiviswanathan|LREC-COLING|of) 20[0-9]{2}[ab]?|c2f0425|AVX-512|GloVe 6B|onnxruntime 1\.x|` +
		`E[0-9]_|(?m)^#* ?[0-9]+\. |10⁻⁵|[A-Z][0-9]\b`)
	// studies are those that a page names: the sizes in its text are theirs.
	studies = regexp.MustCompile(`experiments/studies/([a-z0-9-]+)\.yaml`)
	// thousands are separated by commas.
	thousands = regexp.MustCompile(`([0-9]),([0-9]{3})`)
)

// TestProseRestsOnTables: every number in the text of the reports is, rounded to
// its digits, one of the tables of its page, which other tests hold to the records,
// or of the studies that it names; or one of those given here.
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
		// Opinion words, seconds of three runs; items and shares of report 4.
		"1-equal-privacy": elsewhere.String() + " 1.18 1.01 18.1 3.6 6.2 99.7 6.3 242 1357 7782 4748 8584 690 34 39 45",
		// The tolerance of PP and LOW, and beyond three standard deviations. Words of the AG News texts, with a vector
		// and without; printed shares of them; documents of a study; a seed. The next two are held with the page.
		"2-the-2024-tables": "1.5 0.003 2.2 49.92 27308 24474 2834 1060 1280 12000 24000 2026",
		// Claims, held by TestClaimsFollowTheirRecords; words with a vector; documents.
		"3-source-papers": "15 24 85329 54822 11250 12500 6235",
		// Held by TestAttackersProseFollowsItsRecords; the next two are of the earlier records and a rounded ε. Then a
		// model's width, words, documents, users, and words in footnotes of tables.
		"4-attackers": "50.1 33.3 83.5 90.3 45.1 12.2 9.5 128 1958 690 150 571 477 5614 11415 4388 9532",
	} {
		page, err := os.ReadFile(filepath.Join("..", "reports", name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		var prose strings.Builder
		var known, sizes strings.Builder
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
		for _, study := range studies.FindAllStringSubmatch(string(page), -1) {
			file, err := os.ReadFile(filepath.Join("..", "..", "experiments", "studies", study[1]+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			sizes.Write(file)
		}
		text := thousands.ReplaceAllString(spans.ReplaceAllString(prose.String(), ""), "$1$2")
		for _, x := range anyNumber.FindAllString(text, -1) {
			whole := !strings.Contains(x, ".")
			if checked++; !isOneOf(x, known.String()) && !(whole && isOneOf(x, sizes.String())) {
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
