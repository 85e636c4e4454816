package datasets

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"mldpbench/internal/list"
)

// Summary describes a prepared data set.
type Summary struct {
	// Table2 describes train and validation together, which is what the
	// comparative study counts in its Table 2 (808,382 words are 10,000
	// documents of 80.84).
	Table2 Counts
	Splits []SplitCounts
	// Vocabulary of all splits.
	Vocabulary int
	// DuplicatesAcross is the number of test documents whose tokens are those
	// of a train or validation document; DuplicatesWithin is the number of
	// documents of any split that repeat an earlier one of the same split.
	DuplicatesAcross int
	DuplicatesWithin int
	// Conflicting is the number of distinct token lists that come with more
	// than one label.
	Conflicting int
	// Empty is the number of documents that cleaning left without a token.
	Empty int
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
	var s Summary
	s.Table2 = count(d.Train, d.Validation)
	s.Vocabulary = count(d.Train, d.Validation, d.Test).Vocabulary
	labels := map[string]int{}
	conflicting := map[string]bool{}
	earlier := map[string]bool{}
	for _, split := range d.Splits() {
		c := SplitCounts{Name: split.Name, Counts: count(split.Documents), Classes: make([]int, len(d.Classes))}
		own := map[string]bool{}
		for _, doc := range split.Documents {
			c.Classes[doc.Label]++
			if len(doc.Tokens) == 0 {
				s.Empty++
				continue
			}
			text := strings.Join(doc.Tokens, " ")
			if label, ok := labels[text]; ok && label != doc.Label {
				conflicting[text] = true
			}
			labels[text] = doc.Label
			if own[text] {
				s.DuplicatesWithin++
			}
			if split.Name == "test" && earlier[text] {
				s.DuplicatesAcross++
			}
			own[text] = true
		}
		for text := range own {
			earlier[text] = true
		}
		s.Splits = append(s.Splits, c)
	}
	s.Conflicting = len(conflicting)
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
	s := Describe(d)
	all := make([]int, len(d.Classes))
	for _, split := range s.Splits {
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
	if s.DuplicatesAcross > 0 {
		add("%d of %d test documents are also in train or validation, word by word", s.DuplicatesAcross, len(d.Test))
	}
	documents, untold := 0, 0
	for _, split := range d.Splits() {
		documents += len(split.Documents)
		untold += list.Count(split.Documents, func(d Document) bool { return strings.TrimSpace(d.Text) == "" })
	}
	if untold > 0 {
		add("%d of %d documents have no text", untold, documents)
	}
	if s.Empty > untold {
		add("%d of %d documents have no word left after cleaning", s.Empty-untold, documents)
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
	switch c.Documents {
	case 0:
	case 1:
		c.MeanLength = lengths[0]
	default:
		c.MeanLength, c.Deviation = stat.MeanStdDev(lengths, nil)
	}
	return c
}

// Coverage counts the tokens and distinct tokens of a data set that are known,
// for example to an embedding.
type Coverage struct {
	Tokens, KnownTokens int
	Words, KnownWords   int // distinct
}

// Cover counts the tokens of all splits that are known.
func Cover(d *Dataset, known func(word string) bool) Coverage {
	var c Coverage
	seen := map[string]bool{}
	for _, split := range d.Splits() {
		for _, doc := range split.Documents {
			for _, t := range doc.Tokens {
				is, ok := seen[t]
				if !ok {
					is = known(t)
					seen[t] = is
					c.Words++
					if is {
						c.KnownWords++
					}
				}
				c.Tokens++
				if is {
					c.KnownTokens++
				}
			}
		}
	}
	return c
}
