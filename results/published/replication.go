package published

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/tables"
)

// Verdict says what became of a printed number.
type Verdict string

// Verdicts. Same: to the digits printed. Near: within the noise of N_w and S_w,
// or within the tolerance of the others.
const (
	Same   Verdict = "="
	Near   Verdict = "≈"
	Apart  Verdict = "≠"
	NotRun Verdict = "not run"
)

// Replicated is a number of Tables 3, 6, 7 and 8 beside what the study's own
// code computes (variant as-run, study replication).
type Replicated struct {
	Place   // English % too has the dimension
	Metric  Metric
	Printed float64
	Here    float64 // mean over measurements, NaN where not run
	SD      float64 // of them; NaN for one
	N       int
	Verdict Verdict
	Cause   string // where it is apart
}

// replicatedMetric is a printed metric, its column and title here and the digits
// printed. Tolerance is the difference in points that is near; 0 for N_w and S_w,
// whose noise is measured.
type replicatedMetric struct {
	metric, column, title string
	digits                int
	tolerance             float64
}

// replicatedMetrics are all but CS, whose encoder is another here.
var replicatedMetrics = []replicatedMetric{
	{"n_w", "n_w", "N_w", 1, 0}, {"s_w", "s_w", "S_w", 1, 0},
	{"pp", "pp", "PP", 1, 1.5}, {"low", "low_overlap", "LOW", 1, 1.5},
	{"english", "english_as_printed", "English %", 2, 1.5}, {"accuracy", "accuracy", "accuracy", 2, 2},
}

// replicatedDimension is the only one whose vectors were at hand.
const replicatedDimension = 100

// noise is the number of standard deviations within which a right mean of N_w or
// S_w lies but for 3 in 1,000.
const noise = 3

// Replicate returns every printed number at 100 dimensions, CS apart. Those of a
// data set whose texts or vectors differ from the study's are not run.
func Replicate(p *results.Prepared) []Replicated {
	return replicate(p, replicatedPlaces(), replicatedMetrics, func(c results.Cell) string {
		if c.IsBaseline() || c.Variant == "as-run" && standsFor(c) == "" {
			return c.Mechanism
		}
		return ""
	})
}

// replicate compares the printed numbers of places with the cells of a run on
// the study's texts and vectors. As names the printed mechanism that a cell
// stands for, "" for none.
func replicate(p *results.Prepared, places []Place, of []replicatedMetric, as func(results.Cell) string) []Replicated {
	run := results.Where(p.Cells, func(c results.Cell) bool {
		name, of2024 := strings.CutSuffix(c.Dataset, "-2024")
		return of2024 && as(c) != "" && c.TestItems == testDocuments[name] &&
			c.Dimension == replicatedDimension && strings.HasPrefix(strings.ToLower(c.Embedding), "glove.6b")
	})
	measured := map[Place]map[string]results.Cells{}
	for ofModel, cells := range map[bool][]results.Cell{false: results.Texts(run), true: run} {
		for _, c := range results.GroupCells(cells) {
			r := c.Cells[0]
			at := Place{strings.TrimSuffix(r.Dataset, "-2024"), r.Dimension, 0, as(r)}
			if !r.IsBaseline() {
				at.Epsilon = float64(r.Epsilon)
			}
			if measured[at] == nil {
				measured[at] = map[string]results.Cells{}
			}
			for _, m := range of {
				if results.MustColumn(m.column).OfModel == ofModel && (!ofModel || r.Model == "lstm-2024") &&
					len(c.Values(m.column)) > 0 {
					measured[at][m.metric] = c
				}
			}
		}
	}
	var all []Replicated
	for _, at := range places {
		for _, m := range of {
			lookup := at
			if m.metric == "english" {
				lookup.Dimension = 0
			}
			k := Replicated{Place: at, Metric: m.metric, Printed: Printed().Value(lookup, m.metric), Here: math.NaN(),
				SD: math.NaN(), Verdict: NotRun}
			if math.IsNaN(k.Printed) {
				continue
			}
			if c, ok := measured[at][m.metric]; ok {
				k.take(values(c, results.MustColumn(m.column)), m.digits, m.tolerance)
			}
			all = append(all, k)
		}
	}
	return all
}

func replicatedPlaces() (all []Place) {
	for _, d := range []string{"agnews", "imdb"} {
		all = append(all, Place{d, replicatedDimension, 0, results.BaselineMechanism})
		for _, m := range Mechanisms {
			for _, e := range Epsilons {
				all = append(all, Place{d, replicatedDimension, e, m})
			}
		}
	}
	return all
}

