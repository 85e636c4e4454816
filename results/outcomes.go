package results

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"strings"

	"github.com/gocarina/gocsv"

	"mldpbench/internal/atomicfile"
)

// Outcomes are one bit a test document, in the order of the data set: 1 where
// it was classified right. It is text (base64 of the bits, the first document
// in the lowest bit of the first byte), so that records stay comparable; ""
// means not recorded. Two records with the same dataset_fingerprint have the
// same documents in the same order, whatever their setting.
type Outcomes string

// NewOutcomes packs the outcomes of the test documents.
func NewOutcomes(correct []bool) Outcomes {
	packed := make([]byte, (len(correct)+7)/8)
	for i, yes := range correct {
		if yes {
			packed[i/8] |= 1 << (i % 8)
		}
	}
	return Outcomes(base64.RawStdEncoding.EncodeToString(packed))
}

// unpack returns the bits of a record; bits that contradict its counts are an
// error.
func (o Outcomes) unpack(correct, total int) ([]byte, error) {
	packed, err := base64.RawStdEncoding.DecodeString(string(o))
	if err != nil {
		return nil, fmt.Errorf("correct: %w", err)
	}
	n := 0
	for _, b := range packed {
		n += bits.OnesCount8(b)
	}
	if len(packed) != (total+7)/8 || n != correct {
		return nil, fmt.Errorf("correct: %d bits in %d bytes, the columns say %d of %d", n, len(packed), correct, total)
	}
	return packed, nil
}

// Disagree counts the test documents that are right in one record and wrong in
// the other; ok is false where the records have different documents or no
// outcomes.
func Disagree(a, b Record) (onlyA, onlyB int, ok bool) {
	if a.Correct == "" || b.Correct == "" || a.TestTotal != b.TestTotal ||
		a.Dataset != b.Dataset || a.DatasetFingerprint != b.DatasetFingerprint || a.DatasetFingerprint == "" {
		return 0, 0, false
	}
	x, errX := a.Correct.unpack(a.TestCorrect, a.TestTotal)
	y, errY := b.Correct.unpack(b.TestCorrect, b.TestTotal)
	if errX != nil || errY != nil {
		return 0, 0, false
	}
	for i := range x {
		onlyA += bits.OnesCount8(x[i] &^ y[i])
		onlyB += bits.OnesCount8(y[i] &^ x[i])
	}
	return onlyA, onlyB, true
}

// outcomesFile returns the path of the outcomes for a file of records.
func outcomesFile(path string) string { return strings.TrimSuffix(path, ".csv") + ".documents.csv" }

type outcomesRow struct {
	Key        string   `csv:"key"`
	Repetition int      `csv:"repetition"`
	Correct    Outcomes `csv:"correct"`
}

// writeOutcomes writes no file, and removes an older one, where nothing is
// recorded.
func writeOutcomes(path string, records []Record) error {
	var rows []outcomesRow
	for _, r := range records {
		if r.Correct != "" {
			rows = append(rows, outcomesRow{r.Key, r.Repetition, r.Correct})
		}
	}
	if len(rows) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return atomicfile.Write(path, 0o644, func(w io.Writer) error { return gocsv.Marshal(rows, w) })
}

// readOutcomes fills in the outcomes of the file, if there is one. A row that
// contradicts its record is from another run and is left out.
func readOutcomes(path string, records []Record) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var rows []outcomesRow
	if err := gocsv.UnmarshalFile(f, &rows); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	type id struct {
		key        string
		repetition int
	}
	found := map[id]Outcomes{}
	for _, row := range rows {
		found[id{row.Key, row.Repetition}] = row.Correct
	}
	for i := range records {
		r := &records[i]
		o := found[id{r.Key, r.Repetition}]
		if _, err := o.unpack(r.TestCorrect, r.TestTotal); o != "" && err == nil {
			r.Correct = o
		}
	}
	return nil
}
