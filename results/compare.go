package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Class of a comparison.
type Class string

const (
	Agrees        Class = "agrees"
	Differs       Class = "differs"
	NotComparable Class = "not comparable"
)

// Comparison is one of our cells against its published number.
type Comparison struct {
	Place
	Instance
	Metric    Metric
	Embedding string
	Table     string // of Meisenbacher et al. 2024
	// AsPublished says that the instance computes what the published row did;
	// other variants stand beside it and confirm or refute nothing.
	AsPublished bool
	Published   float64
	Ours        float64
	Low, High   float64 // 95% interval of ours, NaN when not comparable
	N           int     // repetitions
	Difference  float64 // ours − published
	Allowed     float64 // |Difference| up to here agrees
	Class       Class
	Cause       string // why it is not comparable, or what is known about the difference
}

// DefaultMargin is the difference in points that is called agreement even
// where the intervals are narrower: samples of documents, word lists and
// training details of the study are not published.
const DefaultMargin = 1.0

// publishedRepetitions behind a printed accuracy of a mechanism and of a
// baseline; their spread is not printed and is taken to be ours.
const (
	publishedRepetitions         = 5
	publishedBaselineRepetitions = 10
	publishedWords               = 25 // behind a printed N_w or S_w
)

// metricOrder is that of comparisons.
var metricOrder = []Metric{MetricAccuracy, MetricNw, MetricSw, MetricPP, MetricCS, MetricLow, MetricEnglish, MetricPUC75, MetricPUC50, MetricPUC25}

// testDocuments of the study.
var testDocuments = map[string]int{"imdb": 2000, "agnews": 4000}

// Compare classifies every cell of derived records that the comparative study
// prints. A cell agrees when the difference is at most the larger of margin
// and the half-width of the 95% interval of a difference between two such
// means, ours and the published one. One in twenty cells of equal truth
// differs by chance where the interval decides.
func Compare(records []Record, margin float64) ([]Comparison, error) {
	audit, err := AuditPublished()
	if err != nil {
		return nil, err
	}
	known := StudyTables()
	var all []Comparison
	add := func(c Cells, m Metric) {
		r := c.Records[0]
		at := Place{r.Dataset, r.Dimension, 0, r.Mechanism}
		if !r.IsBaseline() {
			at.Epsilon = float64(r.Epsilon)
		}
		lookup := at
		if m == MetricEnglish {
			lookup.Dimension = 0
		}
		published := known.Value(lookup, m)
		if math.IsNaN(published) {
			return
		}
		k := Comparison{
			Place: at, Instance: r.Instance(), Embedding: r.Embedding, Metric: m, Table: publishedTable(r.Dataset, m), Published: published,
			AsPublished: asPublished(r.Instance()),
			Ours:        math.NaN(), Low: math.NaN(), High: math.NaN(), Difference: math.NaN(), Allowed: math.NaN(),
		}
		if note := k.correctPUC(known, audit); note != "" {
			k.Cause = note
		}
		if reason := notComparable(c, m); reason != "" {
			k.Class, k.Cause = NotComparable, reason
			if r.Status == StatusOK {
				k.Ours, k.N = ours(c, m)
			}
			all = append(all, k)
			return
		}
		if k.Ours, k.N = ours(c, m); k.N == 0 {
			return // not measured
		}
		k.judge(c, margin)
		all = append(all, k)
	}
	for _, c := range GroupCells(records) {
		if !slices.Contains(StudyDatasets, c.Dataset) || c.Records[0].Generated {
			continue
		}
		for _, m := range []Metric{MetricAccuracy, MetricPUC75, MetricPUC50, MetricPUC25} {
			add(c, m)
		}
	}
	english := map[string]bool{} // of the text as it was: one number, whatever the space
	for _, c := range GroupCells(textRecords(records)) {
		if !slices.Contains(StudyDatasets, c.Dataset) || c.Records[0].Generated {
			continue
		}
		if c.Records[0].IsBaseline() {
			if english[c.Dataset] {
				continue
			}
			english[c.Dataset] = true
		}
		for _, m := range []Metric{MetricNw, MetricSw, MetricPP, MetricCS, MetricLow, MetricEnglish} {
			add(c, m)
		}
	}
	locate(all)
	slices.SortStableFunc(all, func(a, b Comparison) int {
		return cmp.Or(cmp.Compare(slices.Index(metricOrder, a.Metric), slices.Index(metricOrder, b.Metric)),
			cmp.Compare(slices.Index(StudyDatasets, a.Dataset), slices.Index(StudyDatasets, b.Dataset)), cmp.Compare(a.Dimension, b.Dimension))
	})
	return all, nil
}

const unexplained = "unexplained"