// take sets the value and its verdict. A printed N_w or S_w is one measurement;
// ours is the mean of several.
func (k *Replicated) take(x []float64, digits int, tolerance float64) {
	k.N, k.Here = len(x), stats.Mean(x)
	if len(x) > 1 {
		k.SD = stat.StdDev(x, nil)
		if tolerance == 0 {
			tolerance = noise * k.SD * math.Sqrt(1+1/float64(len(x)))
		}
	}
	k.judge(digits, tolerance)
	if spread := noise * k.SD * math.Sqrt(1/networks+1/float64(len(x))); k.Metric == "accuracy" &&
		k.Verdict == Apart && math.Abs(k.Here-k.Printed) <= spread {
		k.Cause = "five networks on one text differ by as much"
	}
}

// networks were trained on a text; a printed accuracy is their mean.
const networks = 5.0

// judge sets the verdict; a tolerance of noise is beyond what rounding hides.
func (k *Replicated) judge(digits int, tolerance float64) {
	rounding := math.Pow10(-digits) / 2
	if k.Metric == "n_w" || k.Metric == "s_w" {
		tolerance += rounding
	}
	switch d := math.Abs(k.Here - k.Printed); {
	case d <= rounding+1e-9:
		k.Verdict = Same
	case d <= tolerance:
		k.Verdict = Near
	default:
		k.Verdict, k.Cause = Apart, causeApart(k.Place, k.Metric)
	}
}

// causeApart says why the code, run here, does not give a printed number.
func causeApart(at Place, m Metric) string {
	text := m != "n_w" && m != "s_w"
	switch {
	case at.Dataset == "imdb" && at.Mechanism != "syntf":
		return "IMDb: the vectors at hand have 43% of its words, a word without one stays, and nothing takes its place"
	case at.Mechanism == santext && !text:
		return "the share of words without a vector, see below"
	case slices.Contains(fits[at.Mechanism].explains, m):
		return "the printed text is not what this code makes: it fits " + fits[at.Mechanism].title + ", see below"
	case at.Mechanism == "syntf" && text:
		return "open: N_w and S_w are those of this code, the printed text is not"
	case m == "english":
		return "likely the vectors at hand, which lack rare names that the whole file can output; not tested"
	}
	return "open"
}

const santext = "santext"

// codes are what decides the printed numbers of a mechanism and its description
// does not say, with the place in the replication package.
var codes = map[string]string{
	results.BaselineMechanism: "validation is the last fifth of rows sorted by class; on AG News one class alone, of " +
		"which training sees 1,000 texts and of the others 5,000 each (util/train.py)",
	"syntf": "one tf-idf of the whole train set; every candidate that is a corpus word has the score of the input, so " +
		"ε hardly matters (SynTF)",
	"cmp":         "row 0, the origin, is a candidate, and where it is nearest the word stays (get_nearest)",
	"mahalanobis": "the same; the covariance includes the rows of zeros (get_nearest)",
	santext: "distances of the first three coordinates only, and probabilities read with a list out of step: nearly " +
		"every word changes at any ε (calc_distance, SanText)",
	"gumbel": "largest and smallest distance are constants of a data set, and the scale is taken where it is not " +
		"defined (TruncatedGumbel)",
	"vickrey": "the nearest word of the noisy vector is always dropped, whichever it is (VickreyMechanism)",
	"tem":     "words without a vector are vectors of zeros among the candidates (TEM.replace_word)",
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
	if !slices.ContainsFunc(all, func(k Replicated) bool { return k.Verdict != NotRun }) {
		return nil
	}
	list := []tables.Table{replicationSummary(all)}
	for _, d := range []string{"agnews", "imdb"} {
		own := slices.DeleteFunc(slices.Clone(all), func(k Replicated) bool { return k.Dataset != d })
		list = append(list, replicationTable(d, own))
	}
	if t, ok := fitsTable(p); ok {
		list = append(list, t)
	}
	if t, ok := listedTable(all); ok {
		list = append(list, t)
	}
	return append(list, causesTable(all))
}

