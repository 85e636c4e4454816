package results

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mldpbench/results/stats"
)

// DatasetDescription describes a prepared data set.
type DatasetDescription struct {
	Name                 string
	Generated            bool
	Classes              int
	TrainDocuments       int // train and validation, as the study counts it
	TestDocuments        int
	Tokens               int // of train and validation
	Vocabulary           int
	LengthMean, LengthSD float64 // tokens per document
	ClassNames           []string
	TrainClasses         []int // documents per class, train and validation
	TestClasses          []int
	Fingerprint          string // of the prepared data set, all splits
}

// Example is one document before and after privatising.
type Example struct {
	Dataset    string  `json:"dataset"`
	Embedding  string  `json:"embedding"`
	Dimension  int     `json:"dimension"`
	Mechanism  string  `json:"mechanism"`
	Variant    string  `json:"variant"`
	Parameters string  `json:"parameters"`
	Epsilon    float64 `json:"epsilon"`
	Document   int     `json:"document"` // row in the source
	Original   string  `json:"original"`
	Privatised string  `json:"privatised"`
}

// TableInputs are the data of tables. Records should come from Derive.
type TableInputs struct {
	Records  []Record
	Datasets []DatasetDescription
	Examples []Example
	Audit    []AuditRow // beside the records; nil where none was run
}

// WriteTables writes tables to dir, in Markdown, LaTeX and CSV, and returns the
// paths.
func WriteTables(dir string, tables []Table) ([]string, error) {
	var paths []string
	for _, t := range tables {
		p, err := t.Save(dir)
		paths = append(paths, p...)
		if err != nil {
			return paths, err
		}
	}
	return paths, nil
}

// Tables builds every table that the inputs allow, from the registry of
// columns. Numbers on generated and on real data are never in the same table,
// nor are runs of several seeds.
func Tables(in TableInputs) []Table {
	in.Records = Separate(in.Records)
	var tables []Table
	for _, generated := range []bool{false, true} {
		own := Where(in.Records, func(r Record) bool { return r.Generated == generated })
		s := newSheet(own, generated, in.Audit)
		var descriptions []DatasetDescription
		for _, d := range in.Datasets {
			if d.Generated == generated {
				descriptions = append(descriptions, d)
			}
		}
		if len(descriptions) > 0 {
			tables = append(tables, s.datasets(descriptions))
		}
		quantities := Where(own, func(r Record) bool { return r.Quantity != "" })
		tables = append(tables, s.releaseTables(quantities)...)
		tables = append(tables, s.attackTables(quantities)...)
		tables = append(tables, s.quantities(quantities)...)
		if len(s.records) == 0 {
			continue
		}
		for _, task := range s.tasks() {
			tables = append(tables, s.grids(s.task(task[0], task[1]), true, task[0], task[1])...)
			tables = append(tables, s.ranks(task[0], task[1])...)
			tables = append(tables, s.alignment(task[0], task[1])...)
			tables = append(tables, s.promises(task[0], task[1])...)
		}
		tables = append(tables, s.shared()...)
		tables = append(tables, s.grids(TextRecords(s.records), false)...)
		tables = append(tables, s.regressions()...)
		if t, ok := s.adversary(); ok {
			tables = append(tables, t)
		}
		if t, ok := s.adversaryRanks(); ok {
			tables = append(tables, t)
		}
		tables = append(tables, s.guarantees())
		tables = append(tables, s.costs()...)
		tables = append(tables, s.examples(in.Examples)...)
	}
	return tables
}

// sheet is the set of records on either real or generated data.
type sheet struct {
	generated bool
	records   []Record
	labels    map[Instance]string
	audit     []AuditRow
}

// newSheet makes the sheet of records that are either all real or all generated.
func newSheet(own []Record, generated bool, audit []AuditRow) sheet {
	return sheet{generated: generated, records: Where(own, func(r Record) bool { return r.Quantity == "" }),
		labels: Labels(own), audit: audit}
}

