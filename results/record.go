// Package results stores and tabulates what was measured: the record schema
// with its one registry of columns, the store, selections of records, tables,
// standings, the comparison of two runs and the regression gate.
//
// A number without its spread, its settings and its guarantee is not a result.
// Raw counts are stored with every metric, so a metric can be recomputed
// without another run. A value that was not measured is missing, never 0. The
// numbers that papers print are in package published, intervals and tests in
// package stats.
//
// The package exports many names because all queries on records are here:
// selections (by cell, instance, space, task), the registry of columns, tables,
// standings, comparison and gate. Figures, the report and the comparison with
// the papers use them.
package results

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"mldpbench/mechanisms"
)

// SchemaVersion is increased whenever a column changes its meaning or name; see
// migrations for the differences of older files.
const SchemaVersion = 4

// Float is a number that may be missing (NaN): an empty cell in CSV.
type Float float64

// Missing is the value of a metric that was not measured.
var Missing = Float(math.NaN())

// Known reports whether the number was measured.
func (f Float) Known() bool { return !math.IsNaN(float64(f)) }

// MarshalCSV writes the shortest form that reads back exactly.
func (f Float) MarshalCSV() (string, error) {
	if !f.Known() {
		return "", nil
	}
	return strconv.FormatFloat(float64(f), 'g', -1, 64), nil
}

// UnmarshalCSV reads numbers written by MarshalCSV.
func (f *Float) UnmarshalCSV(s string) error {
	if s == "" {
		*f = Missing
		return nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", s)
	}
	*f = Float(v)
	return nil
}