func replicationSummary(all []Replicated) tables.Table {
	t := tables.Table{Name: "replication", Title: "The printed numbers as the study's code computes them",
		Header: []string{"data set", "metric", "printed", "same", "near", "apart", "not run"}}
	for i, d := range []string{"agnews", "imdb"} {
		for j, m := range replicatedMetrics {
			counts := map[Verdict]int{}
			for _, k := range all {
				if k.Dataset == d && k.Metric == m.metric {
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

func replicationTable(dataset string, own []Replicated) tables.Table {
	return besidePrinted("replication-"+dataset, "Here/printed, "+results.DatasetTitle(dataset)+", d = 100", own,
		replicatedMetrics, replicatedPlaces(), results.MechanismTitle)
}

// besidePrinted has a row for each place that own has.
func besidePrinted(name, title string, own []Replicated, metrics []replicatedMetric, places []Place,
	label func(mechanism string) string) tables.Table {
	t := tables.Table{Name: name, Title: title, Header: []string{"mechanism", "ε"}}
	for _, m := range metrics {
		t.Header = append(t.Header, m.title)
	}
	for _, at := range places {
		if !slices.ContainsFunc(own, func(k Replicated) bool { return k.Place == at }) {
			continue
		}
		row := []string{label(at.Mechanism), epsilonText(at)}
		for _, m := range metrics {
			text := tables.NotMeasured
			for _, k := range own {
				if k.Place == at && k.Metric == m.metric {
					text = k.text(m.digits)
				}
			}
			row = append(row, text)
		}
		t.AddRow(row...)
		t.Rows[len(t.Rows)-1][0].Separator = at.Epsilon == Epsilons[0]
	}
	t.Legend = replicationLegend
	return t
}

func epsilonText(at Place) string {
	if at.Epsilon == 0 {
		return ""
	}
	return fmt.Sprintf("%g", at.Epsilon)
}

func (k Replicated) text(digits int) string {
	printed := tables.FormatNumber(k.Printed, digits)
	if k.Verdict == NotRun {
		return "not run/" + printed
	}
	return fmt.Sprintf("%s/%s %s", tables.FormatNumber(k.Here, digits), printed, k.Verdict)
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
			i := slices.IndexFunc(replicatedMetrics, func(x replicatedMetric) bool { return x.metric == k.Metric })
			if title := replicatedMetrics[i].title; !slices.Contains(numbers[k.Cause], title) {
				numbers[k.Cause] = append(numbers[k.Cause], title)
			}
		}
		for i, c := range causes {
			causes[i] = strings.Join(numbers[c], ", ") + ": " + c
		}
		if len(causes) == 0 {
			causes = []string{tables.NotMeasured}
		}
		t.AddRow(results.MechanismTitle(m), codes[m], strings.Join(causes, "; "))
	}
	return t
}

// HonestTable has the same mechanisms at the same ε as the study describes them:
// proved variants, our records of AG News.
func HonestTable(p *results.Prepared) (tables.Table, bool) {
	t := tables.Table{Name: "replication-honest", Title: "The same mechanisms as described, AG News, d = 100",
		Header: []string{"mechanism", "ε", "N_w", "S_w", "PP", "LOW", "accuracy, plain test text", "private test text"}}
	cells := results.Where(p.Cells, func(c results.Cell) bool {
		return c.Dataset == "agnews" && c.Dimension == replicatedDimension && c.Embedding == "glove.6B" &&
			(c.IsBaseline() || c.Variant == "proved") && (c.Policy == "" || c.Policy == "keep") &&
			!strings.Contains(c.Parameters, "gamma=0.5")
	})
	mean := func(at Place, column, setting string, digits int) string {
		c := results.MustColumn(column)
		var x []float64
		of := results.Where(cells, func(k results.Cell) bool {
			if k.Mechanism != at.Mechanism || at.Epsilon > 0 && float64(k.Epsilon) != at.Epsilon {
				return false
			}
			return !c.OfModel || k.Model == "lstm" && (k.Setting == setting || k.IsBaseline())
		})
		if !c.OfModel {
			of = results.Texts(of)
		}
		for _, k := range of {
			if k.Status == results.StatusUndefined {
				return "undefined"
			}
		}
		if x = values(results.Cells{Cells: of}, c); len(x) == 0 {
			return tables.NotMeasured
		}
		return tables.FormatNumber(stats.Mean(x), digits)
	}
	for _, at := range replicatedPlaces() {
		if at.Dataset == "agnews" {
			t.AddRow(results.MechanismTitle(at.Mechanism), epsilonText(at), mean(at, "n_w", "", 1),
				mean(at, "s_w", "", 1), mean(at, "pp", "", 1), mean(at, "low_overlap", "", 1),
				mean(at, "accuracy", "train-only", 2), mean(at, "accuracy", "local", 2))
			t.Rows[len(t.Rows)-1][0].Separator = at.Epsilon == Epsilons[0]
		}
	}
	return t, len(cells) > 0
}
