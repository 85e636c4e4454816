package sentence

import (
	"context"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"mldpbench/embeddings"
)

// sifSmoothing is the a of a/(a+p(w)); Arora et al. find 1e-3 to 1e-4 good.
const sifSmoothing = 1e-3

// SIF is the smooth-inverse-frequency encoder of Arora, Liang & Ma (2017, alg.
// 1): the mean of the sentence's word vectors weighted by a/(a+p(w)), less its
// projection on the first singular vector of the sentences it was fitted to. It
// is the substitute where no sentence encoder is available. It ignores word
// order, and it favours a mechanism that searches the same space.
type SIF struct {
	space   *embeddings.Space
	weights []float64 // by word id
	common  []float64 // unit vector, Dimension long; nil when not defined
}

// NewSIF fits word frequencies and the common direction to tokenised
// documents, the originals of the data set. A word of the space that does not
// occur in them has p(w) = 0.
func NewSIF(space *embeddings.Space, documents [][]string) (*SIF, error) {
	s := &SIF{space: space, weights: make([]float64, space.Len())}
	var total float64
	for _, tokens := range documents {
		for _, t := range tokens {
			total++
			if id := space.Vocabulary.ID(t); id != embeddings.Unknown {
				s.weights[id]++
			}
		}
	}
	if total == 0 {
		return nil, fmt.Errorf("sif: no words to count")
	}
	for id, n := range s.weights {
		s.weights[id] = sifSmoothing / (sifSmoothing + n/total)
	}
	// The first right singular vector of the sentence matrix is the leading
	// eigenvector of its Gram matrix, Dimension × Dimension.
	gram := mat.NewSymDense(space.Dimension, nil)
	for _, tokens := range documents {
		gram.SymRankOne(gram, 1, mat.NewVecDense(space.Dimension, s.mean(tokens)))
	}
	if mat.Trace(gram) == 0 {
		return s, nil
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		return nil, fmt.Errorf("sif: eigenvalues did not converge")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	s.common = mat.Col(nil, space.Dimension-1, &vectors) // eigenvalues are in ascending order
	return s, nil
}

// Name implements Encoder.
func (s *SIF) Name() string { return "sif" }

// Encode implements Encoder: white space separates words, unknown words count
// for nothing, and a sentence without known words gets the zero vector.
func (s *SIF) Encode(ctx context.Context, sentences []string) ([][]float32, error) {
	vectors := make([][]float32, len(sentences))
	for i, sentence := range sentences {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := s.mean(strings.Fields(sentence))
		var along float64
		for k, c := range s.common {
			along += float64(c * v[k])
		}
		vectors[i] = make([]float32, len(v))
		for k := range v {
			if s.common != nil {
				v[k] -= float64(along * s.common[k])
			}
			vectors[i][k] = float32(v[k])
		}
	}
	return vectors, nil
}

// mean returns the weighted mean of the known words' vectors.
func (s *SIF) mean(tokens []string) []float64 {
	v := make([]float64, s.space.Dimension)
	n := 0
	for _, t := range tokens {
		id := s.space.Vocabulary.ID(t)
		if id == embeddings.Unknown {
			continue
		}
		n++
		for k, x := range s.space.Vector(id) {
			v[k] += float64(s.weights[id] * float64(x))
		}
	}
	for k := range v {
		v[k] /= math.Max(1, float64(n))
	}
	return v
}