// tasks returns each pair of model and setting.
func (s sheet) tasks() [][2]string {
	return Distinct(s.records, func(r Record) [2]string { return [2]string{r.Model, r.Setting} })
}

// named completes name and title; both mention generated data.
func (s sheet) named(name, title string) Table {
	if s.generated {
		return Table{Name: name + "-generated", Title: title + " (generated data)"}
	}
	return Table{Name: name, Title: title}
}

func slug(parts ...string) string {
	joined := strings.ToLower(strings.Join(parts, "-"))
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, joined)
}

// WithInterval formats a mean and the half-width of its interval.
func WithInterval(s stats.Summary, digits int) string {
	switch {
	case s.N == 0:
		return NotMeasured
	case s.N == 1:
		return FormatNumber(s.Mean, digits)
	}
	return FormatNumber(s.Mean, digits) + " ± " + FormatNumber(s.HalfWidth(), digits)
}

// ScopeOf returns between which words the guarantee of records of one instance
// holds, "" where it holds between any two. Groups differ between data sets;
// the first scope is used for all.
func ScopeOf(records []Record) string {
	scopes := Distinct(Where(records, func(r Record) bool { return r.GuaranteeScope != "" }),
		func(r Record) string { return r.GuaranteeScope })
	switch len(scopes) {
	case 0:
		return ""
	case 1:
		return scopes[0]
	}
	return scopes[0] + " (other words elsewhere: see the table of guarantees)"
}

// instanceCell returns the first cell of a row of a mechanism.
func (s sheet) instanceCell(t *Table, records []Record, i Instance) TableCell {
	return promiseCell(t, s.labels[i], Where(records, func(r Record) bool { return r.Instance() == i }))
}

// promiseCell returns a name with a footnote where nothing is guaranteed, or
// something between some words only.
func promiseCell(t *Table, name string, own []Record) TableCell {
	c := TableCell{Text: name}
	own = Where(own, func(r Record) bool { return r.Status == StatusOK && !r.IsBaseline() })
	for _, r := range own {
		if r.GuaranteeMetric == "" {
			c.Notes = append(c.Notes, t.Note(strings.TrimSuffix("no privacy guarantee: "+r.GuaranteeReason, ": ")))
			break
		}
	}
	if slices.ContainsFunc(own, func(r Record) bool { return r.Unrepeatable }) {
		c.Notes = append(c.Notes, t.Note("cannot be repeated: the same seed gives a different text each time"))
	}
	if scope := ScopeOf(own); scope != "" {
		c.Notes = append(c.Notes, t.Note("its guarantee holds only "+scope))
	}
	return c
}

// measured fills one cell of a table from the records of one cell of the grid.
func measured(t *Table, records []Record, column func(Record) Float, digits int) (TableCell, stats.Summary) {
	var values []float64
	for _, r := range records {
		if v := column(r); v.Known() {
			values = append(values, float64(v))
		}
	}
	sum := stats.Summarize(values)
	c := TableCell{Text: WithInterval(sum, digits)}
	if sum.N > 1 { // the legend explains a single repetition
		for _, w := range sum.Warnings {
			c.Notes = append(c.Notes, t.Note(string(w)))
		}
	}
	for _, r := range records {
		if r.Status == StatusUndefined {
			c = TableCell{Text: "undefined", Notes: []int{t.Note(undefinedBecause(r))}}
			break
		}
	}
	if len(records) == 0 {
		c.Text = ""
	}
	return c, sum
}

var namedEpsilon = regexp.MustCompile(`\bepsilon = \S+: must`)

// undefinedBecause returns the reason without the ε of the cell, so all ε share
// a footnote.
func undefinedBecause(r Record) string {
	return namedEpsilon.ReplaceAllString(strings.TrimPrefix(r.Reason, r.Mechanism+": undefined: "), "ε must")
}