// locate says of unexplained accuracies whether the text is as published: then
// training is what differs.
func locate(all []Comparison) {
	for i, k := range all {
		if k.Metric != MetricAccuracy || k.Class != Differs || !strings.Contains(k.Cause, unexplained) {
			continue
		}
		for _, o := range all {
			if o.Metric == MetricPP && o.Place == k.Place && o.Instance == k.Instance && o.Embedding == k.Embedding && o.Class == Agrees {
				all[i].Cause = strings.Replace(k.Cause, unexplained, "as much of the text is changed (PP agrees): what differs is training, whose details are not published", 1)
			}
		}
	}
}

// asPublished says which variants the published tables measured: those of the
// released package, where it differs from the definition. Released TEM rounds
// the threshold of Theorem 3, which hardly shows.
func asPublished(i Instance) bool {
	switch i.Mechanism {
	case "vickrey", "gumbel", "syntf":
		return i.Variant == "released"
	case "tem":
		return i.Variant == "released" || strings.Contains(i.Parameters, "gamma=theorem3")
	}
	return true
}

// correctPUC replaces a cell of Table 9 that contradicts the paper's own
// tables by eq. 4 on those tables, and says so.
func (k *Comparison) correctPUC(known *Published, audit PublishedAudit) string {
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
			return fmt.Sprintf("Table 9 prints %.2f, the row of %s: eq. 4 on Tables 3 and 7 gives %.2f", printed, MechanismTitle(other), recomputed)
		}
		return fmt.Sprintf("Table 9 prints %.2f: eq. 4 on Tables 3 and 6 gives %.2f", printed, recomputed)
	}
	return ""
}

// ours is the mean of a metric over repetitions. S_w leaves out the word
// itself, as the published tables do.
func ours(c Cells, m Metric) (float64, int) {
	x := c.Values(func(r Record) Float {
		if m == MetricSw {
			return Float(r.SwOthers())
		}
		return Float(r.Metric(m))
	})
	return mean(x), len(x)
}

// SwOthers is S_w without the word itself, NaN without counts per word.
func (r Record) SwOthers() float64 {
	words, err := r.Deniability()
	if err != nil || len(words) == 0 {
		return math.NaN()
	}
	others := 0
	for _, w := range words {
		others += w.Others()
	}
	return float64(others) / float64(len(words))
}

// notComparable says why a cell measures something else than the study did.
func notComparable(c Cells, m Metric) string {
	r := c.Records[0]
	trained := m == MetricAccuracy || strings.HasPrefix(string(m), "puc")
	usesCS := m == MetricCS || strings.HasPrefix(string(m), "puc")
	english := m == MetricEnglish && r.IsBaseline() // no vectors are involved
	switch {
	case r.Status == StatusUndefined:
		return "undefined here: " + r.Reason
	case !strings.HasPrefix(strings.ToLower(r.Embedding), "glove.6b") && !english:
		return fmt.Sprintf("embedding %s, the study's is GloVe 6B", r.Embedding)
	case trained && r.Model != "lstm":
		return fmt.Sprintf("model %s, the study's is an LSTM", r.Model)
	case trained && r.Setting != "local":
		return fmt.Sprintf("setting %s, the study's is local", r.Setting)
	case trained && r.TestTotal != testDocuments[r.Dataset]:
		return fmt.Sprintf("%d test documents, the study has %d", r.TestTotal, testDocuments[r.Dataset])
	case usesCS && !r.IsBaseline() && !strings.Contains(strings.ToLower(encoderOf(c)), "distilroberta") && encoderOf(c) != "":
		return fmt.Sprintf("cs_encoder %s, the study's is paraphrase-distilroberta-base-v1", encoderOf(c))
	}
	return ""
}

// encoderOf is the encoder of the first repetition with CS.
func encoderOf(c Cells) string {
	for _, r := range c.Records {
		if r.CSEncoder != "" {
			return r.CSEncoder
		}
	}
	return ""
}

// judge sets interval, class and, where it differs, what is known about why.
func (k *Comparison) judge(c Cells, margin float64) {
	var notes []string
	if k.Cause != "" {
		notes = append(notes, k.Cause)
	}
	half, allowed := k.spread(c, &notes)
	k.Low, k.High = k.Ours-half, k.Ours+half
	k.Difference = k.Ours - k.Published
	k.Allowed = max(margin, allowed)
	k.Class = Agrees
	if math.Abs(k.Difference) > k.Allowed {
		k.Class = Differs
		causes := knownCauses(c.Records[0], k.Metric)
		if len(causes) == 0 {
			causes = []string{unexplained}
		}
		notes = append(notes, causes...)
	}
	k.Cause = strings.Join(notes, "; ")
}

