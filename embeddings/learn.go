package embeddings

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"mldpbench/internal/check"
	"mldpbench/stream"
)

// meanNorm is the mean Euclidean length of the 2,000 most frequent
// words in GloVe 6B at 100 dimensions (measured: 5.77). The ε of metric
// differential privacy is in units of one over distance, so vectors learned
// here keep that scale and the published ε keep their meaning.
const meanNorm = 5.77

// Constants of the factorisation.
const (
	learnedWindow    = 5    // words counted on either side
	contextSmoothing = 0.75 // exponent of context counts: reduces the weight of rare contexts
	oversampling     = 20   // extra columns of the random projection
	powerIterations  = 6
	learnedDecimals  = 1e5 // vectors are rounded to this grid
)

// LearnPPMI learns word vectors from tokenised sentences: positive pointwise
// mutual information of words and contexts, factorised by a truncated singular
// value decomposition, words at U·Σ^½ (Levy, Goldberg & Dagan 2015, eq. 3 with
// context distribution smoothing 0.75 and eigenvalue weighting ½). A context
// at distance k counts 6−k times, up to 5, as in word2vec. The vectors are then
// scaled as a whole to a mean length of 5.77, see meanNorm. dimension must be
// below the number of words.
//
// The decomposition is the randomised one of Halko, Martinsson & Tropp (2011,
// alg. 4.4 and 5.1) with a fixed seed: equal sentences give equal vectors, for
// any number of processors. They are rounded to five decimals, so differences in
// the last bits between processors do not matter.
//
// Words are ordered by descending count, ties by spelling. A word that has no
// neighbour in any sentence has the zero vector. The caller sets Generated.
func LearnPPMI(name string, sentences [][]string, dimension int) (*Space, error) {
	if err := check.AtLeast("dimension", dimension, 1); err != nil {
		return nil, fmt.Errorf("embedding %s: %w", name, err)
	}
	words, counts := CountWords(sentences)
	slices.Sort(words)
	slices.SortStableFunc(words, func(a, b string) int {
		return cmp.Compare(counts[b], counts[a])
	})
	v, err := NewVocabulary(words)
	if err != nil {
		return nil, err
	}
	if dimension >= v.Len() {
		return nil, fmt.Errorf("embedding %s: dimension = %d: must be below the %d words", name, dimension, v.Len())
	}
	vectors, err := leftSingular(ppmi(sentences, v), dimension)
	if err != nil {
		return nil, fmt.Errorf("embedding %s: %w", name, err)
	}
	// All rows are scaled together.
	sum := 0.0
	out := make([]float32, v.Len()*dimension)
	for i := range words {
		sum += floats.Norm(vectors.RawRowView(i), 2)
	}
	scale := meanNorm * float64(len(words)) / sum
	for i, x := range vectors.RawMatrix().Data {
		out[i] = float32(math.Round(x*scale*learnedDecimals) / learnedDecimals)
	}
	return NewSpace(name, v, dimension, out)
}

// sparse is a square matrix: the entries of each row, by ascending columns.
type sparse [][]entry

type entry struct {
	column int
	value  float64
}

// ppmi counts, for every word, the words around it, #(w,c), and returns
// max(0, log(#(w,c)·Σ#(c)^α / (#(w)·#(c)^α))) where it is not 0.
func ppmi(sentences [][]string, v *Vocabulary) sparse {
	n := v.Len()
	counts := mat.NewDense(n, n, nil)
	total := make([]float64, n)
	smoothed := make([]float64, n)
	for _, s := range sentences {
		ids := v.Encode(nil, s)
		for j, a := range ids {
			for k := max(0, j-learnedWindow); k < j; k++ {
				near := float64(learnedWindow + 1 - (j - k))
				counts.RawRowView(int(a))[ids[k]] += near
				counts.RawRowView(int(ids[k]))[a] += near
			}
		}
	}
	for w := range n {
		total[w] = floats.Sum(counts.RawRowView(w)) // whole numbers: exact in any order
		smoothed[w] = math.Pow(total[w], contextSmoothing)
	}
	m := make(sparse, n)
	all := 0.0
	for _, x := range smoothed {
		all += x
	}
	for w := range m {
		for c, x := range counts.RawRowView(w) {
			if x == 0 {
				continue
			}
			if pmi := math.Log(x * all / (total[w] * smoothed[c])); pmi > 0 {
				m[w] = append(m[w], entry{c, pmi})
			}
		}
	}
	return m
}

// transpose returns mᵀ.
func (m sparse) transpose() sparse {
	t := make(sparse, len(m))
	for r, row := range m {
		for _, e := range row {
			t[e.column] = append(t[e.column], entry{r, e.value})
		}
	}
	return t
}

// mul returns m·x. Columns of x are divided among workers; each sum is in a fixed
// order.
func (m sparse) mul(x *mat.Dense) *mat.Dense {
	_, columns := x.Dims()
	y := mat.NewDense(len(m), columns, nil)
	from := x.RawMatrix().Data
	to := y.RawMatrix().Data
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			low := w * columns / workers
			high := (w + 1) * columns / workers
			for r, row := range m {
				i := r * columns
				for _, e := range row {
					j := e.column * columns
					floats.AddScaled(to[i+low:i+high], e.value, from[j+low:j+high])
				}
			}
		})
	}
	wg.Wait()
	return y
}

// leftSingular returns the d leading left singular vectors of m (rows × d),
// approximately, each times the root of its singular value.
func leftSingular(m sparse, d int) (*mat.Dense, error) {
	n := len(m)
	k := min(len(m), d+oversampling)
	rng := stream.FromUint64(0).Derive("embeddings", "ppmi", "projection").Rand()
	x := mat.NewDense(n, k, nil)
	for i := range x.RawMatrix().Data {
		x.RawMatrix().Data[i] = rng.NormFloat64()
	}
	transposed := m.transpose()
	q := m.mul(x)
	orthonormalize(q)
	for range powerIterations {
		z := transposed.mul(q)
		orthonormalize(z)
		q = m.mul(z)
		orthonormalize(q)
	}
	// Qᵀ·M = B has the singular values of M; B·Bᵀ is small.
	var gram mat.SymDense
	gram.SymOuterK(1, transposed.mul(q).T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&gram, true) {
		return nil, fmt.Errorf("eigenvalues of the projected matrix did not converge")
	}
	values := eigen.Values(nil) // rising
	if values[k-d] <= 1e-12*values[k-1] {
		return nil, fmt.Errorf("the sentences support fewer than %d dimensions", d)
	}
	var basis, left mat.Dense
	eigen.VectorsTo(&basis)
	left.Mul(q, &basis)
	vectors := mat.NewDense(n, d, nil)
	for j := range d {
		column := mat.Col(nil, k-1-j, &left)
		largest := slices.MaxFunc(column, func(a, b float64) int {
			return cmp.Compare(math.Abs(a), math.Abs(b))
		})
		// The sign of a singular vector is arbitrary: the largest component is positive.
		floats.Scale(math.Copysign(1, largest), column)
		floats.Scale(math.Sqrt(math.Sqrt(values[k-1-j])), column)
		vectors.SetCol(j, column)
	}
	return vectors, nil
}

// orthonormalize replaces the columns of a by an orthonormal basis of their
// span (Householder QR).
func orthonormalize(a *mat.Dense) {
	_, columns := a.Dims()
	tau := make([]float64, columns)
	work := make([]float64, 64*columns)
	lapack64.Geqrf(a.RawMatrix(), tau, work, len(work))
	lapack64.Orgqr(a.RawMatrix(), tau, work, len(work))
}