// fill makes a table of one metric with a row per mechanism instance and a
// column per ε within embedding and dimension; each data set is a block of
// rows, under its baseline where that has the metric.
func (s sheet) fill(t *Table, records []Record, column Column) {
	spaces, epsilons := Spaces(records), epsilonColumns(records)
	t.Groups = []ColumnGroup{{"", 2}}
	t.Header = []string{"data set", "mechanism"}
	for _, sp := range spaces {
		t.Groups = append(t.Groups, ColumnGroup{sp.String(), len(epsilons)})
		for _, e := range epsilons {
			t.Header = append(t.Header, epsilonTitle(e))
		}
	}
	at := func(dataset string, i Instance, sp Space) []Record {
		return Where(records, func(r Record) bool {
			return r.Dataset == dataset && r.Instance() == i && r.Embedding == sp.Embedding &&
				r.Dimension == sp.Dimension
		})
	}
	for _, dataset := range Distinct(records, func(r Record) string { return r.Dataset }) {
		title := DatasetTitle(dataset)
		first := len(t.Rows)
		var means [][]float64 // of the mechanisms' rows
		var rows []int
		above := make([]float64, len(spaces))
		for j := range above {
			above[j] = math.NaN()
		}
		for _, i := range Instances(Where(records, func(r Record) bool { return r.Dataset == dataset })) {
			row := []TableCell{{Text: title}, s.instanceCell(t, records, i)}
			if i.Mechanism == BaselineMechanism {
				if len((Cells{Records: Where(records, Record.IsBaseline)}).Values(column.Get)) == 0 {
					continue
				}
				for j, sp := range spaces {
					c, sum := measured(t, at(dataset, i, sp), column.Get, column.Digits)
					above[j] = sum.Mean
					row = append(row, c)
					row = append(row, make([]TableCell, len(epsilons)-1)...)
				}
				t.Rows = append(t.Rows, row)
				t.hoist(len(t.Rows)-1, 1, 2)
				continue
			}
			var line []float64
			for j, sp := range spaces {
				own := at(dataset, i, sp)
				for _, e := range epsilons {
					c, sum := measured(t, Where(own, func(r Record) bool { return atEpsilon(r, e) }), column.Get,
						column.Digits)
					c.Above = sum.Mean > above[j]
					row, line = append(row, c), append(line, sum.Mean)
				}
			}
			rows, means = append(rows, len(t.Rows)), append(means, line)
			t.Rows = append(t.Rows, row)
			t.hoist(len(t.Rows)-1, 1, 2)
		}
		if column.Direction != Neither {
			markBest(t, rows, means, column.Direction == Up)
		}
		if first < len(t.Rows) {
			t.Rows[first][0].Separator = true
		}
	}
}

// markBest sets the best number of each column in bold; equal ones as printed
// share it.
func markBest(t *Table, rows []int, means [][]float64, higherIsBetter bool) {
	if len(means) < 2 {
		return
	}
	for j := range means[0] {
		best := math.NaN()
		for _, line := range means {
			if v := line[j]; !math.IsNaN(v) && (math.IsNaN(best) || (v > best) == higherIsBetter && v != best) {
				best = v
			}
		}
		for k, line := range means {
			if line[j] == best {
				t.Rows[rows[k]][2+j].Best = true
			}
		}
	}
}

func (s sheet) task(model, setting string) []Record {
	return Where(s.records, func(r Record) bool {
		// A baseline has one setting; it stands for all.
		return r.Model == model && (r.Setting == setting || r.IsBaseline())
	})
}

