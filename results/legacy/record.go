// Package legacy reads records of schema 4 and converts them to rows: once, for
// the references of this repository.
package legacy

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"mldpbench/results"
)

// Record is one row: one cell and repetition, or one quantity of a unit of a
// paper study, measured once. Percentages are 0–100.
type Record struct {
	Schema int    `csv:"schema"`
	Study  string `csv:"study"`
	Key    string `csv:"key"`   // identifies the cell; see experiments
	Index  int    `csv:"index"` // position in the grid
	Rows   int    `csv:"rows"`  // of the file; Encode counts them to detect a truncated file

	// Position of a row with one quantity, as in paper studies: a figure of the
	// paper, a curve in it, a position on its x axis. All are empty in a row of
	// a grid, which has its quantities in their columns.
	Panel    string        `csv:"panel"`
	Series   string        `csv:"series"`
	XName    string        `csv:"x_name"` // epsilon, beta, k…
	X        results.Float `csv:"x"`
	Quantity string        `csv:"quantity"` // name of a column; "" in a row of a grid
	Value    results.Float `csv:"value"`
	// Context of the value, where known: its 95% interval, the value reached
	// without any information (floor), the value reached without privatising
	// (ceiling), and the number of trials that it is a mean over.
	ValueLow  results.Float `csv:"value_low"`
	ValueHigh results.Float `csv:"value_high"`
	Chance    results.Float `csv:"chance"`
	Ceiling   results.Float `csv:"ceiling"`
	Trials    int           `csv:"trials"`
	Note      string        `csv:"note"`

	// What was run.
	Dataset              string        `csv:"dataset"`
	Generated            bool          `csv:"generated"`
	DatasetFingerprint   string        `csv:"dataset_fingerprint"`
	Embedding            string        `csv:"embedding"`
	Dimension            int           `csv:"dimension"`
	EmbeddingFingerprint string        `csv:"embedding_fingerprint"`
	Vocabulary           int           `csv:"vocabulary"` // words of the space after restriction to the data set
	Mechanism            string        `csv:"mechanism"`  // "none" for the baseline
	Variant              string        `csv:"variant"`
	Parameters           string        `csv:"parameters"` // mechanisms.Parameters.String
	Epsilon              results.Float `csv:"epsilon"`    // missing for the baseline
	Policy               string        `csv:"policy"`     // unknown words
	Model                string        `csv:"model"`
	ModelParameters      string        `csv:"model_parameters"`
	Setting              string        `csv:"setting"` // "local", "train-only", "test-only"
	Repetition           int           `csv:"repetition"`
	Seed                 uint64        `csv:"seed"` // study seed

	// What was promised.
	GuaranteeMetric    string        `csv:"guarantee_metric"` // "" means none
	GuaranteeEpsilon   results.Float `csv:"guarantee_epsilon"`
	GuaranteeDelta     results.Float `csv:"guarantee_delta"`
	GuaranteeEuclidean results.Float `csv:"guarantee_euclidean_epsilon"`
	GuaranteeScope     string        `csv:"guarantee_scope"` // the words between which it holds, as "only …"; "" means all
	GuaranteeReason    string        `csv:"guarantee_reason"`
	Unrepeatable       bool          `csv:"unrepeatable"` // from outside, and the same seed gives a different text each time

	// Status is "ok", or "undefined" with Reason when the mechanism does not
	// exist at these settings (proved Gumbel at small ε): such a cell is done.
	Status string `csv:"status"`
	Reason string `csv:"reason"`

	// Utility.
	Accuracy    results.Float `csv:"accuracy"`
	TestCorrect int           `csv:"test_correct"`
	TestTotal   int           `csv:"test_total"`
	// Correct holds for each test document whether it was classified correctly;
	// it is in a separate file next to the records.
	Correct            results.Outcomes `csv:"-" json:"correct,omitempty"`
	ValidationAccuracy results.Float    `csv:"validation_accuracy"`
	// two classes only
	AUC              results.Float `csv:"auc"`
	Epochs           int           `csv:"epochs"`
	BaselineAccuracy results.Float `csv:"baseline_accuracy"` // mean over the baseline's repetitions; derived

	// Plausible deniability, study estimator (W words × R runs).
	Nw results.Float `csv:"n_w"`
	Sw results.Float `csv:"s_w"`
	// runs that returned the word, of all words
	NwUnchanged int `csv:"n_w_unchanged"`
	// W × R
	NwRuns int `csv:"n_w_runs"`
	// distinct outputs, summed over words
	SwDistinct int `csv:"s_w_distinct"`
	// W
	SwWords int `csv:"s_w_words"`
	// mean over the same words, closed form
	NwExact results.Float `csv:"n_w_exact"`
	// expected distinct outputs in R runs, mean over the same words, closed form
	SwExact results.Float `csv:"s_w_exact"`
	// smallest set of outputs of mass 0.95, mean over the same words, closed form
	SwSupport results.Float `csv:"s_w_support"`
	// largest over words
	NwWorst results.Float `csv:"n_w_worst"`
	// smallest over words
	SwWorst          results.Float `csv:"s_w_worst"`
	DeniabilityWords string        `csv:"deniability_words"` // word:unchanged:distinct, space-separated

	// Text.
	PP            results.Float `csv:"pp"`
	TokensChanged int           `csv:"tokens_changed"`
	TokensTotal   int           `csv:"tokens_total"`
	TokensUnknown int           `csv:"tokens_unknown"` // outside the vocabulary before privatising
	CS            results.Float `csv:"cs"`
	CSLow         results.Float `csv:"cs_low"` // 95% interval over documents
	CSHigh        results.Float `csv:"cs_high"`
	CSStdDev      results.Float `csv:"cs_std_dev"` // over documents
	CSDocuments   int           `csv:"cs_documents"`
	CSEncoder     string        `csv:"cs_encoder"`
	Low           results.Float `csv:"low"`
	LowPresent    int           `csv:"low_present"`
	LowTotal      int           `csv:"low_total"`
	// LOW as the published tables seem to define it: an overlap of two lists.
	LowOverlap       results.Float `csv:"low_overlap"`
	LowOverlapShared int           `csv:"low_overlap_shared"` // words in both lists
	LowOverlapTotal  int           `csv:"low_overlap_total"`  // words of the original's list
	English          results.Float `csv:"english"`
	EnglishFound     int           `csv:"english_found"`
	EnglishTokens    int           `csv:"english_tokens"` // tokens after privatising
	// The list as printed: tokens are looked up with its capitals.
	EnglishAsPrinted      results.Float `csv:"english_as_printed"`
	EnglishAsPrintedFound int           `csv:"english_as_printed_found"`

	// Composite and adversary.
	// derived
	PUC75 results.Float `csv:"puc_75"`
	// derived
	PUC50 results.Float `csv:"puc_50"`
	// derived
	PUC25 results.Float `csv:"puc_25"`
	// 0/1 loss, uniform prior, share 0–1
	EMPosterior          results.Float `csv:"e_m_posterior"`
	EMPosteriorEuclidean results.Float `csv:"e_m_posterior_euclidean"`
	EMMap                results.Float `csv:"e_m_map"`
	EMMapEuclidean       results.Float `csv:"e_m_map_euclidean"`
	// lower bound in expectation; e_m_map when exact
	EMMapLower   results.Float `csv:"e_m_map_lower"`
	EMStdError   results.Float `csv:"e_m_std_error"`  // of e_m_map, 0 when exact
	EMCandidates int           `csv:"e_m_candidates"` // words the adversary chooses among
	EMRuns       int           `csv:"e_m_runs"`       // per candidate, 0 when exact
	// E_M MAP against an attacker for whom every word of the vocabulary is a
	// candidate, with a uniform prior or with the frequency of each word in the
	// data set as prior (corpus). Measured once per mechanism and ε, in the
	// first repetition.
	EMFullUniform     results.Float `csv:"e_m_full_uniform"`
	EMFullUniformLow  results.Float `csv:"e_m_full_uniform_low"` // 95% interval; the value itself when exact
	EMFullUniformHigh results.Float `csv:"e_m_full_uniform_high"`
	EMFullCorpus      results.Float `csv:"e_m_full_corpus"`
	EMFullCorpusLow   results.Float `csv:"e_m_full_corpus_low"`
	EMFullCorpusHigh  results.Float `csv:"e_m_full_corpus_high"`
	// draws per word used to learn, and as many to measure; 0 when exact
	EMFullRuns int           `csv:"e_m_full_runs"`
	LM         results.Float `csv:"l_m"`
	MIAAUC     results.Float `csv:"mia_auc"`

	// What only paper studies measure, as quantities.
	Loss              results.Float `csv:"loss"`
	Distance          results.Float `csv:"distance"`
	DistanceError     results.Float `csv:"distance_error"`
	InnerProductError results.Float `csv:"inner_product_error"`

	// Timing: differs between runs.
	PrivatizeSeconds results.Float `csv:"privatize_seconds"`
	TrainSeconds     results.Float `csv:"train_seconds"`
	MeasureSeconds   results.Float `csv:"measure_seconds"` // all metrics except CS
	CSSeconds        results.Float `csv:"cs_seconds"`      // 0 where the text was compared for an earlier model
	TotalSeconds     results.Float `csv:"total_seconds"`
	// repetitions privatised by one call, which share privatize_seconds; 0: not
	// recorded
	PrivatizeTexts int           `csv:"privatize_texts"`
	WordsPerSecond results.Float `csv:"words_per_second"`
	PeakMemoryMiB  results.Float `csv:"peak_memory_mib"`
	Version        string        `csv:"version"` // of mldp
	Machine        string        `csv:"machine"` // os/arch/simd path
	Command        string        `csv:"command"` // runs this cell alone again, without the data folder
}

