// Package results keeps what was measured: the record schema, statistics on
// records, comparison with published tables, the regression gate, tables.
//
// It believes that a number without its spread, its settings and its promise
// is not a result. Raw counts are kept beside every metric, so that a metric
// can be recomputed without another run.
package results

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// SchemaVersion is bumped whenever a column changes its meaning or name; see
// migrations for what older files lack.
const SchemaVersion = 4

// Float is a number that may be missing (NaN): an empty cell in CSV.
type Float float64

// Missing is the value of a metric that was not measured.
var Missing = Float(math.NaN())

// Known says whether the number was measured.
func (f Float) Known() bool { return !math.IsNaN(float64(f)) }

// MarshalCSV writes the shortest form that reads back exactly.
func (f Float) MarshalCSV() (string, error) {
	if !f.Known() {
		return "", nil
	}
	return strconv.FormatFloat(float64(f), 'g', -1, 64), nil
}

// UnmarshalCSV reads what MarshalCSV wrote.
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
// paper study, measured once. Percentages are 0–100. Columns
// in group Timing differ between runs of one cell; all others are reproduced
// exactly by the same study seed.
type Record struct {
	Schema int    `csv:"schema"`
	Study  string `csv:"study"`
	Key    string `csv:"key"`   // names the cell; see experiments
	Index  int    `csv:"index"` // position in the grid

	// The place of a row that carries one quantity, as a paper study's do: a
	// picture of the paper, a curve in it, a place on its x axis. All of it is
	// empty in a row of a grid, which carries its quantities in their columns.
	Panel    string `csv:"panel"`
	Series   string `csv:"series"`
	XName    string `csv:"x_name"` // epsilon, beta, k…
	X        Float  `csv:"x"`
	Quantity string `csv:"quantity"` // name of a column; "" in a row of a grid
	Value    Float  `csv:"value"`
	Note     string `csv:"note"`

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
	GuaranteeReason    string `csv:"guarantee_reason"`

	// Status is "ok", or "undefined" with Reason when the mechanism does not
	// exist at these settings (proved Gumbel at small ε): such a cell is done.
	Status string `csv:"status"`
	Reason string `csv:"reason"`

	// Utility.
	Accuracy           Float `csv:"accuracy"`
	TestCorrect        int   `csv:"test_correct"`
	TestTotal          int   `csv:"test_total"`
	ValidationAccuracy Float `csv:"validation_accuracy"`
	AUC                Float `csv:"auc"` // two classes only
	Epochs             int   `csv:"epochs"`
	BaselineAccuracy   Float `csv:"baseline_accuracy"` // mean over the baseline's repetitions; derived

	// Plausible deniability, study estimator (W words × R runs).
	Nw               Float  `csv:"n_w"`
	Sw               Float  `csv:"s_w"`
	NwUnchanged      int    `csv:"n_w_unchanged"`     // runs that returned the word, of all words
	NwRuns           int    `csv:"n_w_runs"`          // W × R
	SwDistinct       int    `csv:"s_w_distinct"`      // distinct outputs, summed over words
	SwWords          int    `csv:"s_w_words"`         // W
	NwExact          Float  `csv:"n_w_exact"`         // mean over the same words, closed form
	SwExact          Float  `csv:"s_w_exact"`         // expected distinct outputs in R runs, mean over the same words, closed form
	SwSupport        Float  `csv:"s_w_support"`       // smallest set of outputs of mass 0.95, mean over the same words, closed form
	NwWorst          Float  `csv:"n_w_worst"`         // largest over words
	SwWorst          Float  `csv:"s_w_worst"`         // smallest over words
	DeniabilityWords string `csv:"deniability_words"` // word:unchanged:distinct, space-separated

	// Text.
	PP            Float  `csv:"pp"`
	TokensChanged int    `csv:"tokens_changed"`
	TokensTotal   int    `csv:"tokens_total"`
	TokensUnknown int    `csv:"tokens_unknown"` // outside the vocabulary before privatising
	CS            Float  `csv:"cs"`
	CSLow         Float  `csv:"cs_low"` // 95% interval over documents
	CSHigh        Float  `csv:"cs_high"`
	CSStdDev      Float  `csv:"cs_std_dev"` // over documents
	CSDocuments   int    `csv:"cs_documents"`
	CSEncoder     string `csv:"cs_encoder"`
	Low           Float  `csv:"low"`
	LowPresent    int    `csv:"low_present"`
	LowTotal      int    `csv:"low_total"`
	English       Float  `csv:"english"`
	EnglishFound  int    `csv:"english_found"`
	EnglishTokens int    `csv:"english_tokens"` // tokens after privatising

	// Composite and adversary.
	PUC75                Float `csv:"puc_75"`        // derived
	PUC50                Float `csv:"puc_50"`        // derived
	PUC25                Float `csv:"puc_25"`        // derived
	EMPosterior          Float `csv:"e_m_posterior"` // 0/1 loss, uniform prior, share 0–1
	EMPosteriorEuclidean Float `csv:"e_m_posterior_euclidean"`
	EMMap                Float `csv:"e_m_map"`
	EMMapEuclidean       Float `csv:"e_m_map_euclidean"`
	EMMapLower           Float `csv:"e_m_map_lower"`  // lower bound in expectation; e_m_map when exact
	EMStdError           Float `csv:"e_m_std_error"`  // of e_m_map, 0 when exact
	EMCandidates         int   `csv:"e_m_candidates"` // words the adversary chooses among
	EMRuns               int   `csv:"e_m_runs"`       // per candidate, 0 when exact
	LM                   Float `csv:"l_m"`
	MIAAUC               Float `csv:"mia_auc"`

	// Timing: differs between runs.
	PrivatizeSeconds Float  `csv:"privatize_seconds"`
	TrainSeconds     Float  `csv:"train_seconds"`
	MeasureSeconds   Float  `csv:"measure_seconds"` // all metrics but CS
	CSSeconds        Float  `csv:"cs_seconds"`      // 0 where the text was compared for an earlier model
	TotalSeconds     Float  `csv:"total_seconds"`
	WordsPerSecond   Float  `csv:"words_per_second"`
	PeakMemoryMiB    Float  `csv:"peak_memory_mib"`
	Version          string `csv:"version"` // of mldp
	Machine          string `csv:"machine"` // os/arch/simd path
	Command          string `csv:"command"` // runs this cell alone again, data folder aside
}

// DerivedColumns depend on which other records are in the file.
var DerivedColumns = []string{"baseline_accuracy", "puc_75", "puc_50", "puc_25"}

// TimingColumns are the columns that two runs of one cell may differ in:
// timing, and what says where the record came from.
var TimingColumns = []string{
	"privatize_seconds", "train_seconds", "measure_seconds", "cs_seconds", "total_seconds",
	"words_per_second", "peak_memory_mib", "version", "machine", "command",
}

// FirstDifference names the first column in which two records of one cell differ,
// columns of timing and derived ones aside; "" if they are the same.
func FirstDifference(a, b Record) string {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range va.NumField() {
		column := va.Type().Field(i).Tag.Get("csv")
		if slices.Contains(TimingColumns, column) || slices.Contains(DerivedColumns, column) {
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