// grids returns one table per metric with a separate table: of the classifier
// of a task, or of the text.
func (s sheet) grids(records []Record, ofModel bool, task ...string) []Table {
	privatised := Where(records, func(r Record) bool { return !r.IsBaseline() })
	var tables []Table
	for _, c := range Measured(privatised) {
		if c.OfModel != ofModel || c.Table != "" {
			continue
		}
		t := s.named(slug(append([]string{c.Name}, task...)...),
			capitalised(strings.Join(append([]string{c.Heading()}, task...), ", ")))
		s.fill(&t, records, c)
		t.Legend = "Mean ± half-width of the 95% t interval over repetitions (none of one)."
		if best := map[Direction]string{Up: "highest", Down: "lowest"}[c.Direction]; best != "" {
			t.Legend += fmt.Sprintf(" Bold: %s mean of a column and data set; underlined: above the baseline.", best)
		}
		if c.Derived {
			t.Legend += " Composite of utility and privacy: Meisenbacher et al. 2024, eq. 4; α is the " +
				"weight of utility."
			s.noteEncoder(&t, records)
		}
		tables = append(tables, t)
	}
	return tables
}

// noteEncoder notes the encoder of CS.
func (s sheet) noteEncoder(t *Table, records []Record) {
	for _, e := range Distinct(Where(records, func(r Record) bool { return r.CS.Known() }),
		func(r Record) string { return r.CSEncoder }) {
		if e == EncoderSIF {
			t.Legend += " CS by cs_encoder=sif: smooth-inverse-frequency means of word vectors, not a sentence " +
				"encoder; not comparable with published CS."
		} else {
			t.Legend += fmt.Sprintf(" CS by cs_encoder=%s.", e)
		}
	}
}

// EncoderSIF is the CSEncoder of records without a sentence encoder.
const EncoderSIF = "sif"

// shared returns the tables of metrics that share a table, one per data set and
// group of columns.
func (s sheet) shared() []Table {
	texts := TextRecords(Where(s.records, func(r Record) bool { return !r.IsBaseline() }))
	var tables []Table
	for _, name := range []string{"privacy", "exact"} {
		for _, dataset := range Distinct(texts, func(r Record) string { return r.Dataset }) {
			records := Where(texts, func(r Record) bool { return r.Dataset == dataset })
			columns := slices.DeleteFunc(Measured(records), func(c Column) bool { return c.Table != name })
			if len(columns) == 0 {
				continue
			}
			t := s.named(slug(name, dataset), capitalised(name)+" metrics, "+DatasetTitle(dataset))
			t.Groups, t.Header = []ColumnGroup{{"", 2}}, []string{"mechanism", "ε"}
			spaces := Spaces(records)
			for _, sp := range spaces {
				t.Groups = append(t.Groups, ColumnGroup{sp.String(), len(columns)})
				for _, c := range columns {
					t.Header = append(t.Header, c.Title)
				}
			}
			for _, i := range Instances(records) {
				for k, e := range Epsilons(Where(records, func(r Record) bool { return r.Instance() == i })) {
					row := []TableCell{s.instanceCell(&t, records, i), {Text: fmt.Sprintf("%g", e)}}
					for _, sp := range spaces {
						own := Where(records, func(r Record) bool {
							return r.Instance() == i && float64(r.Epsilon) == e && r.Embedding == sp.Embedding &&
								r.Dimension == sp.Dimension
						})
						for _, c := range columns {
							cell, _ := measured(&t, own, c.Get, c.Digits)
							row = append(row, cell)
						}
					}
					row[0].Separator = k == 0
					t.Rows = append(t.Rows, row)
					t.hoist(len(t.Rows)-1, 0, 2)
				}
			}
			t.Legend = explain(columns) + " Mean ± half-width of the 95% t interval over repetitions (none of one)."
			s.noteEncoder(&t, records)
			tables = append(tables, t)
		}
	}
	return tables
}

