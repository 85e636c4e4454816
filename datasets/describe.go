package datasets

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"mldpbench/datasets/table"
)

// Description describes a prepared data set.
type Description struct {
	Name      string
	Generated bool
	Classes   int
	// Of train and validation, as the comparative study counts them in its Table 2
	// (808,382 words are 10,000 documents of 80.84).
	TrainDocuments       int
	TestDocuments        int
	Tokens               int
	Vocabulary           int     // distinct tokens
	LengthMean, LengthSD float64 // tokens per document
	TestClasses          []int   // documents per class
	Fingerprint          string  // of all splits
	// Parts are embeddings that were read from a file with only some of their words.
	Parts    []string `json:",omitempty"`
	Warnings []string `json:",omitempty"`
}

// Describe returns the description of a data set.
func Describe(d *Dataset) Description {
	train := slices.Concat(d.Train, d.Validation)
	out := Description{
		Name:           d.Name,
		Generated:      d.Generated,
		Classes:        len(d.Classes),
		TrainDocuments: len(train),
		TestDocuments:  len(d.Test),
		TestClasses:    perClass(d, d.Test),
		Fingerprint:    d.Fingerprint,
		Warnings:       warnings(d),
	}
	vocabulary := map[string]struct{}{}
	lengths := make([]float64, len(train))
	for i, doc := range train {
		lengths[i] = float64(len(doc.Tokens))
		for _, t := range doc.Tokens {
			vocabulary[t] = struct{}{}
		}
	}
	out.Tokens = int(floats.Sum(lengths))
	out.Vocabulary = len(vocabulary)
	out.LengthMean = float64(out.Tokens) / float64(max(1, len(train)))
	if len(train) > 1 {
		out.LengthSD = stat.StdDev(lengths, nil)
	}
	return out
}

// perClass counts documents.
func perClass(d *Dataset, documents []Document) []int {
	counts := make([]int, len(d.Classes))
	for _, doc := range documents {
		counts[doc.Label]++
	}
	return counts
}

// fewDocuments is the number of documents of a class below which its numbers say
// little.
const fewDocuments = 10

// warnings returns a sentence for each thing about a data set that its numbers do
// not show: classes that are too small or lost in the split, labels that look like
// missing ones, repeated and empty documents.
func warnings(d *Dataset) []string {
	out := lostClasses(d)
	out = append(out, doubtfulClasses(d)...)
	suspects := table.Suspects{}
	for _, split := range d.Splits() {
		for _, doc := range split.Documents {
			suspects.Add(doc.Text)
		}
	}
	out = append(out, suspects.Warnings()...)
	return append(out, doubtfulDocuments(d)...)
}

// lostClasses are those without a document in a split that has some.
func lostClasses(d *Dataset) (out []string) {
	for _, split := range d.Splits() {
		if len(split.Documents) == 0 || len(d.Classes) < 2 {
			continue
		}
		for class, n := range perClass(d, split.Documents) {
			if n == 0 {
				out = append(out, fmt.Sprintf("class %q has no document in %s", d.Classes[class], split.Name))
			}
		}
	}
	return out
}

// doubtfulClasses are those of few documents, and labels that look like missing ones.
func doubtfulClasses(d *Dataset) (out []string) {
	for class, n := range perClass(d, slices.Concat(d.Train, d.Validation, d.Test)) {
		name := d.Classes[class]
		if n < fewDocuments && len(d.Classes) > 1 {
			out = append(out, fmt.Sprintf("class %q has %d documents: too few to learn or to test", name, n))
		}
		if table.LooksMissing(name) {
			out = append(out, fmt.Sprintf("label %q occurs %d times: is it a missing one?", name, n))
		}
	}
	return out
}

// doubtfulDocuments are test documents that training sees, and those without a text.
func doubtfulDocuments(d *Dataset) (out []string) {
	training := map[string]bool{} // token lists of train and validation
	empty := 0
	for _, doc := range slices.Concat(d.Train, d.Validation) {
		text := strings.Join(doc.Tokens, " ")
		training[text] = true
		if text == "" {
			empty++
		}
	}
	across := 0
	for _, doc := range d.Test {
		text := strings.Join(doc.Tokens, " ")
		if text == "" {
			empty++
		} else if training[text] {
			across++
		}
	}
	if across > 0 {
		out = append(out, fmt.Sprintf("%d of %d test documents are also in train or validation, word by word", across,
			len(d.Test)))
	}
	if empty > 0 {
		documents := len(d.Train) + len(d.Validation) + len(d.Test)
		out = append(out, fmt.Sprintf("%d of %d documents have no text after cleaning", empty, documents))
	}
	return out
}
