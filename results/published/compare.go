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

// definitions by metric, starting with the one that the paper describes.
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
	{"puc_75", "puc_75", "local", "as described"},
	{"puc_50", "puc_50", "local", "as described"},
	{"puc_25", "puc_25", "local", "as described"},
}

// described reports whether the definition is the paper's own.
func (d Definition) described() bool {
	i := slices.IndexFunc(definitions, func(o Definition) bool { return o.Metric == d.Metric })
	return definitions[i] == d
}

// metricOrder is the order of comparisons.
var metricOrder = func() []Metric {
	var order []Metric
	for _, d := range definitions {
		if !slices.Contains(order, d.Metric) {
			order = append(order, d.Metric)
		}
	}
	return order
}()

// Comparison is one of our cells against its published number.
type Comparison struct {
	Place // Mechanism is the paper's name for the row
	results.Instance
	Definition
	Policy    string
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
	Allowed     float64 // largest |Difference| that agrees
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

// Compare classifies every cell of derived records that the comparative study
// prints, under every available definition. A cell agrees when the difference
// is at most the larger of margin and the half-width of the 95% interval of a
// difference between two such means, ours and the published one. One in twenty
// cells of equal truth differs by chance where the interval decides.
func Compare(p *results.Prepared, margin float64) ([]Comparison, error) {
	audit, err := AuditArithmetic()
	if err != nil {
		return nil, err
	}
	real := results.Where(p.Cells, func(c results.Cell) bool {
		return !c.Generated && c.Panel == "" && slices.Contains(Datasets, c.Dataset)
	})
	models, texts := results.GroupCells(real), results.GroupCells(results.Texts(real))
	var all []Comparison
	for _, d := range definitions {
		column, err := results.FindColumn(d.Column)
		if err != nil {
			return nil, err
		}
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
			if k, ok := compareCell(c, d, column, audit, margin); ok {
				all = append(all, k)
			}
		}
	}
	locate(all)
	slices.SortStableFunc(all, func(a, b Comparison) int {
		return cmp.Or(cmp.Compare(slices.Index(metricOrder, a.Metric), slices.Index(metricOrder, b.Metric)),
			cmp.Compare(slices.Index(definitions, a.Definition), slices.Index(definitions, b.Definition)),
			cmp.Compare(slices.Index(Datasets, a.Dataset), slices.Index(Datasets, b.Dataset)),
			cmp.Compare(a.Dimension, b.Dimension))
	})
	return all, nil
}

// compareCell compares one cell with its published number, if there is one and ours
// was measured.
func compareCell(c results.Cells, d Definition, column results.Column, audit Arithmetic, margin float64) (Comparison,
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
		Place: at, Instance: r.Instance(), Definition: d, Policy: r.Policy, Embedding: r.Embedding,
		Table: publishedTable(r.Dataset, d.Metric), Published: published, AsPublished: asPublished(r),
		Ours: math.NaN(), Low: math.NaN(), High: math.NaN(), Difference: math.NaN(), Allowed: math.NaN(),
	}
	if note := k.correctPUC(Printed(), audit); note != "" {
		k.Cause = note
	}
	value, n := ours(c, column)
	if reason := notComparable(c, column); reason != "" {
		k.Class, k.Cause = NotComparable, reason
		if r.Status == results.StatusOK {
			k.Ours, k.N = value, n
		}
		return k, d.described() || n > 0
	}
	if k.Ours, k.N = value, n; n == 0 {
		return Comparison{}, false // not measured
	}
	k.judge(c, column, margin)
	return k, true
}

const unexplained = "unexplained"

