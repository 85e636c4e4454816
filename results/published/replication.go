package published

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/tables"
)

// Verdict says what became of a printed number.
type Verdict string

// Verdicts. Same: to the digits printed. Near: within the noise of N_w and S_w,
// or within the tolerance of the others. Undefined: the mechanism does not exist
// there.
const (
	Same      Verdict = "="
	Near      Verdict = "≈"
	Apart     Verdict = "≠"
	NotRun    Verdict = "not run"
	Undefined Verdict = "undefined"
)

// Replicated is a number of Tables 3, 6, 7 and 8 beside what comes out here.
type Replicated struct {
	Place   // English % too has the dimension
	Metric  Metric
	Printed float64
	Here    float64 // mean over measurements, NaN where there are none
	SD      float64 // of them; NaN for one
	N       int
	Verdict Verdict
	Cause   string // where the study's code here is apart from its print

	as *printedMetric
}

// printedMetric is a printed metric, its column and title here and the digits
// printed. Tolerance is the difference in points that is near; 0 for N_w and S_w,
// whose noise is measured.
type printedMetric struct {
	metric, column, title string
	digits                int
	tolerance             float64
	setting               string                     // of the classifier; "" for any
	apart                 string                     // why it may be, where nothing else is known
	of                    func(results.Cell) float64 // where it is not the column
}

func (m *printedMetric) quantity() results.Column { return results.MustColumn(m.column) }

// The metrics of a word or text but CS, whose encoder is another here.
var (
	printedNw  = &printedMetric{metric: "n_w", column: "n_w", title: "N_w", digits: 1}
	printedSw  = &printedMetric{metric: "s_w", column: "s_w", title: "S_w", digits: 1, of: results.Cell.SwOthers}
	printedPP  = &printedMetric{metric: "pp", column: "pp", title: "PP", digits: 1, tolerance: 1.5}
	printedLOW = &printedMetric{metric: "low", column: "low_overlap", title: "LOW", digits: 1, tolerance: 1.5}

	// replicatedMetrics are those of the study's code.
	replicatedMetrics = []*printedMetric{printedNw, printedSw, printedPP, printedLOW,
		{metric: "english", column: "english_as_printed", title: "English %", digits: 2, tolerance: 1.5,
			apart: "in part the vectors at hand, which lack rare names that the whole file can output, see below; else open"},
		{metric: "accuracy", column: "accuracy", title: "accuracy", digits: 2, tolerance: 2}}
	// describedMetrics are those of the mechanisms as described. The paper does not
	// say whether test text is private.
	describedMetrics = []*printedMetric{printedNw, printedSw, printedPP, printedLOW,
		{metric: "accuracy", column: "accuracy", title: "accuracy, plain test text", digits: 2, tolerance: 2,
			setting: "train-only"},
		{metric: "accuracy", column: "accuracy", title: "private test text", digits: 2, tolerance: 2, setting: "local"}}
)

// sets are the data sets of the study.
var sets = map[string]struct {
	testDocuments int
	rare          string // why LOW is apart
}{
	"agnews": {4000, ""},
	"imdb":   {2000, "IMDb: rare words without a vector stay, and the vectors at hand lack more of them than in print"},
}

// replicatedData are the study's data sets.
var replicatedData = []string{"agnews", "imdb"}

// replicatedDimension is the only one whose vectors were at hand.
const replicatedDimension = 100

// noise is the number of standard deviations within which a right mean of N_w or
// S_w lies but for 3 in 1,000.
const noise = 3

// Replicate returns every printed number at 100 dimensions, CS apart, beside what
// the study's own code computes (variant as-run, study replication). Those of a
// data set whose texts or vectors differ from the study's are not run.
func Replicate(p *results.Prepared) []Replicated {
	return beside(p, places(replicatedDimension), replicatedMetrics, asRun(func(c results.Cell) string {
		if c.IsBaseline() || c.Variant == "as-run" && standsFor(c) == "" {
			return c.Mechanism
		}
		return ""
	}))
}

// asRun finds the printed place of a cell of the study's texts, whose row name
// tells, "" for none.
func asRun(name func(results.Cell) string) func(results.Cell) (Place, bool) {
	return func(c results.Cell) (Place, bool) {
		dataset, of2024 := strings.CutSuffix(c.Dataset, "-2024")
		at := Place{dataset, c.Dimension, 0, name(c)}
		return at, of2024 && at.Mechanism != "" && c.Dimension == replicatedDimension &&
			(c.Model == "" || c.Model == "lstm-2024")
	}
}

