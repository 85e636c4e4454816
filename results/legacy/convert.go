package legacy

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"mldpbench/results"
)

// Rows converts records. A record of a grid had all quantities of a model and
// setting, and repeated those of its text and of its mechanism; each is one row
// now, at the place that it depends on. Derived columns are left out: they are
// computed from rows. Counts, intervals and lists of words stand in the row of
// the quantity that they belong to.
func Rows(records []Record) ([]results.Row, error) {
	var rows []results.Row
	type id struct {
		results.Group
		repetition int
		dataset    string
		quantity   string
	}
	seen := map[id]results.Row{}
	items := map[string]int{} // test documents, by data set
	for _, r := range records {
		items[r.Dataset+r.DatasetFingerprint] = max(items[r.Dataset+r.DatasetFingerprint], r.TestTotal)
		items[r.Dataset] = max(items[r.Dataset], r.TestTotal)
	}
	for _, r := range records {
		if r.TestTotal = items[r.Dataset+r.DatasetFingerprint]; r.DatasetFingerprint == "" { // undefined
			r.TestTotal = items[r.Dataset]
		}
		own := r.rows()
		for _, row := range own {
			k := id{row.Group(), row.Repetition, row.DatasetFingerprint, row.Quantity}
			if old, again := seen[k]; again && r.Quantity == "" {
				if c, err := results.FindColumn(row.Quantity); err == nil && !c.Timing && old.Value != row.Value {
					return nil, fmt.Errorf("record %s: %s = %v, in another record of its text %v", r.Key, row.Quantity,
						row.Value, old.Value)
				}
				continue
			}
			seen[k] = row
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// paper reports whether the record is a point of a paper's figure. Studies of
// attacks had a panel for each attacker.
func (r Record) paper() bool { return r.Quantity != "" && !strings.HasPrefix(r.Study, "attacks") }

func (r Record) row() results.Row {
	row := results.NewRow()
	row.Study, row.Index, row.Key, row.Status, row.Reason = r.Study, r.Index, r.Key, r.Status, r.Reason
	row.Version, row.Machine = r.Version, r.Machine
	row.Place = results.Place{
		Dataset: r.Dataset, Generated: r.Generated, DatasetFingerprint: r.DatasetFingerprint, TestItems: r.TestTotal,
		Embedding: r.Embedding, Dimension: r.Dimension, EmbeddingFingerprint: r.EmbeddingFingerprint,
		Vocabulary: r.Vocabulary, Mechanism: r.Mechanism, Variant: r.Variant, Parameters: r.Parameters,
		Epsilon: r.Epsilon, Policy: r.Policy, Setting: r.Setting, Model: r.Model, ModelParameters: r.ModelParameters,
		Repetition: r.Repetition, Seed: r.Seed, Panel: r.Panel, Series: r.Series, XName: r.XName, X: r.X,
	}
	row.Promise = results.Promise{
		GuaranteeMetric: r.GuaranteeMetric, GuaranteeEpsilon: r.GuaranteeEpsilon, GuaranteeDelta: r.GuaranteeDelta,
		GuaranteeEuclidean: r.GuaranteeEuclidean, GuaranteeScope: r.GuaranteeScope, GuaranteeReason: r.GuaranteeReason,
		Unrepeatable: r.Unrepeatable,
	}
	return row
}

func (r Record) rows() []results.Row {
	row := r.row()
	if r.Quantity != "" || r.Panel != "" {
		if !r.paper() {
			row.Measurement, row.Panel, row.Series, row.XName, row.X = r.Panel, "", "", "", results.Missing
		}
		m := results.Measured{Value: r.Value, Low: r.ValueLow, High: r.ValueHigh, Floor: r.Chance, Ceiling: r.Ceiling,
			Whole: r.Trials, Note: r.Note}
		if c, err := results.FindColumn(r.Quantity); err == nil && c.Counted {
			m.Part = int(math.Round(float64(r.Value) / 100 * float64(r.Trials)))
		}
		row.Seconds = r.TotalSeconds
		return []results.Row{row.Of(r.Quantity, m)}
	}
	if r.Status == results.StatusUndefined {
		row.Setting, row.Model, row.ModelParameters = r.Setting, r.Model, r.ModelParameters
		return []results.Row{row}
	}
	var out []results.Row
	value := reflect.ValueOf(r)
	t := value.Type()
	known := func(name string) results.Float {
		for i := range t.NumField() {
			if t.Field(i).Tag.Get("csv") == name {
				return value.Field(i).Interface().(results.Float)
			}
		}
		panic("legacy: no column " + name)
	}
	add := func(name, measurement string, of func(*results.Measured), place func(*results.Place)) {
		v := known(name)
		if !v.Known() {
			return
		}
		x, m := row, results.Number(float64(v))
		if of != nil {
			of(&m)
		}
		x.Measurement = measurement
		place(&x.Place)
		out = append(out, x.Of(name, m))
	}
	whole := func(*results.Place) {}
	text := func(p *results.Place) { p.Model, p.ModelParameters = "", "" }
	word := func(p *results.Place) { p.Model, p.ModelParameters, p.Setting = "", "", "" }
	counts := func(part, all int) func(*results.Measured) {
		return func(m *results.Measured) { m.Part, m.Whole = part, all }
	}
	within := func(low, high results.Float, runs int) func(*results.Measured) {
		return func(m *results.Measured) { m.Low, m.High, m.Whole = low, high, runs }
	}
	add("accuracy", "accuracy", func(m *results.Measured) {
		m.Part, m.Whole, m.Items = r.TestCorrect, r.TestTotal, r.Correct
	}, whole)
	for _, name := range []string{"validation_accuracy", "auc"} {
		add(name, "accuracy", nil, whole)
	}
	if r.Epochs > 0 {
		x := row
		x.Measurement = "accuracy"
		out = append(out, x.Of("epochs", results.Number(float64(r.Epochs))))
	}
	add("n_w", "deniability", func(m *results.Measured) {
		m.Part, m.Whole, m.Detail = r.NwUnchanged, r.NwRuns, r.DeniabilityWords
	}, word)
	add("s_w", "deniability", counts(r.SwDistinct, r.SwWords), word)
	for _, name := range []string{"n_w_exact", "s_w_exact", "s_w_support", "n_w_worst", "s_w_worst"} {
		add(name, "deniability", nil, word)
	}
	add("pp", "text", counts(r.TokensChanged, r.TokensTotal), text)
	if r.TokensTotal > 0 {
		x := row
		x.Measurement = "text"
		text(&x.Place)
		out = append(out, x.Of("tokens_unknown", results.Measured{Value: results.Float(r.TokensUnknown),
			Low: results.Missing, High: results.Missing, Floor: results.Missing, Ceiling: results.Missing,
			Part: r.TokensUnknown, Whole: r.TokensTotal}))
	}
	add("cs", "cs", func(m *results.Measured) {
		m.Low, m.High, m.Whole, m.Detail = r.CSLow, r.CSHigh, r.CSDocuments, r.CSEncoder
		if r.CSStdDev.Known() {
			m.Note = "standard deviation " + r.CSStdDev.String()
		}
	}, text)
	add("low", "low", counts(r.LowPresent, r.LowTotal), text)
	add("low_overlap", "low", counts(r.LowOverlapShared, r.LowOverlapTotal), text)
	add("english", "english", counts(r.EnglishFound, r.EnglishTokens), text)
	add("english_as_printed", "english", counts(r.EnglishAsPrintedFound, r.EnglishTokens), text)
	for _, name := range []string{"e_m_posterior", "e_m_posterior_euclidean", "e_m_map", "e_m_map_euclidean",
		"e_m_map_lower", "l_m"} {
		add(name, "inference", func(m *results.Measured) {
			m.Part, m.Whole = r.EMCandidates, r.EMRuns
			if name == "e_m_map" && r.EMStdError.Known() {
				m.Note = "standard error " + r.EMStdError.String()
			}
		}, word)
	}
	add("e_m_full_uniform", "inference-full", within(r.EMFullUniformLow, r.EMFullUniformHigh, r.EMFullRuns), word)
	add("e_m_full_corpus", "inference-full", within(r.EMFullCorpusLow, r.EMFullCorpusHigh, r.EMFullRuns), word)
	add("mia_auc", "membership", nil, whole)
	for _, name := range []string{"privatize_seconds", "words_per_second", "peak_memory_mib", "measure_seconds"} {
		add(name, "time", nil, word)
	}
	add("cs_seconds", "time", nil, text)
	add("train_seconds", "time", nil, whole)
	if r.PrivatizeTexts > 0 {
		x := row
		x.Measurement = "time"
		word(&x.Place)
		out = append(out, x.Of("privatize_texts", results.Number(float64(r.PrivatizeTexts))))
	}
	if len(out) > 0 {
		out[0].Seconds = r.TotalSeconds
	}
	if r.IsBaseline() {
		for i := range out {
			out[i].Setting = "" // without privatisation all settings are one
		}
	}
	return out
}

// IsBaseline reports whether nothing was privatised.
func (r Record) IsBaseline() bool { return r.Mechanism == results.BaselineMechanism }
