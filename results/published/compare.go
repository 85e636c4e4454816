package published

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"mldpbench/internal/stats"
	"mldpbench/results"
)

// Class of a comparison.
type Class string

const (
	Agrees        Class = "agrees"
	Differs       Class = "differs"
	NotComparable Class = "not comparable"
)

// Definition is one way to measure a published metric.
type Definition struct {
	Metric  Metric
	Column  string // of ours
	Setting string // of the classifier; "" for metrics of the text
	Title   string
}

// definitions by metric, starting with the one that the paper describes. PUC
// follows from the others.
var definitions = []Definition{
	{"accuracy", "accuracy", "local", "test text private too (local), as described"},
	{"accuracy", "accuracy", "train-only", "test text plain (train-only)"},
	{"accuracy", "accuracy", "test-only", "training text plain (test-only)"},
	{"n_w", "n_w", "", "as described"},
	{"s_w", "s_w", "", "as described, the word itself left out"},
	{"pp", "pp", "", "as described"},
	{"cs", "cs", "", "as described"},
	{"low", "low", "", "rare words still present, as described"},
	{"low", "low_overlap", "", "overlap of the two lists of rare words"},
	{"english", "english", "", "word list lower-cased"},
	{"english", "english_as_printed", "", "word list as printed"},
}

// described reports whether the definition is the paper's own.
func (d Definition) described() bool {
	i := slices.IndexFunc(definitions, func(o Definition) bool { return o.Metric == d.Metric })
	return definitions[i] == d
}

// Comparison is one of our cells against its published number.
type Comparison struct {
	Place // Mechanism is the paper's name for the row
	results.Instance
	Definition
	Name      string // of the instance
	Embedding string
	Table     string // of Meisenbacher et al. 2024
	// AsPublished means that the instance computes what the published row did.
	// Other variants are listed too but confirm or refute nothing.
	AsPublished bool
	Published   float64
	Ours        float64
	Low, High   float64 // 95% interval of ours, NaN when not comparable
	N           int     // repetitions
	Difference  float64 // ours − published
	Class       Class
	Cause       string // why it is not comparable, or known causes of the difference
}

// DefaultMargin is the difference in points that counts as agreement even where
// the intervals are narrower: samples of documents, word lists and training
// details of the study are not published.
const DefaultMargin = 1.0

// publishedRepetitions behind a printed accuracy of a mechanism and of a
// baseline; their spread is not printed and is taken to be ours.
const (
	publishedRepetitions         = 5
	publishedBaselineRepetitions = 10
	publishedWords               = 25 // behind a printed N_w or S_w
)

// testDocuments of the study.
var testDocuments = map[string]int{"imdb": 2000, "agnews": 4000}

