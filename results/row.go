// Package results stores what was measured. A row is one quantity of one
// release, measured once; package tables, compare, published, plots and report
// read rows through one prepared view.
//
// A number without its spread, its settings and its guarantee is not a result.
// Raw counts are stored with every number, so that it can be computed again
// without another run. A value that was not measured is missing, never 0, and
// rows of different data are never averaged: see Prepare.
package results

import (
	"fmt"

	"mldpbench/mechanisms"
	"mldpbench/results/quantity"
)

// SchemaVersion is increased whenever a column changes its meaning or name.
const SchemaVersion = 5

// StatusOK and StatusUndefined are the values of Row.Status. Undefined is a
// result: the mechanism does not exist at these settings, for the Reason given.
const (
	StatusOK        = "ok"
	StatusUndefined = "undefined"
)

// BaselineMechanism is the mechanism of rows without privatisation.
const BaselineMechanism = "none"

// Row is one quantity of one release, measured once.
type Row struct {
	Schema int    `csv:"schema" json:"-"`
	Rows   int    `csv:"rows" json:"-"` // of the file, which shows a file that was cut short
	Study  string `csv:"study" json:"-"`
	Index  int    `csv:"index" json:"-"` // position of the unit in the plan
	Key    string `csv:"key"`            // of the unit: a hash of all that the row depends on
	Task   string `csv:"task" json:"-"`  // its name, version, size and content: "sst2@1/lite:3fa2…"; "" outside a task

	Place
	Promise

	// Status is StatusOK, or StatusUndefined with a Reason.
	Status string `csv:"status"`
	Reason string `csv:"reason" json:",omitempty"`

	Measurement string `csv:"measurement"` // its name and version: accuracy@1
	Quantity    string `csv:"quantity"`    // name of a quantity.Quantity
	FormerName  string `csv:"-" json:"-"`  // of the quantity in the file that it was read from; "" for the same
	Measured

	// Fingerprints beside those of data and vectors, 12 digits each: of the program or the
	// text that is the mechanism, and of programs, models and lists as "name:digits; …".
	// Files of earlier versions lack them.
	Program   string `csv:"program" json:"-"`
	Resources string `csv:"resources" json:"-"`

	// Origin: differs between two runs of one unit.
	Seconds Optional `csv:"seconds"` // of the unit, in its first row
	Version string   `csv:"version"` // of mldp
	Machine string   `csv:"machine"` // os/arch/cores
}

// Place is what was run: all that tells two releases, or two measurements of
// one release, apart. What a measurement does not depend on is empty in its
// rows: N_w has no model and no setting.
type Place struct {
	Dataset              string `csv:"dataset" json:",omitempty"`
	Generated            bool   `csv:"generated" json:",omitempty"`
	DatasetFingerprint   string `csv:"dataset_fingerprint" json:",omitempty"`
	TrainItems           int    `csv:"train_items" json:",omitempty"` // documents, validation included
	TestItems            int    `csv:"test_items" json:",omitempty"`
	Cleaning             string `csv:"cleaning" json:",omitempty"`
	Embedding            string `csv:"embedding" json:",omitempty"`
	Dimension            int    `csv:"dimension" json:",omitempty"`
	EmbeddingFingerprint string `csv:"embedding_fingerprint" json:",omitempty"`
	// words of the space after restriction to the data set
	Vocabulary int    `csv:"vocabulary" json:",omitempty"`
	Mechanism  string `csv:"mechanism" json:",omitempty"`
	Variant    string `csv:"variant" json:",omitempty"`
	Label      string `csv:"label" json:",omitempty"` // the study's name for it, if it has one
	// mechanisms.Parameters.String, and what else tells entries apart
	Parameters string   `csv:"parameters" json:",omitempty"`
	Epsilon    Optional `csv:"epsilon"`                  // missing where nothing is privatised or ε has no effect
	Policy     string   `csv:"policy" json:",omitempty"` // of unknown words
	// "local", "train-only", "test-only": which splits are private
	Setting         string `csv:"setting" json:",omitempty"`
	Model           string `csv:"model" json:",omitempty"`
	ModelParameters string `csv:"model_parameters" json:",omitempty"`
	Repetition      int    `csv:"repetition" json:",omitempty"`
	Seed            uint64 `csv:"seed" json:",omitempty"` // of the study
}

