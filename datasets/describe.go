package datasets

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Summary describes a prepared data set.
type Summary struct {
	// Table2 describes train and validation together, which is what the
	// comparative study counts in its Table 2 (808,382 words are 10,000
	// documents of 80.84).
	Table2     Counts
	Splits     []SplitCounts
	Vocabulary int // of all splits
}

// Counts holds the rows of the study's Table 2.
type Counts struct {
	Documents  int
	Words      int // tokens
	Vocabulary int // distinct tokens
	MeanLength float64
	Deviation  float64 // sample standard deviation of the length
}

// SplitCounts are counts of one split.
type SplitCounts struct {
	Name    string
	Counts  Counts
	Classes []int // documents per class
}

// Describe returns the summary of a data set.
func Describe(d *Dataset) Summary {
	s := Summary{Table2: count(d.Train, d.Validation), Vocabulary: count(d.Train, d.Validation, d.Test).Vocabulary}
	for _, split := range d.Splits() {
		c := SplitCounts{Name: split.Name, Counts: count(split.Documents), Classes: make([]int, len(d.Classes))}
		for _, l := range Labels(split.Documents) {
			c.Classes[l]++
		}
		s.Splits = append(s.Splits, c)
	}
	return s
}

// fewDocuments is the number of documents of a class below which its numbers say
// little.
const fewDocuments = 10

// missingLabels are what programs write for a label that is not there.
var missingLabels = []string{"nan", "na", "n/a", "#n/a", "<na>", "nat", "null", "none", "nil"}

// Warnings returns a sentence for each thing about a data set that its numbers do
// not show: classes that are too small or lost in the split, labels that look like
// missing ones, repeated and empty documents.
func Warnings(d *Dataset) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	all := make([]int, len(d.Classes))
	for _, split := range Describe(d).Splits {
		for class, n := range split.Classes {
			if all[class] += n; n == 0 && split.Counts.Documents > 0 && len(d.Classes) > 1 {
				add("class %q has no document in %s", d.Classes[class], split.Name)
			}
		}
	}
	for class, n := range all {
		if n < fewDocuments && len(d.Classes) > 1 {
			add("class %q has %d documents: too few to learn or to test", d.Classes[class], n)
		}
		if slices.Contains(missingLabels, strings.ToLower(d.Classes[class])) {
			add("label %q occurs %d times: is it a missing one?", d.Classes[class], n)
		}
	}
	documents, across, untold, empty := 0, 0, 0, 0
	earlier := map[string]bool{} // token lists of train and validation
	for _, split := range d.Splits() {
		for _, doc := range split.Documents {
			text := strings.Join(doc.Tokens, " ")
			switch documents++; {
			case strings.TrimSpace(doc.Text) == "":
				untold++
			case text == "":
				empty++
			}
			if split.Name != "test" {
				earlier[text] = true
			} else if text != "" && earlier[text] {
				across++
			}
		}
	}
	if across > 0 {
		add("%d of %d test documents are also in train or validation, word by word", across, len(d.Test))
	}
	if untold > 0 {
		add("%d of %d documents have no text", untold, documents)
	}
	if empty > 0 {
		add("%d of %d documents have no word left after cleaning", empty, documents)
	}
	return out
}

func count(parts ...[]Document) Counts {
	vocabulary := map[string]struct{}{}
	var lengths []float64
	for _, d := range slices.Concat(parts...) {
		lengths = append(lengths, float64(len(d.Tokens)))
		for _, t := range d.Tokens {
			vocabulary[t] = struct{}{}
		}
	}
	c := Counts{Documents: len(lengths), Words: int(floats.Sum(lengths)), Vocabulary: len(vocabulary)}
	if c.MeanLength = stat.Mean(lengths, nil); c.Documents > 1 {
		c.Deviation = stat.StdDev(lengths, nil)
	}
	return c
}
