package embeddings

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
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
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	v, err := NewVocabulary(words)
	if err != nil {
		return nil, err
	}
	if dimension >= v.Len() {
		return nil, fmt.Errorf("embedding %s: dimension = %d: must be below the %d words", name, dimension, v.Len())
	}
	m := cooccurrences(sentences, v)
	m.toPPMI()
	u, sigma, err := leftSingular(m, dimension)
	if err != nil {
		return nil, fmt.Errorf("embedding %s: %w", name, err)
	}
	for j, s := range sigma {
		root := math.Sqrt(s)
		for i := range u.Rows {
			u.Data[i*u.Stride+j] *= root
		}
	}
	return NewSpace(name, v, dimension, rescaled(u))
}

// sparse is a square matrix in compressed rows, columns ascending in each.
type sparse struct {
	start  []int // of each row in column and value; one more than rows
	column []int32
	value  []float64
}

func (m *sparse) rows() int { return len(m.start) - 1 }

// cooccurrences counts, for every word, the words around it: a symmetric
// matrix of whole numbers.
func cooccurrences(sentences [][]string, v *Vocabulary) *sparse {
	type place struct{ sentence, word int32 }
	ids := make([][]WordID, len(sentences))
	places := make([][]place, v.Len())
	for i, s := range sentences {
		ids[i] = v.Encode(make([]WordID, 0, len(s)), s)
		for j, id := range ids[i] {
			if id != Unknown {
				places[id] = append(places[id], place{int32(i), int32(j)})
			}
		}
	}
	m := &sparse{start: []int{0}}
	count := make([]float64, v.Len())
	var touched []int32
	for _, occurrences := range places {
		touched = touched[:0]
		for _, p := range occurrences {
			s, at := ids[p.sentence], int(p.word)
			for j := max(0, at-learnedWindow); j < min(len(s), at+learnedWindow+1); j++ {
				if j == at || s[j] == Unknown {
					continue
				}
				if count[s[j]] == 0 {
					touched = append(touched, int32(s[j]))
				}
				count[s[j]] += float64(learnedWindow + 1 - max(at-j, j-at))
			}
		}
		slices.Sort(touched)
		for _, c := range touched {
			m.column = append(m.column, c)
			m.value = append(m.value, count[c])
			count[c] = 0
		}
		m.start = append(m.start, len(m.column))
	}
	return m
}

// toPPMI replaces counts by max(0, log(#(w,c)·Σ#(c)^α / (#(w)·#(c)^α))) and
// drops the zeros.
func (m *sparse) toPPMI() {
	total := make([]float64, m.rows()) // of a row, equal to that of its column
	smoothed := make([]float64, m.rows())
	var all float64
	for w := range total {
		for _, x := range m.value[m.start[w]:m.start[w+1]] {
			total[w] += x
		}
		smoothed[w] = math.Pow(total[w], contextSmoothing)
		all += smoothed[w]
	}
	kept, from := 0, 0
	for w := range total {
		to := m.start[w+1]
		for i := from; i < to; i++ {
			c := m.column[i]
			if pmi := math.Log(m.value[i] * all / (total[w] * smoothed[c])); pmi > 0 {
				m.column[kept], m.value[kept] = c, pmi
				kept++
			}
		}
		from, m.start[w+1] = to, kept
	}
	m.column, m.value = m.column[:kept], m.value[:kept]
}

func (m *sparse) transpose() *sparse {
	t := &sparse{start: make([]int, len(m.start)), column: make([]int32, len(m.column)),
		value: make([]float64, len(m.value))}
	for _, c := range m.column {
		t.start[c+1]++
	}
	for i := range m.rows() {
		t.start[i+1] += t.start[i]
	}
	next := slices.Clone(t.start)
	for r := range m.rows() {
		for i := m.start[r]; i < m.start[r+1]; i++ {
			at := next[m.column[i]]
			t.column[at], t.value[at] = int32(r), m.value[i]
			next[m.column[i]]++
		}
	}
	return t
}