// described finds the printed place of a cell of a mechanism as the study
// describes it: the proved variant on words that are kept where they have no
// vector, and an LSTM of another size. TEM has the γ of its Theorem 3.
func described(c results.Cell) (Place, bool) {
	return Place{c.Dataset, c.Dimension, 0, c.Mechanism}, (c.IsBaseline() || c.Variant == "proved") &&
		(c.Policy == "" || c.Policy == "keep") && !strings.Contains(c.Parameters, "gamma=0.5") &&
		(c.Model == "" || c.Model == "lstm")
}

// beside compares the printed numbers of places with those of cells on as many
// test documents as the study's, in GloVe 6B. As finds the printed place of a
// cell.
func beside(p *results.Prepared, places []Place, of []*printedMetric,
	as func(results.Cell) (Place, bool)) (all []Replicated) {
	run := results.Where(p.Cells, func(c results.Cell) bool {
		at, ok := as(c)
		return ok && !c.Generated && c.Panel == "" && c.TestItems == sets[at.Dataset].testDocuments &&
			strings.HasPrefix(strings.ToLower(c.Embedding), "glove.6b")
	})
	type number struct {
		Place
		*printedMetric
	}
	measured := map[number]results.Cells{}
	for ofModel, cells := range map[bool][]results.Cell{false: results.Texts(run), true: run} {
		for _, c := range results.GroupCells(cells) {
			r := c.Cells[0]
			at, _ := as(r)
			if !r.IsBaseline() {
				at.Epsilon = float64(r.Epsilon)
			}
			for _, m := range of {
				if m.quantity().OfModel == ofModel &&
					(m.setting == "" || m.setting == r.Setting || r.IsBaseline()) &&
					(len(c.Values(m.column)) > 0 || r.Status == results.StatusUndefined) {
					measured[number{at, m}] = c
				}
			}
		}
	}
	for _, at := range places {
		for _, m := range of {
			k := Replicated{Place: at, Metric: m.metric, Printed: Printed().Value(at, m.metric), Here: math.NaN(),
				SD: math.NaN(), Verdict: NotRun, as: m}
			if math.IsNaN(k.Printed) {
				continue
			}
			switch c, ok := measured[number{at, m}]; {
			case ok && c.Cells[0].Status == results.StatusUndefined:
				k.Verdict = Undefined
			case ok:
				k.take(m.values(c))
			}
			all = append(all, k)
		}
	}
	return all
}

// values are those of the repetitions.
func (m *printedMetric) values(c results.Cells) []float64 {
	if m.of == nil {
		return c.Values(m.column)
	}
	return results.Where(list.Map(c.Cells, m.of), func(v float64) bool { return !math.IsNaN(v) })
}

// places are the rows of the tables at one dimension, by data set.
func places(dimension int) (all []Place) {
	for _, d := range replicatedData {
		all = append(all, Place{d, dimension, 0, results.BaselineMechanism})
		for _, m := range Mechanisms {
			for _, e := range Epsilons {
				all = append(all, Place{d, dimension, e, m})
			}
		}
	}
	return all
}

// take sets the value and its verdict. A printed N_w or S_w is one measurement;
// ours is the mean of several.
func (k *Replicated) take(x []float64) {
	k.N, k.Here = len(x), stats.Mean(x)
	tolerance := k.as.tolerance
	if len(x) > 1 {
		k.SD = stat.StdDev(x, nil)
		if tolerance == 0 {
			tolerance = noise * k.SD * math.Sqrt(1+1/float64(len(x)))
		}
	}
	k.judge(tolerance)
	if spread := noise * k.SD * math.Sqrt(1/networks+1/float64(len(x))); k.as.quantity().OfModel &&
		k.Verdict == Apart && math.Abs(k.Here-k.Printed) <= spread {
		k.Cause = "five networks on one text differ by as much"
	}
}

// networks were trained on a text; a printed accuracy is their mean.
const networks = 5.0

// judge sets the verdict; a tolerance of noise is beyond what rounding hides.
func (k *Replicated) judge(tolerance float64) {
	rounding := math.Pow10(-k.as.digits) / 2
	if k.as.quantity().OfWords {
		tolerance += rounding
	}
	switch d := math.Abs(k.Here - k.Printed); {
	case d <= rounding+1e-9:
		k.Verdict = Same
	case d <= tolerance:
		k.Verdict = Near
	default:
		k.Verdict, k.Cause = Apart, causeApart(k.Place, k.as)
	}
}