// Record is one row: one cell and repetition, or one quantity of a unit of a
// paper study, measured once. Percentages are 0–100.
//
// The tags of a field define its column, so a metric is one field here. title
// makes the field a metric, by the name that tables, figures, the gate and the
// report print; unit is "%" or nothing; better is "up" or "down"; digits are
// those printed after the point; gate is the change of a mean, in the column's
// unit, that never raises an alarm (none: not watched); count names the two
// columns of which it is the percentage; table is the table that it shares with
// others (none: a separate table); of "model" means that it depends on the
// classifier and not on the text alone. derived columns are computed from other
// records; timing columns differ between runs of one cell or state the origin
// of the record. All others are reproduced exactly by the same study seed.
type Record struct {
	Schema int    `csv:"schema"`
	Study  string `csv:"study"`
	Key    string `csv:"key"`   // identifies the cell; see experiments
	Index  int    `csv:"index"` // position in the grid
	Rows   int    `csv:"rows"`  // of the file; Encode counts them to detect a truncated file

	// Position of a row with one quantity, as in paper studies: a figure of the
	// paper, a curve in it, a position on its x axis. All are empty in a row of
	// a grid, which has its quantities in their columns.
	Panel    string `csv:"panel"`
	Series   string `csv:"series"`
	XName    string `csv:"x_name"` // epsilon, beta, k…
	X        Float  `csv:"x"`
	Quantity string `csv:"quantity"` // name of a column; "" in a row of a grid
	Value    Float  `csv:"value"`
	// Context of the value, where known: its 95% interval, the value reached
	// without any information (floor), the value reached without privatising
	// (ceiling), and the number of trials that it is a mean over.
	ValueLow  Float  `csv:"value_low"`
	ValueHigh Float  `csv:"value_high"`
	Chance    Float  `csv:"chance"`
	Ceiling   Float  `csv:"ceiling"`
	Trials    int    `csv:"trials"`
	Note      string `csv:"note"`

	// What was run.
	Dataset              string `csv:"dataset"`
	Generated            bool   `csv:"generated"`
	DatasetFingerprint   string `csv:"dataset_fingerprint"`
	Embedding            string `csv:"embedding"`
	Dimension            int    `csv:"dimension"`
	EmbeddingFingerprint string `csv:"embedding_fingerprint"`
	Vocabulary           int    `csv:"vocabulary"` // words of the space after restriction to the data set
	Mechanism            string `csv:"mechanism"`  // "none" for the baseline
	Variant              string `csv:"variant"`
	Parameters           string `csv:"parameters"` // mechanisms.Parameters.String
	Epsilon              Float  `csv:"epsilon"`    // missing for the baseline
	Policy               string `csv:"policy"`     // unknown words
	Model                string `csv:"model"`
	ModelParameters      string `csv:"model_parameters"`
	Setting              string `csv:"setting"` // "local", "train-only", "test-only"
	Repetition           int    `csv:"repetition"`
	Seed                 uint64 `csv:"seed"` // study seed

	// What was promised.
	GuaranteeMetric    string `csv:"guarantee_metric"` // "" means none
	GuaranteeEpsilon   Float  `csv:"guarantee_epsilon"`
	GuaranteeDelta     Float  `csv:"guarantee_delta"`
	GuaranteeEuclidean Float  `csv:"guarantee_euclidean_epsilon"`
	GuaranteeScope     string `csv:"guarantee_scope"` // the words between which it holds, as "only …"; "" means all
	GuaranteeReason    string `csv:"guarantee_reason"`
	Unrepeatable       bool   `csv:"unrepeatable"` // from outside, and the same seed gives a different text each time

	// Status is "ok", or "undefined" with Reason when the mechanism does not
	// exist at these settings (proved Gumbel at small ε): such a cell is done.
	Status string `csv:"status"`
	Reason string `csv:"reason"`

	// Utility.
	Accuracy    Float `csv:"accuracy" title:"accuracy" unit:"%" better:"up" digits:"2" gate:"1" count:"test_correct/test_total" of:"model"`
	TestCorrect int   `csv:"test_correct"`
	TestTotal   int   `csv:"test_total"`
	// Correct holds for each test document whether it was classified correctly;
	// it is in a separate file next to the records.
	Correct            Outcomes `csv:"-" json:"correct,omitempty"`
	ValidationAccuracy Float    `csv:"validation_accuracy" title:"validation accuracy" unit:"%" better:"up" digits:"2" of:"model"`
	// two classes only
	AUC              Float `csv:"auc" title:"AUC" better:"up" digits:"3" gate:"0.02" of:"model"`
	Epochs           int   `csv:"epochs"`
	BaselineAccuracy Float `csv:"baseline_accuracy" derived:"yes"` // mean over the baseline's repetitions; derived

	// Plausible deniability, study estimator (W words × R runs).
	Nw Float `csv:"n_w" title:"N_w" unit:"%" better:"down" digits:"1" gate:"2" count:"n_w_unchanged/n_w_runs" table:"privacy"`
	Sw Float `csv:"s_w" title:"S_w" better:"up" digits:"1" gate:"2" table:"privacy"`
	// runs that returned the word, of all words
	NwUnchanged int `csv:"n_w_unchanged"`
	// W × R
	NwRuns int `csv:"n_w_runs"`
	// distinct outputs, summed over words
	SwDistinct int `csv:"s_w_distinct"`
	// W
	SwWords int `csv:"s_w_words"`
	// mean over the same words, closed form
	NwExact Float `csv:"n_w_exact" title:"N_w exact" unit:"%" better:"down" digits:"1" table:"exact"`
	// expected distinct outputs in R runs, mean over the same words, closed form
	SwExact Float `csv:"s_w_exact" title:"S_w exact" better:"up" digits:"1" table:"exact"`
	// smallest set of outputs of mass 0.95, mean over the same words, closed form
	SwSupport Float `csv:"s_w_support" title:"S_w of mass 0.95" better:"up" digits:"1" table:"exact"`
	// largest over words
	NwWorst Float `csv:"n_w_worst" title:"N_w, worst word" unit:"%" better:"down" digits:"1" table:"exact"`
	// smallest over words
	SwWorst          Float  `csv:"s_w_worst" title:"S_w, worst word" better:"up" digits:"1" table:"exact"`
	DeniabilityWords string `csv:"deniability_words"` // word:unchanged:distinct, space-separated

	// Text.
	PP            Float  `csv:"pp" title:"PP" unit:"%" better:"up" digits:"1" gate:"1" count:"tokens_changed/tokens_total" table:"privacy"`
	TokensChanged int    `csv:"tokens_changed"`
	TokensTotal   int    `csv:"tokens_total"`
	TokensUnknown int    `csv:"tokens_unknown"` // outside the vocabulary before privatising
	CS            Float  `csv:"cs" title:"CS" unit:"×100" better:"up" digits:"1" gate:"2" table:"privacy"`
	CSLow         Float  `csv:"cs_low"` // 95% interval over documents
	CSHigh        Float  `csv:"cs_high"`
	CSStdDev      Float  `csv:"cs_std_dev"` // over documents
	CSDocuments   int    `csv:"cs_documents"`
	CSEncoder     string `csv:"cs_encoder"`
	Low           Float  `csv:"low" title:"LOW" unit:"%" better:"down" digits:"1" gate:"3" count:"low_present/low_total" table:"privacy"`
	LowPresent    int    `csv:"low_present"`
	LowTotal      int    `csv:"low_total"`
	// LOW as the published tables seem to define it: an overlap of two lists.
	LowOverlap       Float `csv:"low_overlap" title:"LOW overlap" unit:"%" better:"down" digits:"1" gate:"3" count:"low_overlap_shared/low_overlap_total" table:"privacy"`
	LowOverlapShared int   `csv:"low_overlap_shared"` // words in both lists
	LowOverlapTotal  int   `csv:"low_overlap_total"`  // words of the original's list
	English          Float `csv:"english" title:"English" unit:"%" digits:"2" gate:"1" count:"english_found/english_tokens" better:"up"`
	EnglishFound     int   `csv:"english_found"`
	EnglishTokens    int   `csv:"english_tokens"` // tokens after privatising
	// The list as printed: tokens are looked up with its capitals.
	EnglishAsPrinted      Float `csv:"english_as_printed" title:"English, list as printed" unit:"%" better:"up" digits:"2" gate:"1" count:"english_as_printed_found/english_tokens"`
	EnglishAsPrintedFound int   `csv:"english_as_printed_found"`

	// Composite and adversary.
	// derived
	PUC75 Float `csv:"puc_75" title:"PUC α=0.75" better:"up" digits:"2" of:"model" derived:"yes"`
	// derived
	PUC50 Float `csv:"puc_50" title:"PUC α=0.5" better:"up" digits:"2" of:"model" derived:"yes"`
	// derived
	PUC25 Float `csv:"puc_25" title:"PUC α=0.25" better:"up" digits:"2" of:"model" derived:"yes"`
	// 0/1 loss, uniform prior, share 0–1
	EMPosterior          Float `csv:"e_m_posterior" title:"E_M posterior" better:"up" digits:"3" gate:"0.03" table:"adversary"`
	EMPosteriorEuclidean Float `csv:"e_m_posterior_euclidean" title:"E_M posterior, Euclidean" better:"up" digits:"3" table:"adversary"`
	EMMap                Float `csv:"e_m_map" title:"E_M MAP" better:"up" digits:"3" gate:"0.03" table:"adversary"`
	EMMapEuclidean       Float `csv:"e_m_map_euclidean" title:"E_M MAP, Euclidean" better:"up" digits:"3" table:"adversary"`
	// lower bound in expectation; e_m_map when exact
	EMMapLower   Float `csv:"e_m_map_lower" title:"E_M MAP, lower bound" better:"up" digits:"3" table:"adversary"`
	EMStdError   Float `csv:"e_m_std_error"`  // of e_m_map, 0 when exact
	EMCandidates int   `csv:"e_m_candidates"` // words the adversary chooses among
	EMRuns       int   `csv:"e_m_runs"`       // per candidate, 0 when exact
	// E_M MAP against an attacker for whom every word of the vocabulary is a
	// candidate, with a uniform prior or with the frequency of each word in the
	// data set as prior (corpus). Measured once per mechanism and ε, in the
	// first repetition.
	EMFullUniform     Float `csv:"e_m_full_uniform" title:"E_M full vocabulary" better:"up" digits:"3" gate:"0.03" table:"adversary"`
	EMFullUniformLow  Float `csv:"e_m_full_uniform_low"` // 95% interval; the value itself when exact
	EMFullUniformHigh Float `csv:"e_m_full_uniform_high"`
	EMFullCorpus      Float `csv:"e_m_full_corpus" title:"E_M full vocabulary, corpus prior" better:"up" digits:"3" gate:"0.03" table:"adversary"`
	EMFullCorpusLow   Float `csv:"e_m_full_corpus_low"`
	EMFullCorpusHigh  Float `csv:"e_m_full_corpus_high"`
	// draws per word used to learn, and as many to measure; 0 when exact
	EMFullRuns int   `csv:"e_m_full_runs"`
	LM         Float `csv:"l_m" title:"L_M" better:"down" digits:"3" gate:"0.03" table:"adversary"`
	MIAAUC     Float `csv:"mia_auc" title:"MIA AUC" better:"down" digits:"3" table:"adversary" gate:"0.05" of:"model"`

	// What only paper studies measure, as quantities.
	Loss              Float `csv:"loss" title:"utility loss" better:"down" digits:"3" gate:"0.05"`
	Distance          Float `csv:"distance" title:"distance to neighbour k" digits:"3" gate:"0.05"`
	DistanceError     Float `csv:"distance_error" title:"distance error" better:"down" digits:"3" gate:"0.05"`
	InnerProductError Float `csv:"inner_product_error" title:"inner product error" better:"down" digits:"3" gate:"0.05"`

	// Timing: differs between runs.
	PrivatizeSeconds Float `csv:"privatize_seconds" timing:"yes"`
	TrainSeconds     Float `csv:"train_seconds" timing:"yes"`
	MeasureSeconds   Float `csv:"measure_seconds" timing:"yes"` // all metrics except CS
	CSSeconds        Float `csv:"cs_seconds" timing:"yes"`      // 0 where the text was compared for an earlier model
	TotalSeconds     Float `csv:"total_seconds" timing:"yes"`
	// repetitions privatised by one call, which share privatize_seconds; 0: not
	// recorded
	PrivatizeTexts int    `csv:"privatize_texts" timing:"yes"`
	WordsPerSecond Float  `csv:"words_per_second" timing:"yes"`
	PeakMemoryMiB  Float  `csv:"peak_memory_mib" timing:"yes"`
	Version        string `csv:"version" timing:"yes"` // of mldp
	Machine        string `csv:"machine" timing:"yes"` // os/arch/simd path
	Command        string `csv:"command" timing:"yes"` // runs this cell alone again, without the data folder
}

// Promised returns the record with the guarantee of a mechanism.
func (r Record) Promised(g mechanisms.Guarantee) Record {
	r.GuaranteeMetric, r.GuaranteeReason = g.Metric, g.Reason
	if g.Holds() {
		r.GuaranteeEpsilon, r.GuaranteeDelta, r.GuaranteeScope = Float(g.Epsilon), Float(g.Delta), g.Scope
		if g.EuclideanEpsilon > 0 {
			r.GuaranteeEuclidean = Float(g.EuclideanEpsilon)
		}
	}
	return r
}

// FirstDifference returns the first column in which two records of one cell
// differ, except for timing and derived columns; "" if they are the same.
func FirstDifference(a, b Record) string {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range va.NumField() {
		tag := va.Type().Field(i).Tag
		column := tag.Get("csv")
		if tag.Get("timing") != "" || tag.Get("derived") != "" || column == "rows" || column == "-" {
			continue
		}
		x, y := va.Field(i).Interface(), vb.Field(i).Interface()
		if f, ok := x.(Float); ok && !f.Known() && !y.(Float).Known() {
			continue
		}
		if x != y {
			return column
		}
	}
	return ""
}
