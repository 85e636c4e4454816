package embeddings

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestNumbersAreStrconvs compares numbers of many forms with strconv's, to the bit: printed ones, those
// halfway between two of float32, and their neighbours.
func TestNumbersAreStrconvs(t *testing.T) {
	fields := []string{"", "-", ".", "-.", "0", "-0", "0.0", "-0.0", ".5", "5.", "-5.", "1.5.", "1..5", "+1", "1e5",
		"1_0", "0x1p2",
		"inf", "NaN", "1e39", "16777217", "16777219", "-16777217.0", "33554434", "999999999999999", "9999999999999999",
		"0.000000000000001", "00000000000000.1", "340282350000000", "--1", "1-", " 1", "1 ", "1,5", "８"}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		x := math.Float32frombits(rng.Uint32())
		small := float32(rng.NormFloat64())
		middle := (float64(small) + float64(math.Nextafter32(small, 9))) / 2
		fields = append(fields,
			strconv.FormatFloat(float64(x), 'g', -1, 32),
			strconv.FormatFloat(float64(small), 'f', rng.IntN(12), 32),
			strconv.FormatFloat(middle, 'f', -1, 64),
			strconv.FormatFloat(middle, 'f', 14, 64),
			fmt.Sprint(1<<24+rng.IntN(1<<24)+rng.IntN(1<<20)*2),
			fmt.Sprintf("%d.%d", rng.IntN(1<<25), rng.IntN(10)))
	}
	fast := 0
	for _, f := range fields {
		wide, err := strconv.ParseFloat(f, 32)
		want := float32(wide)
		wantOK := err == nil && !math.IsInf(wide, 0) && !math.IsNaN(wide)
		got, ok := parseNumber([]byte(f))
		if ok != wantOK || ok && math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("%q is %v, %v, want %v, %v", f, got, ok, want, wantOK)
		}
		if _, ok := parseDecimal([]byte(f)); ok {
			fast++
		}
	}
	if fast < len(fields)/3 {
		t.Errorf("%d of %d numbers are parsed fast, want a third", fast, len(fields))
	}
}