// causeApart says why the code, run here, does not give a printed number.
func causeApart(at Place, m *printedMetric) string {
	code := codes[at.Mechanism]
	if m.quantity().OfWords {
		return cmp.Or(code.words, "open")
	}
	fit, rare := "", ""
	if f := fits[at.Mechanism]; slices.Contains(f.explains[at.Dataset], m.metric) {
		fit = "the printed text is not what this code makes: it fits " + f.title + ", see below"
	}
	if m == printedLOW {
		rare = sets[at.Dataset].rare
	}
	return cmp.Or(fit, code.text, rare, m.apart, "open")
}

// codes are what decides the printed numbers of a mechanism and its description
// does not say, with the place in the replication package, and why its numbers of
// words and of a text are apart from the printed ones.
var codes = map[string]struct {
	how, words, text string
	noVectors        bool
}{
	results.BaselineMechanism: {how: "validation is the last fifth of rows sorted by class; on AG News one class alone, " +
		"of which training sees 1,000 texts and of the others 5,000 each (util/train.py)"},
	"syntf": {how: "one tf-idf of the whole train set; every candidate that is a corpus word has the score of the " +
		"input, so ε hardly matters (SynTF)", text: "open: N_w and S_w are those of this code, the printed text is not",
		noVectors: true},
	"cmp":         {how: "row 0, the origin, is a candidate, and where it is nearest the word stays (get_nearest)"},
	"mahalanobis": {how: "the same; the covariance includes the rows of zeros (get_nearest)"},
	"santext": {how: "distances of the first three coordinates only, and probabilities read with a list out of step: " +
		"nearly every word changes at any ε (calc_distance, SanText)",
		words: "the share of words without a vector, see below"},
	"gumbel": {how: "largest and smallest distance are constants of a data set, and the scale is taken where it is not " +
		"defined (TruncatedGumbel)"},
	"vickrey": {how: "the nearest word of the noisy vector is always dropped, whichever it is (VickreyMechanism)"},
	"tem":     {how: "words without a vector are vectors of zeros among the candidates (TEM.replace_word)"},
}

// Sentence counts the printed numbers that the records have, "" for none.
func Sentence(p *results.Prepared) string {
	counts, all := map[Verdict]int{}, Replicate(p)
	for _, k := range all {
		counts[k.Verdict]++
	}
	if counts[NotRun] == len(all) {
		return ""
	}
	return fmt.Sprintf("Of %d printed numbers %d come out as printed and %d near them, %d do not; %d were not run.",
		len(all), counts[Same], counts[Near], counts[Apart], counts[NotRun])
}

// ReplicationTables are the printed numbers beside those of the study's code,
// nothing where none is in the records.
func ReplicationTables(p *results.Prepared) []tables.Table {
	all := Replicate(p)
	if !anyRun(all) {
		return nil
	}
	list := []tables.Table{replicationSummary(all)}
	fitted := Fits(p)
	for _, d := range replicatedData {
		of := func(k Replicated) bool { return k.Dataset == d }
		list = append(list, besidePrinted("replication-"+d, "Here/printed, "+results.DatasetTitle(d)+", d = 100",
			results.Where(all, of), replicatedMetrics, results.MechanismTitle),
			besidePrinted("replication-fits-"+d, "What the printed text fits: here/printed, "+results.DatasetTitle(d)+
				", d = 100", results.Where(fitted, of), replicatedMetrics[2:], fitTitle))
	}
	list = append(append(list, arithmeticTables(all, fitted)...), causesTable(all))
	return results.Where(list, func(t tables.Table) bool { return len(t.Rows) > 0 })
}

func replicationSummary(all []Replicated) tables.Table {
	t := tables.Table{Name: "replication", Title: "The printed numbers as the study's code computes them",
		Header: []string{"data set", "metric", "printed", "same", "near", "apart", "not run"}}
	for i, d := range replicatedData {
		for j, m := range replicatedMetrics {
			counts := map[Verdict]int{}
			for _, k := range all {
				if k.Dataset == d && k.as == m {
					counts[k.Verdict]++
					counts[""]++
				}
			}
			row := []string{results.DatasetTitle(d), m.title}
			for _, v := range []Verdict{"", Same, Near, Apart, NotRun} {
				row = append(row, fmt.Sprint(counts[v]))
			}
			t.AddRow(row...)
			t.Rows[len(t.Rows)-1][0].Separator = i > 0 && j == 0
		}
	}
	t.Legend = replicationLegend
	return t
}