// locate notes, for unexplained accuracies, whether the text is as published:
// then the difference is in training.
func locate(all []Comparison) {
	for i, k := range all {
		if k.Metric != "accuracy" || k.Class != Differs || !strings.Contains(k.Cause, unexplained) {
			continue
		}
		for _, o := range all {
			if o.Metric == "pp" && o.Place == k.Place && o.Instance == k.Instance && o.Embedding == k.Embedding &&
				o.Class == Agrees {
				all[i].Cause = strings.Replace(k.Cause, unexplained,
					"as much of the text is changed (PP agrees): what differs is training, whose details "+
						"are not published", 1)
			}
		}
	}
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

// correctPUC replaces a cell of Table 9 that contradicts the paper's own tables
// by eq. 4 on those tables, and notes it.
func (k *Comparison) correctPUC(known *Numbers, audit Arithmetic) string {
	for alpha, m := range PUCMetrics {
		if m != k.Metric {
			continue
		}
		recomputed := known.composite(k.Place).PUC(alpha)
		if math.Abs(recomputed-k.Published) <= pucTolerance {
			return ""
		}
		printed := k.Published
		k.Published = recomputed
		if other, moved := audit.Relabelled[k.Place]; moved {
			return fmt.Sprintf("Table 9 prints %.2f, the row of %s: eq. 4 on Tables 3 and 7 gives %.2f", printed,
				results.MechanismTitle(other), recomputed)
		}
		return fmt.Sprintf("Table 9 prints %.2f: eq. 4 on Tables 3 and 6 gives %.2f", printed, recomputed)
	}
	return ""
}

// ours returns the mean of a metric over repetitions: S_w without the word
// itself, as in the published tables.
func ours(c results.Cells, column results.Column) (float64, int) {
	x := values(c, column)
	return stats.Mean(x), len(x)
}

// values are those of the repetitions.
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
	composite := strings.HasPrefix(column.Name, "puc")
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
	case (column.Name == "cs" || composite) && !r.IsBaseline() &&
		!strings.Contains(strings.ToLower(encoderOf(c)), "distilroberta") && encoderOf(c) != "":
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
	if k.Cause != "" {
		notes = append(notes, k.Cause)
	}
	half, allowed := k.spread(c, column, &notes)
	k.Low, k.High = k.Ours-half, k.Ours+half
	k.Difference = k.Ours - k.Published
	k.Allowed = max(margin, allowed)
	k.Class = Agrees
	if math.Abs(k.Difference) > k.Allowed {
		k.Class = Differs
		causes := knownCauses(c.Cells[0], k.Definition)
		if len(causes) == 0 {
			causes = []string{unexplained}
		}
		notes = append(notes, causes...)
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

// knownCauses returns the known causes of differences between the published
// numbers and the definitions; each applies to the records it names.
func knownCauses(r results.Cell, d Definition) []string {
	var causes []string
	because := func(applies bool, cause string) {
		if applies {
			causes = append(causes, cause)
		}
	}
	ofText := slices.Contains([]string{"n_w", "s_w", "pp", "cs", "low"}, d.Column)
	because(r.Mechanism == "vickrey" && r.Variant != "released",
		"variant: the published rows are those of the released code (weights t=[1,0]; the word dropped only when it "+
			"is the nearest)")
	because(r.Mechanism == "tem" && strings.Contains(r.Parameters, "gamma=") &&
		!strings.Contains(r.Parameters, "gamma=theorem3"),
		"γ: the published rows follow from the threshold of Theorem 3, not from a fixed γ")
	because(r.Mechanism == "tem" && ofText && r.Policy != "zero",
		"the study gave words outside the embedding zero vectors, which lowers N_w of TEM at ε=5")
	because(r.Mechanism == "gumbel",
		"Gumbel is undefined at the study's ε; its code takes a scale from constants: see the study replication")
	because(r.Mechanism == "santext",
		"the study's code measures distances in three coordinates for N_w and S_w: see the study replication")
	because(r.Mechanism == "syntf" && r.Variant == "proved",
		"variant: the released code scores candidates by the tf-idf of the input word, which makes it almost "+
			"uniform over synonyms")
	because(r.Mechanism == "syntf" && r.Variant != "proved" && d.Metric == "pp",
		"the published rise of PP with ε is unexplained: ε hardly enters the released score")
	because(r.Policy != "" && r.Policy != "keep" && d.Metric != "n_w" && d.Metric != "s_w",
		fmt.Sprintf("policy: the study keeps words outside the embedding, this run has policy %s", r.Policy))
	because(d.Column == "english", "the study's code looks words up as the list spells them; see the other definition")
	because(d.Column == "low",
		"the study's code computes an overlap of two lists of rare words; see the other definition")
	return causes
}
