package results

import (
	"fmt"
	"math"
	"regexp"
	"strings"
)

// DatasetDescription is a row of the study's Table 2: a prepared data set.
type DatasetDescription struct {
	Name                 string
	Generated            bool
	Classes              int
	TrainDocuments       int // train and validation, as the study counts
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

// TableInputs are what tables are made of. Records should come from Derive.
type TableInputs struct {
	Records  []Record
	Datasets []DatasetDescription
	Examples []Example
}

// WriteTables writes every table that the inputs allow to dir, in Markdown,
// LaTeX and CSV, and returns the paths.
func WriteTables(dir string, in TableInputs) ([]string, error) {
	var paths []string
	for _, t := range Tables(in) {
		p, err := t.Save(dir)
		paths = append(paths, p...)
		if err != nil {
			return paths, err
		}
	}
	return paths, nil
}

// Tables builds the tables of the study (its Tables 2–11) and ours beside
// them. Numbers on generated and on real data never share a table.
func Tables(in TableInputs) []Table {
	var tables []Table
	for _, generated := range []bool{false, true} {
		s := sheet{generated: generated, records: where(in.Records, func(r Record) bool { return r.Generated == generated })}
		s.labels = labelInstances(s.records)
		var descriptions []DatasetDescription
		for _, d := range in.Datasets {
			if d.Generated == generated {
				descriptions = append(descriptions, d)
			}
		}
		if len(descriptions) > 0 {
			tables = append(tables, s.datasets(descriptions))
		}
		if len(s.records) == 0 {
			continue
		}
		for _, task := range distinct(s.records, func(r Record) [2]string { return [2]string{r.Model, r.Setting} }) {
			if t, ok := s.accuracy(task[0], task[1]); ok {
				tables = append(tables, t)
			}
			tables = append(tables, s.ranks(task[0], task[1])...)
			tables = append(tables, s.composites(task[0], task[1])...)
			tables = append(tables, s.alignment(task[0], task[1])...)
		}
		tables = append(tables, s.privacy()...)
		tables = append(tables, s.regressions()...)
		if t, ok := s.english(); ok {
			tables = append(tables, t)
		}
		if t, ok := s.adversary(); ok {
			tables = append(tables, t)
		}
		if t, ok := s.adversaryRanks(); ok {
			tables = append(tables, t)
		}
		tables = append(tables, s.guarantees())
		tables = append(tables, s.costs()...)
		tables = append(tables, s.comparison()...)
		tables = append(tables, s.examples(in.Examples)...)
	}
	return tables
}

// sheet is the set of records on either real or generated data.
type sheet struct {
	generated bool
	records   []Record
	labels    labels
}

// named completes name and title: generated data says so in both.
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

// withInterval prints a mean and the half-width of its interval.
func withInterval(s Summary, digits int) string {
	switch {
	case s.N == 0:
		return missingText
	case s.N == 1:
		return formatNumber(s.Mean, digits)
	}
	return formatNumber(s.Mean, digits) + " ± " + formatNumber(s.HalfWidth(), digits)
}

// instanceCell heads a row: the name, and a footnote where nothing is promised.
func (s sheet) instanceCell(t *Table, records []Record, i Instance) TableCell {
	c := TableCell{Text: s.labels[i]}
	if i.Mechanism == BaselineMechanism {
		return c
	}
	own := where(records, func(r Record) bool { return r.Instance() == i && r.Status == StatusOK })
	for _, r := range own {
		if r.GuaranteeMetric == "" {
			c.Notes = append(c.Notes, t.Note(strings.TrimSuffix("no privacy guarantee: "+r.GuaranteeReason, ": ")))
			break
		}
	}
	return c
}

// measured fills one cell of a table from the records of one cell of the grid.
func measured(t *Table, records []Record, column func(Record) Float, digits int) (TableCell, Summary) {
	var values []float64
	for _, r := range records {
		if v := column(r); v.Known() {
			values = append(values, float64(v))
		}
	}
	sum := Summarize(values)
	c := TableCell{Text: withInterval(sum, digits)}
	if sum.N > 1 { // of one repetition the legend speaks
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

// undefinedBecause is the reason without the ε of the cell, so that all ε share
// a footnote.
func undefinedBecause(r Record) string {
	return namedEpsilon.ReplaceAllString(strings.TrimPrefix(r.Reason, r.Mechanism+": undefined: "), "ε must")
}

// grid is a table with a row per mechanism instance and columns ε within
// embedding and dimension; each data set is a block of rows.
type grid struct {
	column         func(Record) Float
	digits         int
	higherIsBetter bool
	baseline       bool // a row for it, and underlining of what is above
}

func (s sheet) fill(t *Table, records []Record, g grid) {
	spaces, epsilons := spacesOf(records), epsilonColumns(records)
	t.Groups = []ColumnGroup{{"", 2}}
	t.Header = []string{"data set", "mechanism"}
	for _, sp := range spaces {
		t.Groups = append(t.Groups, ColumnGroup{sp.String(), len(epsilons)})
		for _, e := range epsilons {
			t.Header = append(t.Header, epsilonTitle(e))
		}
	}
	at := func(dataset string, i Instance, sp spaceOf) []Record {
		return where(records, func(r Record) bool {
			return r.Dataset == dataset && r.Instance() == i && r.Embedding == sp.Embedding && r.Dimension == sp.Dimension
		})
	}
	for _, dataset := range distinct(records, func(r Record) string { return r.Dataset }) {
		title := DatasetTitle(dataset)
		first := len(t.Rows)
		var means [][]float64 // of the rows of mechanisms
		var rows []int
		above := make([]float64, len(spaces))
		for j := range above {
			above[j] = math.NaN()
		}
		for _, i := range instancesOf(where(records, func(r Record) bool { return r.Dataset == dataset })) {
			row := []TableCell{{Text: title}, s.instanceCell(t, records, i)}
			if i.Mechanism == BaselineMechanism {
				if !g.baseline {
					continue
				}
				for j, sp := range spaces {
					c, sum := measured(t, at(dataset, i, sp), g.column, g.digits)
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
					c, sum := measured(t, where(own, func(r Record) bool { return atEpsilon(r, e) }), g.column, g.digits)
					c.Above = g.baseline && sum.Mean > above[j]
					row, line = append(row, c), append(line, sum.Mean)
				}
			}
			rows, means = append(rows, len(t.Rows)), append(means, line)
			t.Rows = append(t.Rows, row)
			t.hoist(len(t.Rows)-1, 1, 2)
		}
		markBest(t, rows, means, g.higherIsBetter)
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
	return where(s.records, func(r Record) bool {
		// A baseline has one setting; it stands for all.
		return r.Model == model && (r.Setting == setting || r.IsBaseline())
	})
}

// accuracy is the study's Table 3.
func (s sheet) accuracy(model, setting string) (Table, bool) {
	records := s.task(model, setting)
	if len(where(records, func(r Record) bool { return r.Accuracy.Known() && !r.IsBaseline() })) == 0 {
		return Table{}, false
	}
	t := s.named(slug("table3-accuracy", model, setting), fmt.Sprintf("Accuracy in %%, %s, %s", model, setting))
	s.fill(&t, records, grid{column: func(r Record) Float { return r.Accuracy }, digits: 2, higherIsBetter: true, baseline: true})
	t.Legend = "Mean ± half-width of the 95% t interval over repetitions (none of one). Bold: highest mean of a column and data set; underlined: above the baseline."
	return t, true
}

// composites are the study's Table 9, one table a weight.
func (s sheet) composites(model, setting string) []Table {
	records := s.task(model, setting)
	var tables []Table
	for _, c := range []struct {
		alpha  string
		column func(Record) Float
	}{
		{"0.75", func(r Record) Float { return r.PUC75 }},
		{"0.5", func(r Record) Float { return r.PUC50 }},
		{"0.25", func(r Record) Float { return r.PUC25 }},
	} {
		if len(where(records, func(r Record) bool { return c.column(r).Known() })) == 0 {
			continue
		}
		t := s.named(slug("table9-puc", c.alpha, model, setting), fmt.Sprintf("Privacy-utility composite (PUC), α=%s, %s, %s", c.alpha, model, setting))
		s.fill(&t, records, grid{column: c.column, digits: 2, higherIsBetter: true})
		t.Legend = "Meisenbacher et al. 2024, eq. 4: α is the weight of utility. Mean ± half-width of the 95% t interval over repetitions (none of one). Bold: highest of a column and data set."
		s.noteEncoder(&t, records)
		tables = append(tables, t)
	}
	return tables
}

// noteEncoder says what CS was measured with.
func (s sheet) noteEncoder(t *Table, records []Record) {
	for _, e := range distinct(where(records, func(r Record) bool { return r.CS.Known() }), func(r Record) string { return r.CSEncoder }) {
		if e == EncoderSIF {
			t.Legend += " CS by cs_encoder=sif: smooth-inverse-frequency means of word vectors, not a sentence encoder; not comparable with published CS."
		} else {
			t.Legend += fmt.Sprintf(" CS by cs_encoder=%s.", e)
		}
	}
}

// EncoderSIF is the CSEncoder of records without a sentence encoder.
const EncoderSIF = "sif"

// privacy are the study's Tables 6 and 7, one table a data set.
func (s sheet) privacy() []Table {
	columns := []struct {
		name   string
		column func(Record) Float
	}{
		{"N_w", func(r Record) Float { return r.Nw }},
		{"S_w", func(r Record) Float { return r.Sw }},
		{"PP", func(r Record) Float { return r.PP }},
		{"CS", func(r Record) Float { return r.CS }},
		{"LOW", func(r Record) Float { return r.Low }},
	}
	var tables []Table
	texts := textRecords(where(s.records, func(r Record) bool { return !r.IsBaseline() }))
	for _, dataset := range distinct(texts, func(r Record) string { return r.Dataset }) {
		records := where(texts, func(r Record) bool { return r.Dataset == dataset })
		number := map[string]string{"imdb": "table6-", "agnews": "table7-"}[dataset]
		t := s.named(slug(number+"privacy", dataset), "Privacy metrics, "+DatasetTitle(dataset))
		t.Groups, t.Header = []ColumnGroup{{"", 2}}, []string{"mechanism", "ε"}
		spaces := spacesOf(records)
		for _, sp := range spaces {
			t.Groups = append(t.Groups, ColumnGroup{sp.String(), len(columns)})
			for _, c := range columns {
				t.Header = append(t.Header, c.name)
			}
		}
		for _, i := range instancesOf(records) {
			for k, e := range epsilonsOf(where(records, func(r Record) bool { return r.Instance() == i })) {
				row := []TableCell{s.instanceCell(&t, records, i), {Text: fmt.Sprintf("%g", e)}}
				for _, sp := range spaces {
					own := where(records, func(r Record) bool {
						return r.Instance() == i && float64(r.Epsilon) == e && r.Embedding == sp.Embedding && r.Dimension == sp.Dimension
					})
					for _, c := range columns {
						cell, _ := measured(&t, own, c.column, 1)
						row = append(row, cell)
					}
				}
				row[0].Separator = k == 0
				t.Rows = append(t.Rows, row)
				t.hoist(len(t.Rows)-1, 0, 2)
			}
		}
		t.Legend = "N_w: runs that return the word, %, lower is better; S_w: distinct outputs per word, the word itself included (the published tables leave it out), higher is better; " +
			"PP: tokens changed, %; CS: cosine similarity of sentences ×100; LOW: rarest words that remain, %. Mean ± half-width of the 95% t interval over repetitions (none of one)."
		s.noteEncoder(&t, records)
		tables = append(tables, t)
	}
	return tables
}

// regressions are the study's Table 4, one a sentence encoder.
func (s sheet) regressions() []Table {
	var tables []Table
	texts := textRecords(where(s.records, func(r Record) bool { return !r.IsBaseline() && r.Status == StatusOK }))
	encoders := distinct(where(texts, func(r Record) bool { return r.CS.Known() }), func(r Record) string { return r.CSEncoder })
	for _, encoder := range encoders {
		var x [][]float64
		var y []float64
		for _, c := range GroupCells(where(texts, func(r Record) bool { return r.CSEncoder == encoder || !r.CS.Known() })) {
			row := []float64{
				float64(c.Records[0].Epsilon),
				mean(c.Values(func(r Record) Float { return r.Nw })),
				mean(c.Values(func(r Record) Float { return r.Sw })),
				mean(c.Values(func(r Record) Float { return r.PP })),
			}
			cs := mean(c.Values(func(r Record) Float { return r.CS }))
			if math.IsNaN(cs + row[0] + row[1] + row[2] + row[3]) {
				continue
			}
			x, y = append(x, row), append(y, cs)
		}
		r, err := OLS(regressionPredictors, x, y)
		if err != nil {
			continue // too few cells, or all alike: there is no regression to report
		}
		name, title := "table4-regression", "Regression of CS on ε, N_w, S_w and PP"
		if len(encoders) > 1 {
			name, title = slug(name, encoder), title+", "+encoder
		}
		t := s.named(name, title)
		t.Header = []string{"predictor", "coefficient", "standard error", "t", "p"}
		published := publishedRegression()
		if !s.generated {
			t.Header = append(t.Header, "published coefficient")
		}
		for k, c := range r.Coefficients {
			row := []string{c.Name, formatNumber(c.Estimate, 4), formatNumber(c.StdError, 3), formatNumber(c.T, 3), formatP(c.P)}
			if !s.generated {
				row = append(row, published[k].Estimate)
			}
			t.AddRow(row...)
		}
		t.Legend = fmt.Sprintf("Ordinary least squares over %d cells (means over repetitions), R² = %.3f.", r.N, r.R2)
		if !s.generated {
			t.Legend += fmt.Sprintf(" Published: 126 cells, R² = %s, CS of another encoder, S_w without the word itself.", published[len(published)-1].Estimate)
		}
		s.noteEncoder(&t, where(texts, func(r Record) bool { return r.CSEncoder == encoder }))
		tables = append(tables, t)
	}
	return tables
}

func formatP(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return formatNumber(p, 3)
}

// english is the study's Table 8.
func (s sheet) english() (Table, bool) {
	texts := textRecords(s.records)
	if len(where(texts, func(r Record) bool { return r.English.Known() })) == 0 {
		return Table{}, false
	}
	t := s.named("table8-english", "Tokens that are English words, %")
	s.fill(&t, texts, grid{column: func(r Record) Float { return r.English }, digits: 2, higherIsBetter: true, baseline: true})
	t.Legend = "Mean ± half-width of the 95% t interval over repetitions (none of one). Bold: highest of a column and data set; underlined: above the text as it was."
	return t, true
}

// adversary tabulates what an attacker learns.
func (s sheet) adversary() (Table, bool) {
	texts := textRecords(where(s.records, func(r Record) bool { return !r.IsBaseline() }))
	known := where(texts, func(r Record) bool {
		return r.EMMap.Known() || r.LM.Known() || r.MIAAUC.Known() || r.Status == StatusUndefined
	})
	t := s.named("adversary", "What an adversary learns")
	t.Header = []string{"data set", "space", "mechanism", "ε", "E_M posterior", "E_M MAP", "standard error", "E_M MAP lower", "E_M MAP Euclidean", "L_M", "MIA AUC"}
	columns := []func(Record) Float{
		func(r Record) Float { return r.EMPosterior }, func(r Record) Float { return r.EMMap },
		func(r Record) Float { return r.EMStdError }, func(r Record) Float { return r.EMMapLower }, func(r Record) Float { return r.EMMapEuclidean },
		func(r Record) Float { return r.LM }, func(r Record) Float { return r.MIAAUC },
	}
	previous := ""
	for _, c := range GroupCells(known) {
		first := c.Records[0]
		row := []TableCell{
			{Text: DatasetTitle(c.Dataset)}, {Text: spaceOf{c.Embedding, c.Dimension}.String()},
			s.instanceCell(&t, known, first.Instance()), {Text: fmt.Sprintf("%g", float64(first.Epsilon))},
		}
		for _, column := range columns {
			cell, _ := measured(&t, c.Records, column, 3)
			row = append(row, cell)
		}
		if first.EMMap.Known() {
			note := fmt.Sprintf("exact, %d candidates", first.EMCandidates)
			if first.EMRuns > 0 {
				note = fmt.Sprintf("Monte Carlo, %d candidates, %d runs each", first.EMCandidates, first.EMRuns)
			}
			row[5].Notes = append(row[5].Notes, t.Note(note))
		}
		row[0].Separator = first.Mechanism != previous
		previous = first.Mechanism
		t.Rows = append(t.Rows, row)
		t.hoist(len(t.Rows)-1, 2, 4)
	}
	t.Legend = "E_M: the adversary's expected error, 0–1, uniform prior over the candidates, higher is better; it is an upper bound where it is Monte Carlo, and the lower bound stands beside it. " +
		"Euclidean: mean distance of the guess. L_M: expected loss of utility. MIA AUC: 0.5 is an attack that guesses."
	return t, len(t.Rows) > 0
}

// guarantees tabulates promises.
func (s sheet) guarantees() Table {
	t := s.named("guarantees", "What each mechanism promises per word")
	t.Header = []string{"data set", "space", "mechanism", "ε", "metric", "guaranteed ε", "as ε·Euclidean", "why"}
	for _, c := range GroupCells(textRecords(where(s.records, func(r Record) bool { return !r.IsBaseline() }))) {
		r := c.Records[0]
		metric, why := r.GuaranteeMetric, r.GuaranteeReason
		switch {
		case r.Status == StatusUndefined:
			metric, why = "undefined", r.Reason
		case metric == "":
			metric = "none"
		}
		t.AddRow(DatasetTitle(r.Dataset), spaceOf{r.Embedding, r.Dimension}.String(), s.labels[r.Instance()], formatFloat(r.Epsilon),
			metric, formatFloat(r.GuaranteeEpsilon), formatFloat(r.GuaranteeEuclidean), why)
	}
	return t
}

// formatFloat prints up to four significant digits, nothing when missing.
func formatFloat(f Float) string {
	if !f.Known() {
		return ""
	}
	return fmt.Sprintf("%.4g", float64(f))
}

// examples are the study's Tables 5, 10 and 11: one document under all
// mechanisms, one table a data set and space.
func (s sheet) examples(all []Example) []Table {
	var tables []Table
	type kind struct {
		dataset string
		space   spaceOf
	}
	var kinds []kind
	members := map[kind][]Example{}
	for _, e := range all {
		k := kind{e.Dataset, spaceOf{e.Embedding, e.Dimension}}
		if len(where(s.records, func(r Record) bool { return r.Dataset == k.dataset && r.Embedding == k.space.Embedding })) == 0 {
			continue
		}
		if members[k] == nil {
			kinds = append(kinds, k)
		}
		members[k] = append(members[k], e)
	}
	for _, k := range kinds {
		t := s.named(slug("examples", k.dataset, k.space.Embedding, fmt.Sprint(k.space.Dimension)), fmt.Sprintf("A document of %s under each mechanism, %v", DatasetTitle(k.dataset), k.space))
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

// datasets is the study's Table 2, its own numbers below ours.
func (s sheet) datasets(descriptions []DatasetDescription) Table {
	t := s.named("table2-datasets", "Data sets as prepared")
	t.Header = []string{"data set", "train", "test", "tokens", "vocabulary", "length", "classes: train / test", "fingerprint"}
	for _, d := range descriptions {
		t.AddRow(DatasetTitle(d.Name), thousands(d.TrainDocuments), thousands(d.TestDocuments),
			thousands(d.Tokens), thousands(d.Vocabulary), fmt.Sprintf("%.2f (%.2f)", d.LengthMean, d.LengthSD),
			d.balance(), d.Fingerprint[:min(12, len(d.Fingerprint))])
		t.Rows[len(t.Rows)-1][0].Separator = true
		if p, ok := publishedDataset(d.Name); ok {
			t.AddRow("as published", p["train_size"], p["test_size"], p["total_word_count"], p["vocab_size"],
				p["sent_len_mean"]+" ("+p["sent_len_sd"]+")", p["task_type"], "")
		}
	}
	t.Legend = "Train includes validation; tokens, vocabulary and length (mean and standard deviation of tokens per document) are those of train. Classes: documents of each, in train and in test. " +
		"The fingerprint (its first digits) is that of the prepared documents and their splits: equal fingerprints are equal data."
	return t
}

// balance is "negative 5000 / 1000, positive 5000 / 1000".
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

// thousands prints 808382 as 808,382, as the study does.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
