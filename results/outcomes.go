package results

import (
	"encoding/base64"
	"fmt"
	"math/bits"

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