// spread returns the half-width of the interval of our mean and that of the
// difference of two means of this kind.
func (k *Comparison) spread(c Cells, notes *[]string) (half, allowed float64) {
	students := func(sd float64, n, m int) (float64, float64) {
		t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
		return t * sd / math.Sqrt(float64(n)), t * sd * math.Sqrt(1/float64(n)+1/float64(m))
	}
	if k.Metric == MetricNw || k.Metric == MetricSw {
		// The spread of both is that of words, not of runs.
		var x []float64
		for _, r := range c.Records {
			words, err := r.Deniability()
			if err != nil {
				continue
			}
			for _, w := range words {
				if k.Metric == MetricNw {
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
	if c.Records[0].IsBaseline() {
		published = publishedBaselineRepetitions
	}
	x := c.Values(func(r Record) Float { return Float(r.Metric(k.Metric)) })
	if len(x) > 1 {
		return students(stat.StdDev(x, nil), len(x), published)
	}
	if k.Metric == MetricAccuracy && c.Records[0].TestTotal > 0 {
		p := k.Ours / 100
		sd := 100 * math.Sqrt(p*(1-p)/float64(c.Records[0].TestTotal))
		*notes = append(*notes, "one repetition: interval from the size of the test set only")
		z := distuv.UnitNormal.Quantile(0.975)
		return z * sd, z * sd * math.Sqrt(1+1/float64(published))
	}
	*notes = append(*notes, "one repetition: no interval")
	return 0, 0
}

// knownCauses are what is known about differences between the published
// numbers and the definitions; each applies to the records it names.
func knownCauses(r Record, m Metric) []string {
	var causes []string
	because := func(applies bool, cause string) {
		if applies {
			causes = append(causes, cause)
		}
	}
	privacy := m == MetricNw || m == MetricSw || m == MetricPP || m == MetricCS || m == MetricLow
	because(r.Mechanism == "vickrey" && r.Variant != "released",
		"variant: the published rows are those of the released code (weights t=[1,0]; the word dropped only when it is the nearest)")
	because(r.Mechanism == "tem" && strings.Contains(r.Parameters, "gamma=") && !strings.Contains(r.Parameters, "gamma=theorem3"),
		"γ: the published rows follow from the threshold of Theorem 3, not from a fixed γ")
	because(r.Mechanism == "tem" && privacy,
		"the study gave words outside the embedding zero vectors, which lowers N_w of TEM at ε=5")
	because(r.Mechanism == "gumbel",
		"Gumbel is undefined at the study's ε; the published rows are those of the released code, whose scale depends on one random start word")
	because(r.Mechanism == "santext",
		"the published SanText rows do not follow from its definition at any ε; SanText+ (p=0.3) comes near their PP")
	because(r.Mechanism == "syntf" && r.Variant == "proved",
		"variant: the released code scores candidates by the tf-idf of the input word, which makes it almost uniform over synonyms")
	because(r.Mechanism == "syntf" && r.Variant != "proved" && m == MetricPP,
		"the published rise of PP with ε is unexplained: ε hardly enters the released score")
	because(r.Policy != "" && r.Policy != "keep" && m != MetricNw && m != MetricSw,
		fmt.Sprintf("policy: the study keeps words outside the embedding, this run has policy %s", r.Policy))
	because(m == MetricEnglish, "the study's list of English words is not known")
	because(m == MetricLow,
		"the published LOW does not follow from its description: outputs spread evenly over the words of a data set (TEM at ε=1) hit nearly all of the rarest, the tables say 3 to 5%; nor does the study say how ties among rarest words are broken")
	return causes
}

// CompareTable renders comparisons.
func CompareTable(comparisons []Comparison) Table {
	t := Table{
		Name: "compare", Title: "Against Meisenbacher et al. 2024, number by number",
		Header: []string{"metric", "table", "cell", "instance", "embedding", "published", "ours", "difference", "class", "note"},
	}
	for i, k := range comparisons {
		value := missingText
		if !math.IsNaN(k.Ours) {
			value = formatNumber(k.Ours, 2)
			if !math.IsNaN(k.Low) && k.High > k.Low {
				value += " ± " + formatNumber(k.High-k.Ours, 2)
			}
		}
		difference := missingText
		if !math.IsNaN(k.Difference) {
			difference = fmt.Sprintf("%+.2f", k.Difference)
		}
		instance := strings.TrimSpace(k.Variant + " " + k.Parameters)
		if !k.AsPublished {
			instance += " (not the published variant)"
		}
		t.AddRow(string(k.Metric), k.Table, k.Place.String(), instance, k.Embedding,
			formatNumber(k.Published, 2), value, difference, string(k.Class), k.Cause)
		t.Rows[i][0].Separator = i > 0 && comparisons[i-1].Metric != k.Metric
	}
	t.Legend = "A cell agrees when the difference is within the margin or within the 95% interval of a difference of two such means; the spread of the published means is not printed and is taken to be ours. One in twenty cells of equal truth differs by chance where the interval decides."
	return t
}

// verdicts chooses for each published number the comparison that speaks of it:
// of the variants the paper measured, one that is comparable before one that is
// not, the released before the proved.
func verdicts(comparisons []Comparison) map[Place]map[Metric]Comparison {
	chosen := map[Place]map[Metric]Comparison{}
	weight := func(k Comparison) int {
		w := 0
		if k.Class != NotComparable {
			w += 2
		}
		if k.Variant == "released" {
			w++
		}
		return w
	}
	for _, k := range comparisons {
		if !k.AsPublished {
			continue
		}
		if k.Metric == MetricEnglish {
			k.Dimension = 0 // printed once for all
		}
		if chosen[k.Place] == nil {
			chosen[k.Place] = map[Metric]Comparison{}
		}
		if old, ok := chosen[k.Place][k.Metric]; !ok || weight(k) > weight(old) {
			chosen[k.Place][k.Metric] = k
		}
	}
	return chosen
}

// CompareSummary counts what became of the published numbers, by metric.
func CompareSummary(comparisons []Comparison) Table {
	t := Table{Name: "compare-summary", Title: "What became of the published numbers",
		Header: []string{"metric", "published", "confirmed", "differs beyond noise", "not comparable", "not measured"}}
	counts := map[Metric]map[Class]int{}
	for _, byMetric := range verdicts(comparisons) {
		for m, k := range byMetric {
			if counts[m] == nil {
				counts[m] = map[Class]int{}
			}
			counts[m][k.Class]++
		}
	}
	var sums [5]int
	for _, m := range metricOrder {
		c := counts[m]
		printed := StudyTables().count(m)
		row := [5]int{printed, c[Agrees], c[Differs], c[NotComparable], printed - c[Agrees] - c[Differs] - c[NotComparable]}
		texts := []string{string(m)}
		for i, n := range row {
			sums[i] += n
			texts = append(texts, fmt.Sprint(n))
		}
		t.AddRow(texts...)
	}
	texts := []string{"all"}
	for _, n := range sums {
		texts = append(texts, fmt.Sprint(n))
	}
	t.AddRow(texts...)
	t.Rows[len(t.Rows)-1][0].Separator = true
	t.Legend = "Each number that the study prints once, held against the variant that its tables measured: released Vickrey, Gumbel and SynTF, TEM with the threshold of Theorem 3, CMP, Mahalanobis and SanText by definition. " +
		"Not comparable: another embedding, classifier, sentence encoder or sample, or undefined."
	return t
}

// CompareMechanisms says by mechanism how many published numbers are
// confirmed, of those that can be compared.
func CompareMechanisms(comparisons []Comparison) Table {
	t := Table{Name: "compare-mechanisms", Title: "Published numbers confirmed, by mechanism", Header: []string{"mechanism"}}
	type count struct{ agree, compared int }
	counts := map[string]map[Metric]count{}
	measured := map[Metric]bool{}
	for _, byMetric := range verdicts(comparisons) {
		for m, k := range byMetric {
			if k.Class == NotComparable {
				continue
			}
			if counts[k.Place.Mechanism] == nil {
				counts[k.Place.Mechanism] = map[Metric]count{}
			}
			c := counts[k.Place.Mechanism][m]
			c.compared++
			if k.Class == Agrees {
				c.agree++
			}
			counts[k.Place.Mechanism][m] = c
			measured[m] = true
		}
	}
	for _, m := range metricOrder {
		if measured[m] {
			t.Header = append(t.Header, string(m))
		}
	}
	for _, mechanism := range append([]string{BaselineMechanism}, StudyMechanisms...) {
		if counts[mechanism] == nil {
			continue
		}
		row := []string{MechanismTitle(mechanism)}
		for _, m := range metricOrder {
			if !measured[m] {
				continue
			}
			text := missingText
			if c := counts[mechanism][m]; c.compared > 0 {
				text = fmt.Sprintf("%d of %d", c.agree, c.compared)
			}
			row = append(row, text)
		}
		t.AddRow(row...)
	}
	t.Legend = "Confirmed: no difference beyond noise or the margin, for the variant that the study's tables measured."
	return t
}

// comparison are the tables that hold real records against the published ones.
func (s sheet) comparison() []Table {
	comparisons, err := Compare(s.records, DefaultMargin)
	if err != nil || len(comparisons) == 0 { // the embedded tables are sound: a test reads them
		return nil
	}
	return CompareTables(comparisons)
}

// CompareTables are summary, counts by mechanism, and all numbers.
func CompareTables(comparisons []Comparison) []Table {
	tables := []Table{CompareSummary(comparisons)}
	if t := CompareMechanisms(comparisons); len(t.Rows) > 0 {
		tables = append(tables, t)
	}
	return append(tables, CompareTable(comparisons))
}