// mul returns m·x. Rows are divided among workers; each is summed in a fixed
// order.
func (m *sparse) mul(x blas64.General) blas64.General {
	y := blas64.General{Rows: m.rows(), Cols: x.Cols, Stride: x.Cols, Data: make([]float64, m.rows()*x.Cols)}
	row := func(g blas64.General, i int) blas64.Vector {
		return blas64.Vector{N: g.Cols, Inc: 1, Data: g.Data[i*g.Stride : i*g.Stride+g.Cols]}
	}
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for r := w * m.rows() / workers; r < (w+1)*m.rows()/workers; r++ {
				for i := m.start[r]; i < m.start[r+1]; i++ {
					blas64.Axpy(m.value[i], row(x, int(m.column[i])), row(y, r))
				}
			}
		})
	}
	wg.Wait()
	return y
}

// leftSingular returns the d leading left singular vectors (rows × d) and
// values of m, approximately.
func leftSingular(m *sparse, d int) (u blas64.General, sigma []float64, err error) {
	n, k := m.rows(), min(m.rows(), d+oversampling)
	rng := stream.FromUint64(0).Derive("embeddings", "ppmi", "projection").Rand()
	x := blas64.General{Rows: n, Cols: k, Stride: k, Data: make([]float64, n*k)}
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	t := m.transpose()
	q := m.mul(x)
	orthonormalize(q)
	for range powerIterations {
		z := t.mul(q)
		orthonormalize(z)
		q = m.mul(z)
		orthonormalize(q)
	}
	// Qᵀ·M = B has the singular values of M; B·Bᵀ is small.
	b := t.mul(q) // Bᵀ, n × k
	bt := mat.NewDense(n, k, b.Data)
	var gram mat.SymDense
	gram.SymOuterK(1, bt.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&gram, true) {
		return u, nil, fmt.Errorf("eigenvalues of the projected matrix did not converge")
	}
	values := eigen.Values(nil) // rising
	if values[k-d] <= 1e-12*values[k-1] {
		return u, nil, fmt.Errorf("the sentences support fewer than %d dimensions", d)
	}
	var vectors, left mat.Dense
	eigen.VectorsTo(&vectors)
	left.Mul(mat.NewDense(n, k, q.Data), &vectors)
	u = blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	sigma = make([]float64, d)
	for j := range d {
		column := left.ColView(k - 1 - j)
		sign := signOfLargest(column)
		for i := range n {
			u.Data[i*d+j] = sign * column.AtVec(i)
		}
		sigma[j] = math.Sqrt(values[k-1-j])
	}
	return u, sigma, nil
}

// orthonormalize replaces the columns of a by an orthonormal basis of their
// span (Householder QR).
func orthonormalize(a blas64.General) {
	tau := make([]float64, a.Cols)
	work := make([]float64, 1)
	lapack64.Geqrf(a, tau, work, -1)
	work = make([]float64, int(work[0]))
	lapack64.Geqrf(a, tau, work, len(work))
	query := make([]float64, 1)
	lapack64.Orgqr(a, tau, query, -1)
	work = make([]float64, int(query[0]))
	lapack64.Orgqr(a, tau, work, len(work))
}

// signOfLargest fixes the sign of a singular vector, which is otherwise
// arbitrary.
func signOfLargest(v mat.Vector) float64 {
	largest := 0.0
	for i := range v.Len() {
		if x := v.AtVec(i); math.Abs(x) > math.Abs(largest) {
			largest = x
		}
	}
	return math.Copysign(1, largest)
}

// rescaled returns the rows of u, scaled together to the mean length meanNorm.
func rescaled(u blas64.General) []float32 {
	var sum float64
	for i := range u.Rows {
		sum += blas64.Nrm2(blas64.Vector{N: u.Cols, Inc: 1, Data: u.Data[i*u.Stride:]})
	}
	scale := meanNorm * float64(u.Rows) / sum
	out := make([]float32, len(u.Data))
	for i, x := range u.Data {
		out[i] = float32(math.Round(x*scale*learnedDecimals) / learnedDecimals)
	}
	return out
}
