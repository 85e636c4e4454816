package mechanisms

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/embeddings"
	"mldpbench/internal/params"
	"mldpbench/stream"
)

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:     "brr",
		Title:    "BRR",
		Source:   "Carvalho et al. 2021, binary embeddings with randomised response",
		Metric:   "hamming",
		Order:    130,
		Variants: []Variant{Proved},
		Parameters: []Parameter{{
			Name:    "bits",
			Default: 64.0,
			Doc:     "length of the binary code of a word",
			Legal:   "a whole number in [1, 1024]",
			Valid:   params.Whole(1, 1024),
		}},
		Drawn: true,
		New:   newBRR,
	})
}

// newBRR builds randomised response on binary codes of words. Bit i of the code of w is
// whether (Rφ(w))_i > 0, R a random rotation. Each bit is flipped by itself with
// probability 1/(1 + e^ε), so that a code is e^ε times as likely from a word with the
// bit than from one without it: ε·Hamming. The word whose code is nearest to the noisy
// code is returned; of several, one by chance, which no word influences.
//
// Deviations, as the description at hand gives neither: R comes from the seed and is
// public; codes longer than the vectors go on with the rows of a further rotation.
func newBRR(env Environment, s Settings) (*Mechanism, error) {
	length := int(s.Parameters["bits"].(float64))
	build := func() (*wordCodes, error) {
		return newWordCodes(env.Space, env.Seed, length), nil
	}
	codes, err := once(env, length, build)
	if err != nil {
		return nil, err
	}
	g := Guarantee{
		Metric:  "hamming",
		Epsilon: s.Epsilon,
		Reason: "each bit of the code is randomised response and the nearest code is post-processing; " +
			"the rotation is taken as public",
		Distance: func(a, b WordID) float64 { return float64(differing(codes.of(a), codes.of(b))) },
	}
	flipped := 1 / (1 + math.Exp(s.Epsilon))
	draw := func(word WordID, rng *rand.Rand) WordID {
		noisy := slices.Clone(codes.of(word))
		for i := range length {
			if rng.Float64() < flipped {
				noisy[i/64] ^= 1 << (i % 64)
			}
		}
		return codes.nearest(noisy, rng)
	}
	return ByFormula(s, g, Formula{Vocabulary: env.Space.Vocabulary, Draw: draw}), nil
}

// wordCodes are the binary codes of the words of a space, bit i of block i/64.
type wordCodes struct {
	blocks int // of a code
	codes  []uint64
}

// of is the code of a word.
func (c *wordCodes) of(word WordID) []uint64 { return rowAt(c.codes, int(word), c.blocks) }

// newWordCodes are the signs of the coordinates of rotated vectors.
func newWordCodes(s *embeddings.Space, seed stream.Seed, length int) *wordCodes {
	blocks := (length + 63) / 64
	rng := seed.Derive("brr", "rotation").Rand()
	c := &wordCodes{blocks, make([]uint64, blocks*s.Len())}
	for first := 0; first < length; first += s.Dimension {
		rotation := randomRotation(s.Dimension, rng)
		vector := make([]float64, s.Dimension)
		for w := range WordID(s.Len()) {
			code := c.of(w)
			for i, x := range s.Vector(w) {
				vector[i] = float64(x)
			}
			for i := first; i < min(first+s.Dimension, length); i++ {
				if product(rowAt(rotation, i-first, s.Dimension), vector) > 0 {
					code[i/64] |= 1 << (i % 64)
				}
			}
		}
	}
	return c
}

// randomRotation is a random orthogonal matrix: rows of normal numbers, made orthogonal
// one after the other (Gram–Schmidt), which are uniform.
func randomRotation(p int, rng *rand.Rand) []float64 {
	rows := make([]float64, p*p)
	for i := range p {
		row := rowAt(rows, i, p)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		for k := range i {
			before := rowAt(rows, k, p)
			shared := product(row, before)
			for j, x := range before {
				row[j] -= float64(shared * x)
			}
		}
		floats.Scale(1/math.Sqrt(product(row, row)), row)
	}
	return rows
}

// product is the inner product, with the same bits on every processor.
func product(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x * b[i])
	}
	return sum
}

// differing is the Hamming distance of two codes.
func differing(a, b []uint64) int {
	n := 0
	for i, x := range a {
		n += bits.OnesCount64(x ^ b[i])
	}
	return n
}

// nearest returns a word whose code is nearest to a noisy one, each such word alike.
func (c *wordCodes) nearest(noisy []uint64, rng *rand.Rand) WordID {
	least := math.MaxInt
	var nearest []WordID
	for w := range WordID(len(c.codes) / c.blocks) {
		d := differing(c.of(w), noisy)
		if d < least {
			least = d
			nearest = nearest[:0]
		}
		if d == least {
			nearest = append(nearest, w)
		}
	}
	return nearest[rng.IntN(len(nearest))]
}
