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

	"mldpbench/internal/atomicfile"
	"mldpbench/internal/list"
)

// Outcomes are one bit a test item, in the order of the data set: 1 where it
// was right. It is text (base64 of the bits, the first item in the lowest bit of
// the first byte), so that rows stay comparable; "" means not recorded. Two rows
// with the same dataset_fingerprint have the same items in the same order,
// whatever their setting.
type Outcomes string

// NewOutcomes packs the outcomes of test items.
func NewOutcomes(right []bool) Outcomes {
	packed := make([]byte, (len(right)+7)/8)
	for i, yes := range right {
		if yes {
			packed[i/8] |= 1 << (i % 8)
		}
	}
	return Outcomes(base64.RawStdEncoding.EncodeToString(packed))
}

// unpack returns the bits; bits that contradict the counts are an error.
func (o Outcomes) unpack(part, whole int) ([]byte, error) {
	packed, err := base64.RawStdEncoding.DecodeString(string(o))
	if err != nil {
		return nil, fmt.Errorf("correct: %w", err)
	}
	n := list.Sum(packed, bits.OnesCount8)
	if len(packed) != (whole+7)/8 || n != part {
		return nil, fmt.Errorf("correct: %d bits in %d bytes, the row says %d of %d", n, len(packed), part, whole)
	}
	return packed, nil
}

// Right returns the outcome of each test item of a number, nil where they are
// not recorded or contradict its counts.
func (m Measured) Right() []bool {
	packed, err := m.Items.unpack(m.Part, m.Whole)
	if m.Items == "" || err != nil {
		return nil
	}
	right := make([]bool, m.Whole)
	for i := range right {
		right[i] = packed[i/8]>>(i%8)&1 == 1
	}
	return right
}

// outcomesFile returns the path of the outcomes for a file of rows.
func outcomesFile(path string) string {
	path, zipped := strings.CutSuffix(path, ".gz")
	path = strings.TrimSuffix(path, ".csv") + ".documents.csv"
	if zipped {
		path += ".gz"
	}
	return path
}

type outcomesRow struct {
	Key        string   `csv:"key"`
	Repetition int      `csv:"repetition"`
	Quantity   string   `csv:"quantity"`
	Model      string   `csv:"model"`
	Correct    Outcomes `csv:"correct"`
}

func (r Row) outcomes() outcomesRow {
	return outcomesRow{r.Key, r.Repetition, r.Quantity, r.Model, r.Items}
}

// writeOutcomes writes no file, and removes an older one, where nothing is
// recorded.
func writeOutcomes(path string, rows []Row) error {
	var out []outcomesRow
	for _, r := range rows {
		if r.Items != "" {
			out = append(out, r.outcomes())
		}
	}
	path = outcomesFile(path)
	if len(out) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return atomicfile.Write(path, 0o644, func(w io.Writer) error {
		return zip(w, path, func(w io.Writer) error { return WriteRows(w, out) })
	})
}

// readOutcomes fills in the outcomes of the file, if there is one. An entry that
// contradicts its row is from another run and is left out.
func readOutcomes(path string, rows []Row) error {
	path = outcomesFile(path)
	if !fileExists(path) {
		return nil
	}
	list, err := ReadRows[outcomesRow](path)
	if err != nil {
		return err
	}
	found := map[outcomesRow]outcomesRow{}
	for _, o := range list {
		of := o
		of.Correct = ""
		found[of] = o
	}
	for i := range rows {
		r := &rows[i]
		r.Items = ""
		o := found[r.outcomes()]
		if _, err := o.Correct.unpack(r.Part, r.Whole); o.Correct != "" && err == nil {
			r.Items = o.Correct
		}
	}
	return nil
}