const replicationLegend = "Same (=): to the digits printed. Near (≈): N_w and S_w within three standard deviations of " +
	"25 words × 100 runs, PP, LOW and English % within 1.5 points, accuracy within 2. Apart (≠): neither."

// besidePrinted has a row for each place of some numbers, none where no number is
// in the records.
func besidePrinted(name, title string, own []Replicated, metrics []*printedMetric,
	label func(mechanism string) string) tables.Table {
	t := tables.Table{Name: name, Title: title, Legend: replicationLegend}
	var columns []tables.Column[Replicated]
	for _, m := range metrics {
		columns = append(columns, tables.Column[Replicated]{Title: m.title,
			Of: func(k Replicated) bool { return k.as == m },
			Cell: func(_ *tables.Table, own []Replicated) tables.TableCell {
				if len(own) == 0 {
					return tables.TableCell{Text: tables.NotMeasured}
				}
				return tables.TableCell{Text: own[0].text()}
			}})
	}
	if !anyRun(own) {
		return t
	}
	tables.Pivot(&t, own, []tables.Head[Replicated]{
		{Title: "mechanism", Text: func(k Replicated) string { return label(k.Mechanism) }},
		{Title: "ε", Text: func(k Replicated) string { return epsilonText(k.Place) }}}, columns, 0)
	return t
}

func epsilonText(at Place) string {
	if at.Epsilon == 0 {
		return ""
	}
	return fmt.Sprintf("%g", at.Epsilon)
}

func (k Replicated) text() string {
	printed := tables.FormatNumber(k.Printed, k.as.digits)
	if math.IsNaN(k.Here) {
		return string(k.Verdict) + "/" + printed
	}
	return fmt.Sprintf("%s/%s %s", tables.FormatNumber(k.Here, k.as.digits), printed, k.Verdict)
}

// causesTable says what each mechanism's numbers come from, and why some are
// apart.
func causesTable(all []Replicated) tables.Table {
	t := tables.Table{Name: "replication-causes", Title: "What the code does that its description does not say",
		Header: []string{"mechanism", "in the code", "numbers apart, and why"}}
	for _, m := range append([]string{results.BaselineMechanism}, Mechanisms...) {
		var causes []string
		numbers := map[string][]string{}
		for _, k := range all {
			if k.Place.Mechanism != m || k.Verdict != Apart {
				continue
			}
			if numbers[k.Cause] == nil {
				causes = append(causes, k.Cause)
			}
			if !slices.Contains(numbers[k.Cause], k.as.title) {
				numbers[k.Cause] = append(numbers[k.Cause], k.as.title)
			}
		}
		for i, c := range causes {
			causes[i] = strings.Join(numbers[c], ", ") + ": " + c
		}
		if len(causes) == 0 {
			causes = []string{tables.NotMeasured}
		}
		t.AddRow(results.MechanismTitle(m), codes[m].how, strings.Join(causes, "; "))
	}
	return t
}

// Tables are the printed numbers beside those of the study's code, and then
// beside those of the mechanisms as the study describes them; nothing where none
// is in the records.
func Tables(p *results.Prepared) []tables.Table {
	list := ReplicationTables(p)
	for _, dimension := range Dimensions {
		all := beside(p, places(dimension), describedMetrics, described)
		for _, d := range results.Distinct(all, func(k Replicated) string { return k.Dataset }) {
			own := results.Where(all, func(k Replicated) bool { return k.Dataset == d })
			if anyRun(results.Where(own, func(k Replicated) bool { return k.as.quantity().OfModel && k.Epsilon > 0 })) {
				list = append(list, besidePrinted(fmt.Sprintf("described-%s-%d", d, dimension),
					fmt.Sprintf("As described: here/printed, %s, d = %d", results.DatasetTitle(d), dimension), own,
					describedMetrics, results.MechanismTitle))
			}
		}
	}
	return list
}

// anyRun reports whether some number is in the records.
func anyRun(all []Replicated) bool {
	return slices.ContainsFunc(all, func(k Replicated) bool { return k.Verdict != NotRun })
}