// Compare classifies every cell of prepared records that the comparative study
// prints, under every available definition. A cell agrees when the difference
// is at most the larger of margin and the half-width of the 95% interval of a
// difference between two such means, ours and the published one. One in twenty
// cells of equal truth differs by chance where the interval decides.
func Compare(p *results.Prepared, margin float64) []Comparison {
	real := results.Where(p.Cells, func(c results.Cell) bool {
		return !c.Generated && c.Panel == "" && slices.Contains(Datasets, c.Dataset)
	})
	models, texts := results.GroupCells(real), results.GroupCells(results.Texts(real))
	var all []Comparison
	for _, d := range definitions {
		column := results.MustColumn(d.Column)
		cells := texts
		if column.OfModel {
			cells = models
		}
		plain := map[string]bool{} // English % of the original text: one number, whatever the space
		for _, c := range cells {
			r := c.Cells[0]
			if r.IsBaseline() && d.Metric == "english" {
				if plain[r.Dataset] {
					continue
				}
				plain[r.Dataset] = true
			}
			if column.OfModel && d.Setting != c.Setting && (!r.IsBaseline() || !d.described()) {
				continue // a baseline has one setting; it stands for all
			}
			if k, ok := compareCell(p, c, d, column, margin); ok {
				all = append(all, k)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Comparison) int {
		return cmp.Or(cmp.Compare(slices.Index(definitions, a.Definition), slices.Index(definitions, b.Definition)),
			cmp.Compare(slices.Index(Datasets, a.Dataset), slices.Index(Datasets, b.Dataset)),
			cmp.Compare(a.Dimension, b.Dimension))
	})
	return all
}

// compareCell compares one cell with its published number, if there is one and ours
// was measured.
func compareCell(p *results.Prepared, c results.Cells, d Definition, column results.Column, margin float64) (Comparison,
	bool) {
	r := c.Cells[0]
	at := Place{r.Dataset, r.Dimension, 0, r.Mechanism}
	if !r.IsBaseline() {
		at.Epsilon = float64(r.Epsilon)
	}
	lookup := at
	if d.Metric == "english" {
		lookup.Dimension = 0
	}
	published := Printed().Value(lookup, d.Metric)
	if math.IsNaN(published) {
		return Comparison{}, false
	}
	k := Comparison{
		Place: at, Instance: r.Instance(), Definition: d, Name: p.Name(r), Embedding: r.Embedding,
		Table: publishedTable(r.Dataset, d.Metric), Published: published, AsPublished: asPublished(r),
		Ours: math.NaN(), Low: math.NaN(), High: math.NaN(), Difference: math.NaN(),
	}
	x := values(c, column)
	if reason := notComparable(c, column); reason != "" {
		k.Class, k.Cause = NotComparable, reason
		if r.Status == results.StatusOK {
			k.Ours, k.N = stats.Mean(x), len(x)
		}
		return k, d.described() || len(x) > 0
	}
	if k.Ours, k.N = stats.Mean(x), len(x); k.N == 0 {
		return Comparison{}, false // not measured
	}
	k.judge(c, column, margin)
	return k, true
}

// asPublished reports whether an instance is a variant that the published
// tables are said to have measured: that of the released package where it
// differs from the definition, else the definition. Released TEM rounds the
// threshold of Theorem 3, which has little effect.
func asPublished(r results.Cell) bool {
	switch r.Mechanism {
	case "vickrey", "gumbel", "syntf":
		return r.Variant == "released"
	case "tem":
		return (r.Variant == "released" || strings.Contains(r.Parameters, "gamma=theorem3")) &&
			(r.Policy == "" || r.Policy == "keep" || r.Policy == "random")
	}
	return true
}

// values are those of the repetitions: S_w without the word itself, as in the
// published tables.
func values(c results.Cells, column results.Column) []float64 {
	if column.Name != "s_w" {
		return c.Values(column.Name)
	}
	var x []float64
	for _, r := range c.Cells {
		if v := r.SwOthers(); !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	return x
}

// notComparable returns why a cell measures something different from the study.
func notComparable(c results.Cells, column results.Column) string {
	r := c.Cells[0]
	plain := strings.HasPrefix(column.Name, "english") && r.IsBaseline() // no vectors are involved
	switch {
	case r.Status == results.StatusUndefined:
		return "undefined here: " + r.Reason
	case !strings.HasPrefix(strings.ToLower(r.Embedding), "glove.6b") && !plain:
		return fmt.Sprintf("embedding %s, the study's is GloVe 6B", r.Embedding)
	case column.OfModel && r.Model != "lstm":
		return fmt.Sprintf("model %s, the study's is an LSTM", r.Model)
	case column.OfModel && r.TestItems != testDocuments[r.Dataset]:
		return fmt.Sprintf("%d test documents, the study has %d", r.TestItems, testDocuments[r.Dataset])
	case column.Name == "cs" && !r.IsBaseline() && !strings.Contains(strings.ToLower(encoderOf(c)), "distilroberta") &&
		encoderOf(c) != "":
		return fmt.Sprintf("cs_encoder %s, the study's is paraphrase-distilroberta-base-v1", encoderOf(c))
	}
	return ""
}

// encoderOf returns the encoder of the first repetition with CS.
func encoderOf(c results.Cells) string {
	for _, r := range c.Cells {
		if m, _ := r.At("cs"); m.Detail != "" {
			return m.Detail
		}
	}
	return ""
}

// judge sets interval, class and, where it differs, the known cause.
func (k *Comparison) judge(c results.Cells, column results.Column, margin float64) {
	var notes []string
	half, allowed := k.spread(c, column, &notes)
	k.Low, k.High = k.Ours-half, k.Ours+half
	k.Difference = k.Ours - k.Published
	k.Class = Agrees
	if math.Abs(k.Difference) > max(margin, allowed) {
		k.Class = Differs
		notes = append(notes, "the study's code: "+codes[k.Place.Mechanism])
	}
	k.Cause = strings.Join(notes, "; ")
}

// spread returns the half-width of the interval of our mean and that of the
// difference of two means of this kind.
func (k *Comparison) spread(c results.Cells, column results.Column, notes *[]string) (half, allowed float64) {
	students := func(sd float64, n, m int) (float64, float64) {
		t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
		return t * sd / math.Sqrt(float64(n)), t * sd * math.Sqrt(1/float64(n)+1/float64(m))
	}
	if column.Name == "n_w" || column.Name == "s_w" {
		// Both vary over words, not over runs.
		var x []float64
		for _, r := range c.Cells {
			nw, _ := r.At("n_w")
			words, err := results.DeniabilityWords(nw)
			if err != nil {
				continue
			}
			for _, w := range words {
				if column.Name == "n_w" {
					x = append(x, w.Nw())
				} else {
					x = append(x, float64(w.Others()))
				}
			}
		}
		if len(x) > 1 {
			return students(stat.StdDev(x, nil), len(x), publishedWords)
		}
	}
	published := publishedRepetitions
	if c.Cells[0].IsBaseline() {
		published = publishedBaselineRepetitions
	}
	if x := c.Values(column.Name); len(x) > 1 {
		return students(stat.StdDev(x, nil), len(x), published)
	}
	if m, _ := c.Cells[0].At("accuracy"); column.Name == "accuracy" && m.Whole > 0 {
		p := k.Ours / 100
		sd := 100 * math.Sqrt(p*(1-p)/float64(m.Whole))
		*notes = append(*notes, "one repetition: interval from the size of the test set only")
		z := distuv.UnitNormal.Quantile(0.975)
		return z * sd, z * sd * math.Sqrt(1+1/float64(published))
	}
	*notes = append(*notes, "one repetition: no interval")
	return 0, 0
}