// IsBaseline reports whether nothing was privatised.
func (p Place) IsBaseline() bool { return p.Mechanism == BaselineMechanism }

// Promise is what the mechanism guarantees; the zero value is that of text which nobody
// privatised, or of which nothing is known.
type Promise struct {
	GuaranteeMetric    string   `csv:"guarantee_metric" json:",omitempty"` // "" means none
	GuaranteeEpsilon   Optional `csv:"guarantee_epsilon"`
	GuaranteeDelta     Optional `csv:"guarantee_delta"`
	GuaranteeEuclidean Optional `csv:"guarantee_euclidean_epsilon"`
	// the words between which it holds, as "only …"; "" means all
	GuaranteeScope  string `csv:"guarantee_scope" json:",omitempty"`
	GuaranteeReason string `csv:"guarantee_reason" json:",omitempty"`
	// from outside: the same seed gives a different text each time
	Unrepeatable bool `csv:"unrepeatable" json:",omitempty"`
}

// PromiseOf is the guarantee of a mechanism.
func PromiseOf(g mechanisms.Guarantee) Promise {
	p := Promise{GuaranteeReason: g.Reason, GuaranteeMetric: g.Metric}
	if g.Holds() {
		p.GuaranteeEpsilon = Float(g.Epsilon)
		p.GuaranteeDelta = Float(g.Delta)
		p.GuaranteeScope = g.Scope
		if g.EuclideanEpsilon > 0 {
			p.GuaranteeEuclidean = Float(g.EuclideanEpsilon)
		}
	}
	return p
}

// Measured is a number with what it rests on.
type Measured struct {
	Value Optional `csv:"value"`
	// Its 95% interval over the items tested; Low = High = Value where it is exact.
	Low  Optional `csv:"low"`
	High Optional `csv:"high"`
	// The value reached without any information, and without privatising.
	Floor   Optional `csv:"floor"`
	Ceiling Optional `csv:"ceiling"`
	// The counts that it is a share or mean of; Whole is also the number of
	// trials or items of other numbers. 0 of 0 means none.
	Part  int `csv:"part" json:",omitempty"`
	Whole int `csv:"whole" json:",omitempty"`
	// Detail is raw material in the notation of the quantity, such as
	// "word:unchanged:distinct …" of N_w, or the name of the encoder of CS.
	Detail string `csv:"detail" json:",omitempty"`
	Note   string `csv:"note" json:",omitempty"`
	// Inherited is of a value that was measured in another cell; see quantity.Quantity.Once.
	Inherited bool `csv:"-" json:"-"`
	// Items holds for each test item whether it was right.
	Items Outcomes `csv:"correct" json:",omitempty"`
}

// Number is a value without interval or counts.
func Number(v float64) Measured {
	return Measured{Value: Float(v)}
}

// Share is 100·part/whole in %, missing for a whole of 0.
func Share(part, whole int) Measured {
	m := Measured{Part: part, Whole: whole}
	if whole > 0 {
		m.Value = Float(100 * float64(part) / float64(whole))
	}
	return m
}

// Within returns the number with its interval.
func (m Measured) Within(low, high float64) Measured {
	m.Low = Float(low)
	m.High = Float(high)
	return m
}

// How says how a value was found, "" where that is the same everywhere.
func (m Measured) How(q quantity.Quantity) string {
	switch {
	case q.Exact == "":
		return ""
	case m.Whole == 0:
		return q.Exact
	case m.Note != "":
		return "an attacker who " + m.Note
	}
	return fmt.Sprintf("an attacker that learned from %d draws of each word, measured on as many", m.Whole)
}

// NewRow returns a row of this schema without a number.
func NewRow() Row {
	return Row{Schema: SchemaVersion, Status: StatusOK}
}

// Of returns the row with a quantity.
func (r Row) Of(quantity string, m Measured) Row {
	r.Quantity = quantity
	r.Measured = m
	return r
}
