package results

import (
	"errors"
	"io"
	"io/fs"

	"github.com/gocarina/gocsv"

	"mldpbench/internal/atomicfile"
)

// AuditRow is one audited instance, a row of audit.csv.
type AuditRow struct {
	Mechanism  string   `csv:"mechanism"`
	Variant    string   `csv:"variant"`
	Parameters string   `csv:"parameters"`
	Epsilon    Optional `csv:"epsilon"`     // claimed; for a variant without a claim, the ε it was run with
	Promises   bool     `csv:"promises"`    // false: the variant guarantees nothing
	Lower      Optional `csv:"lower_bound"` // on the true ε in the metric of the claim, may be +Inf; NaN: not audited
	Violated   bool     `csv:"violated"`    // the audit refuted the claim at its stated confidence
	Exact      bool     `csv:"exact"`       // the bound is exact over the pairs tried, not statistical
	// Detects is the least factor by which the claim could be wrong, on all words,
	// that this audit would have found, DetectsOne on one word in a hundred;
	// missing where none would have been found or nothing is known.
	Detects    Optional `csv:"detects"`
	DetectsOne Optional `csv:"detects_one_in_hundred"`
	// What the verdict was reached on.
	EmbeddingFingerprint string `csv:"embedding_fingerprint"`
	Version              string `csv:"version"` // of mldp
	Seed                 uint64 `csv:"seed"`
}

// WriteAudit writes rows as CSV.
func WriteAudit(path string, rows []AuditRow) error {
	return atomicfile.Write(path, 0o644, func(w io.Writer) error {
		return gocsv.Marshal(rows, w)
	})
}

// ReadAudit reads rows written by WriteAudit; a missing file has no rows.
func ReadAudit(path string) ([]AuditRow, error) {
	rows, err := ReadRows[AuditRow](path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return rows, err
}

// Instance returns the instance that was audited.
func (a AuditRow) Instance() Place {
	return Place{
		Mechanism:  a.Mechanism,
		Variant:    a.Variant,
		Parameters: a.Parameters,
	}
}
