package embeddings

import (
	"math"
	"strconv"
)

// exactDigits is the most digits of whole numbers that are all exact in float64.
const exactDigits = 15

// powersOfTen are exact in float64.
var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseNumber parses a finite number as strconv.ParseFloat does, to the bit.
func parseNumber(field []byte) (float32, bool) {
	x, ok := parseDecimal(field)
	if ok {
		return x, true
	}
	wide, err := strconv.ParseFloat(string(field), 32)
	return float32(wide), err == nil && !math.IsNaN(wide) && !math.IsInf(wide, 0)
}

// parseDecimal parses numbers such as -0.12345, which vectors mostly have, in a quarter of the time of
// strconv. It reports false for any other, and where the result might not be the nearest float32.
//
// Digits and the power of ten are exact in float64, so their quotient is rounded once (Clinger 1990), and
// then to float32. Rounded twice it can only be wrong where the quotient lies exactly between two
// numbers of float32: between, rounding is monotonic.
func parseDecimal(field []byte) (x float32, ok bool) {
	digits := field
	if len(field) > 0 && field[0] == '-' {
		digits = field[1:]
	}
	whole := uint64(0)
	point := len(digits) - 1 // as if the last
	count := 0
	for i, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			whole = 10*whole + uint64(c-'0')
			count++
		case c == '.' && count == i: // the first
			point = i
		default:
			return 0, false
		}
	}
	if count == 0 || count > exactDigits {
		return 0, false
	}
	quotient := float64(whole) / powersOfTen[len(digits)-1-point]
	const half = 1 << 28 // in the bits that float32 lacks, of which there are 29
	between := math.Float64bits(quotient)&(2*half-1) == half
	if between || quotient < 0x1p-126 && whole != 0 {
		return 0, false
	}
	if len(digits) < len(field) {
		quotient = -quotient
	}
	return float32(quotient), true
}
