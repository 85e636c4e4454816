package mechanisms

import (
	"math"
	"math/bits"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// Every noisy code of six bits, with its probability, and the words nearest to it: the
// law of BRR without a sample. Words that share a code come as often as each other.
func TestBRRByEnumeration(t *testing.T) {
	const length = 6
	s := spacetest.Gaussian(t, 12, 4, 1, 60) // longer codes than vectors
	copy(s.Vector(3), s.Vector(8))
	env := environment(s)
	m := mustNew(t, env, Settings{Mechanism: "brr", Epsilon: 0.8, Parameters: Parameters{"bits": float64(length)}})
	codes := newWordCodes(s, env.Seed, length)
	flipped := 1 / (1 + math.Exp(0.8))
	rows := map[WordID][]float64{}
	for _, w := range []WordID{0, 3, 7} {
		row := make([]float64, s.Len())
		for noisy := range uint64(1 << length) {
			flips := bits.OnesCount64(noisy ^ codes.of(w)[0])
			p := math.Pow(flipped, float64(flips)) * math.Pow(1-flipped, float64(length-flips))
			least := length + 1
			var nearest []WordID
			for y := range WordID(s.Len()) {
				d := bits.OnesCount64(noisy ^ codes.of(y)[0])
				if d < least {
					least = d
					nearest = nil
				}
				if d == least {
					nearest = append(nearest, y)
				}
			}
			for _, y := range nearest {
				row[y] += p / float64(len(nearest))
			}
		}
		rows[w] = row
		requireFit(t, "BRR", sample(m, w, 40000, stream.FromUint64(61).At(uint64(w))), row)
	}
	if math.Abs(rows[3][3]-rows[3][8]) > 1e-12 {
		t.Errorf("word 3 comes with %v, word 8 of the same vector with %v", rows[3][3], rows[3][8])
	}
	for a, of := range rows {
		for b, from := range rows {
			for y, p := range of {
				bound := 0.8 * m.Guarantee().Distance(a, b)
				if ratio := math.Log(p / from[y]); ratio > bound+1e-12 {
					t.Errorf("words %d and %d, output %d: log-ratio %v, want at most %v", a, b, y, ratio, bound)
				}
			}
		}
	}
}

// A rotation keeps lengths and angles; a code is the same for a vector of any length.
func TestRandomRotation(t *testing.T) {
	const p = 7
	rotation := randomRotation(p, stream.FromUint64(62).Rand())
	for i := range p {
		for j := range p {
			want := 0.0
			if i == j {
				want = 1
			}
			got := product(rowAt(rotation, i, p), rowAt(rotation, j, p))
			if math.Abs(got-want) > 1e-12 {
				t.Errorf("rows %d and %d have the inner product %v, want %v", i, j, got, want)
			}
		}
	}
	s := spacetest.Gaussian(t, 30, p, 1, 63)
	for i, x := range s.Vector(1) {
		s.Vector(2)[i] = 3 * x
		s.Vector(4)[i] = -x
	}
	for _, length := range []int{1, p, 64, 65, 200} {
		codes := newWordCodes(s, stream.FromUint64(64), length)
		if d := differing(codes.of(1), codes.of(2)); d != 0 {
			t.Errorf("%d bits: a vector and three times it differ in %d bits, want none", length, d)
		}
		if d := differing(codes.of(1), codes.of(4)); d != length {
			t.Errorf("%d bits: a vector and its opposite differ in %d bits, want all", length, d)
		}
	}
}