// NewRecord returns a record in which every number that can be missing is.
func NewRecord() Record {
	r := Record{Schema: 4}
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Type() == reflect.TypeFor[results.Float]() {
			f.Set(reflect.ValueOf(results.Missing))
		}
	}
	return r
}

// Read loads a file of schema 4 with its outcomes of documents.
func Read(path string) ([]Record, error) {
	var records []Record
	if err := table(path, &records); err != nil {
		return nil, err
	}
	blank := reflect.ValueOf(NewRecord())
	header, err := headerOf(path)
	if err != nil {
		return nil, err
	}
	for i := range records {
		v := reflect.ValueOf(&records[i]).Elem()
		for j := range v.NumField() {
			f := v.Type().Field(j)
			if f.Type == reflect.TypeFor[results.Float]() && !header[f.Tag.Get("csv")] {
				v.Field(j).Set(blank.Field(j))
			}
		}
		if records[i].Schema != 4 {
			return nil, fmt.Errorf("%s: schema = %d: must be 4", path, records[i].Schema)
		}
	}
	var outcomes []struct {
		Key        string           `csv:"key"`
		Repetition int              `csv:"repetition"`
		Correct    results.Outcomes `csv:"correct"`
	}
	beside := strings.TrimSuffix(path, ".csv") + ".documents.csv"
	if _, err := os.Stat(beside); err != nil {
		return records, nil
	}
	if err := table(beside, &outcomes); err != nil {
		return nil, err
	}
	for _, o := range outcomes {
		for i := range records {
			if r := &records[i]; r.Key == o.Key && r.Repetition == o.Repetition {
				r.Correct = o.Correct
			}
		}
	}
	return records, nil
}

func open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return f, err
	}
	return gzip.NewReader(f)
}

func table(path string, rows any) error {
	f, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := results.ReadCSV(path, f)
	if err != nil {
		return err
	}
	return t.Unmarshal(rows)
}

func headerOf(path string) (map[string]bool, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := results.ReadCSV(path, f)
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for _, c := range t.Header {
		has[c] = true
	}
	return has, nil
}