// explain returns units and directions of columns.
func explain(columns []Column) string {
	var parts []string
	for _, c := range columns {
		text := c.Heading()
		if way := map[Direction]string{Up: "higher", Down: "lower"}[c.Direction]; way != "" {
			text += " (" + way + " is better)"
		}
		if note := columnNotes[c.Name]; note != "" {
			text += ": " + note
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ") + "."
}

// columnNotes explain titles that readers have misunderstood.
var columnNotes = map[string]string{
	"n_w":         "runs that return the word",
	"s_w":         "distinct outputs per word, the word itself included",
	"pp":          "tokens changed",
	"cs":          "cosine similarity of sentences",
	"low":         "of the 1000 rarest words, those that remain anywhere",
	"low_overlap": "of the 1000 rarest words, those that are among the 1000 rarest afterwards too",
}

func capitalised(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// RegressionPredictors of CS, ε first.
var RegressionPredictors = []string{"epsilon", "n_w", "s_w", "pp"}

// regressions of CS on ε and metrics of the text, one per sentence encoder.
func (s sheet) regressions() []Table {
	var tables []Table
	texts := TextRecords(Where(s.records, func(r Record) bool { return !r.IsBaseline() && r.Status == StatusOK }))
	encoders := Distinct(Where(texts, func(r Record) bool { return r.CS.Known() }),
		func(r Record) string { return r.CSEncoder })
	for _, encoder := range encoders {
		var x [][]float64
		var y []float64
		for _, c := range GroupCells(Where(texts, func(r Record) bool {
			return r.CSEncoder == encoder || !r.CS.Known()
		})) {
			row := []float64{
				float64(c.Records[0].Epsilon),
			}
			for _, predictor := range RegressionPredictors[1:] {
				row = append(row, stats.Mean(c.Values(column(predictor).Get)))
			}
			cs := stats.Mean(c.Values(column("cs").Get))
			if math.IsNaN(cs + row[0] + row[1] + row[2] + row[3]) {
				continue
			}
			x, y = append(x, row), append(y, cs)
		}
		r, err := stats.OLS(RegressionPredictors, x, y)
		if err != nil {
			continue // too few cells, or all the same: there is no regression to report
		}
		name, title := "regression", "Regression of CS on ε, N_w, S_w and PP"
		if len(encoders) > 1 {
			name, title = slug(name, encoder), title+", "+encoder
		}
		t := s.named(name, title)
		t.Header = []string{"predictor", "coefficient", "standard error", "t", "p"}
		for _, c := range r.Coefficients {
			row := []string{c.Name, FormatNumber(c.Estimate, 4), FormatNumber(c.StdError, 3), FormatNumber(c.T, 3),
				formatP(c.P)}
			t.AddRow(row...)
		}
		t.Legend = fmt.Sprintf("Ordinary least squares over %d cells (means over repetitions), R² = %.3f.", r.N, r.R2)
		s.noteEncoder(&t, Where(texts, func(r Record) bool { return r.CSEncoder == encoder }))
		tables = append(tables, t)
	}
	return tables
}

// FormatNumber formats a number with so many digits after the point.
func FormatNumber(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

func formatP(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return FormatNumber(p, 3)
}

// adversary returns the tables of what an attacker learns.
func (s sheet) adversary() (Table, bool) {
	texts := TextRecords(Where(s.records, func(r Record) bool { return !r.IsBaseline() }))
	columns := slices.DeleteFunc(Measured(texts), func(c Column) bool { return c.Table != "adversary" })
	known := Where(texts, func(r Record) bool {
		return r.Status == StatusUndefined || slices.ContainsFunc(columns,
			func(c Column) bool { return c.Get(r).Known() })
	})
	t := s.named("adversary", "What an adversary learns")
	t.Header = []string{"data set", "space", "mechanism", "ε"}
	for _, c := range columns {
		t.Header = append(t.Header, c.Title)
	}
	t.Header = append(t.Header, "standard error")
	previous := ""
	for _, c := range GroupCells(known) {
		first := c.Records[0]
		row := []TableCell{
			{Text: DatasetTitle(c.Dataset)}, {Text: Space{c.Embedding, c.Dimension}.String()},
			s.instanceCell(&t, known, first.Instance()), {Text: fmt.Sprintf("%g", float64(first.Epsilon))},
		}
		for _, column := range columns {
			cell, _ := measured(&t, c.Records, column.Get, column.Digits)
			if column.Name == "e_m_full_uniform" && first.EMFullUniform.Known() {
				note := "exact, all words"
				if first.EMFullRuns > 0 {
					note = fmt.Sprintf("an attacker that learned from %d draws of each word, measured on as many",
						first.EMFullRuns)
				}
				cell.Notes = append(cell.Notes, t.Note(note))
			}
			if column.Name == "e_m_map" && first.EMMap.Known() {
				note := fmt.Sprintf("exact, %d candidates", first.EMCandidates)
				if first.EMRuns > 0 {
					note = fmt.Sprintf("Monte Carlo, %d candidates, %d runs each", first.EMCandidates, first.EMRuns)
				}
				cell.Notes = append(cell.Notes, t.Note(note))
			}
			row = append(row, cell)
		}
		cell, _ := measured(&t, c.Records, func(r Record) Float { return r.EMStdError }, 3)
		row = append(row, cell)
		row[0].Separator = first.Mechanism != previous
		previous = first.Mechanism
		t.Rows = append(t.Rows, row)
		t.hoist(len(t.Rows)-1, 2, 4)
	}
	t.Legend = "E_M: the adversary's expected error, 0–1, uniform prior over the candidates, higher is better; it " +
		"is an upper bound where it is Monte Carlo (standard error in the last column), and the lower bound is " +
		"next to it. Full vocabulary: every word is a candidate, measured once; with fewer the problem is easier. " +
		"Euclidean: mean distance of the guess. L_M: expected loss of utility. MIA AUC: 0.5 is an attack that guesses."
	return t, len(t.Rows) > 0
}

// quantities returns tables of rows with one quantity, one table per quantity.
func (s sheet) quantities(records []Record) []Table {
	var tables []Table
	records = PanelsApart(records)
	for _, quantity := range Distinct(records, func(r Record) string { return r.Quantity }) {
		digits, title := 3, quantity
		if c, err := FindColumn(quantity); err == nil {
			digits, title = c.Digits, c.Heading()
		}
		t := s.named(slug("quantity", quantity), capitalised(title))
		t.Header = []string{"panel", "series", "x", "", "repetitions", title, "note"}
		type place struct{ panel, series, name, x string }
		at := map[place][]Record{}
		var order []place
		for _, r := range records {
			if r.Quantity != quantity {
				continue
			}
			k := place{r.Panel, r.Series, r.XName, formatFloat(r.X)}
			if at[k] == nil {
				order = append(order, k)
			}
			at[k] = append(at[k], r)
		}
		for i, k := range order {
			cell, sum := measured(&t, at[k], func(r Record) Float { return r.Value }, digits)
			note := at[k][0].Note
			if slices.ContainsFunc(at[k], func(r Record) bool { return r.Note != note }) {
				note = ""
			}
			row := []TableCell{{Text: k.panel}, {Text: k.series}, {Text: k.name}, {Text: k.x},
				{Text: fmt.Sprint(sum.N)}, cell, {Text: note}}
			row[0].Separator = i > 0 && order[i-1].panel != k.panel
			t.Rows = append(t.Rows, row)
		}
		t.Legend = "Mean ± half-width of the 95% t interval over repetitions (of single words: over " +
			"words; none of one)."
		tables = append(tables, t)
	}
	return tables
}

// guarantees returns the table of guarantees.
func (s sheet) guarantees() Table {
	t := s.named("guarantees", "What each mechanism promises per word")
	t.Header = []string{"data set", "space", "mechanism", "ε", "metric", "guaranteed ε", "as ε·Euclidean", "only",
		"why"}
	for _, c := range GroupCells(TextRecords(Where(s.records, func(r Record) bool { return !r.IsBaseline() }))) {
		r := c.Records[0]
		metric, why := r.GuaranteeMetric, r.GuaranteeReason
		switch {
		case r.Status == StatusUndefined:
			metric, why = "undefined", r.Reason
		case metric == "":
			metric = "none"
		}
		t.AddRow(DatasetTitle(r.Dataset), Space{r.Embedding, r.Dimension}.String(), s.labels[r.Instance()],
			formatFloat(r.Epsilon),
			metric, formatFloat(r.GuaranteeEpsilon), formatFloat(r.GuaranteeEuclidean), r.GuaranteeScope, why)
	}
	return t
}

// formatFloat returns up to four significant digits, "" when missing.
func formatFloat(f Float) string {
	if !f.Known() {
		return ""
	}
	return fmt.Sprintf("%.4g", float64(f))
}

// examples returns tables of one document under all mechanisms, one per data
// set and space.
func (s sheet) examples(all []Example) []Table {
	var tables []Table
	type kind struct {
		dataset string
		space   Space
	}
	var kinds []kind
	members := map[kind][]Example{}
	for _, e := range all {
		k := kind{e.Dataset, Space{e.Embedding, e.Dimension}}
		if len(Where(s.records, func(r Record) bool {
			return r.Dataset == k.dataset && r.Embedding == k.space.Embedding
		})) == 0 {
			continue
		}
		if members[k] == nil {
			kinds = append(kinds, k)
		}
		members[k] = append(members[k], e)
	}
	for _, k := range kinds {
		t := s.named(slug("examples", k.dataset, k.space.Embedding, fmt.Sprint(k.space.Dimension)),
			fmt.Sprintf("A document of %s under each mechanism, %v", DatasetTitle(k.dataset), k.space))
		t.Header = []string{"mechanism", "ε", "text"}
		document := members[k][0].Document
		t.AddRow("original", "", members[k][0].Original)
		for _, e := range members[k] {
			if e.Document != document {
				continue
			}
			label := s.labels[Instance{e.Mechanism, e.Variant, e.Parameters}]
			if label == "" {
				label = MechanismTitle(e.Mechanism)
			}
			t.AddRow(label, fmt.Sprintf("%g", e.Epsilon), e.Privatised)
		}
		tables = append(tables, t)
	}
	return tables
}

// datasets describes the prepared data sets.
func (s sheet) datasets(descriptions []DatasetDescription) Table {
	t := s.named("datasets", "Data sets as prepared")
	t.Header = []string{"data set", "train", "test", "tokens", "vocabulary", "length", "classes: train / test",
		"fingerprint"}
	for _, d := range descriptions {
		t.AddRow(DatasetTitle(d.Name), thousands(d.TrainDocuments), thousands(d.TestDocuments),
			thousands(d.Tokens), thousands(d.Vocabulary), fmt.Sprintf("%.2f (%.2f)", d.LengthMean, d.LengthSD),
			d.balance(), d.Fingerprint[:min(12, len(d.Fingerprint))])
		t.Rows[len(t.Rows)-1][0].Separator = true
	}
	t.Legend = "Train includes validation; tokens, vocabulary and length (mean and standard deviation of tokens per " +
		"document) are those of train. Classes: documents of each, in train and in test. " +
		"The fingerprint (its first digits) is that of the prepared documents and their splits: equal fingerprints " +
		"are equal data."
	return t
}

// balance returns text such as "negative 5000 / 1000, positive 5000 / 1000".
func (d DatasetDescription) balance() string {
	if len(d.ClassNames) == 0 || len(d.TrainClasses) != len(d.ClassNames) || len(d.TestClasses) != len(d.ClassNames) {
		return fmt.Sprintf("%d classes", d.Classes)
	}
	parts := make([]string, len(d.ClassNames))
	for i, name := range d.ClassNames {
		parts[i] = fmt.Sprintf("%s %d / %d", name, d.TrainClasses[i], d.TestClasses[i])
	}
	return strings.Join(parts, ", ")
}

// thousands formats 808382 as 808,382, as the study does.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
