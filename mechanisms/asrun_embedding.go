package mechanisms

import (
	"fmt"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
)

// The constructors of AsRun over an embedding. Where they speak of rows, see
// runMatrix. Source: the replication package of Meisenbacher et al. 2024, whose
// function is named with each.

// vectorless is what every one of them publishes.
const vectorless = "words without a vector come back unchanged"

// newAsRunCMP takes the row nearest to the noisy vector, row 0 among them: where
// the origin is nearest, the input word comes back (get_nearest,
// get_word_from_index). Of rows of zeros, row 0 is the first, so no word
// without a vector is ever returned. For Mahalanobis the covariance is that of
// the whole matrix, rows of zeros included.
func newAsRunCMP(env Environment, s Settings) (*Mechanism, error) {
	r, err := runRowsOf(env, env.Space.Dimension, func(m *runMatrix) []WordID {
		return origin(m.covered)
	})
	if err != nil {
		return nil, err
	}
	noise := Noise{Space: r.space}
	if lambda, ok := s.Parameters["lambda"].(float64); ok {
		whole, err := r.matrix.space(origin(r.matrix.ranked), env.Space.Dimension)
		if err != nil {
			return nil, err
		}
		shape, err := mahalanobisShapeOf(whole, mahalanobisKey{lambda: lambda})
		if err != nil {
			return nil, err
		}
		noise.Shape = shape.rows
	}
	g := Guarantee{Reason: "the input word comes back where the origin is nearest to the noisy vector, which is not " +
		"post-processing, and " + vectorless}
	return r.mechanism(s, g, ByNoise(s, g, noise)), nil
}

// newAsRunVickrey drops the row nearest to the noisy vector, whichever it is,
// and draws one of the next two with softmax(−a/2) of their distances, over
// rows 1 to V (VickreyMechanism with k = 2 and t = (.5, .5)). All of this is
// post-processing of the noisy vector.
func newAsRunVickrey(env Environment, s Settings) (*Mechanism, error) {
	r, err := runRowsOf(env, env.Space.Dimension, func(m *runMatrix) []WordID {
		return m.first(3)
	})
	if err != nil {
		return nil, err
	}
	weights := func(p []float64, _ WordID, near []nearest.Neighbor) {
		if near[1].ID != embeddings.Unknown { // there is more than one row
			p = p[1:]
			near = near[1:]
		}
		oneOfTwo(p, near, func(a, b float64) float64 { return 1 / (1 + math.Exp((a-b)/2)) })
	}
	m := r.matrix
	g := euclideanGuarantee(m.all, s.Epsilon,
		"the noise is ε·d-private, and dropping its nearest word and the choice of the next are post-processing")
	g.EuclideanEpsilon = 0
	g.Scope = fmt.Sprintf("between the %d words of the train texts that have a vector; %s", len(m.covered), vectorless)
	g.Covers = func(a, b WordID) bool { return m.has[a] && m.has[b] }
	inner := ByNoise(s, Guarantee{}, Noise{
		Space:     r.space,
		Neighbors: 3,
		Weights:   weights,
	})
	return r.mechanism(s, g, inner), nil
}

// newAsRunTEM is TEM over rows 1 to V with γ of V+1 words in place of n−1,
// rounded to one decimal, and the score −γ + (2/ε)·ln(V/|L|) for the words
// beyond γ together, as in Released (TEM.replace_word). Rows of zeros are
// outputs like any other.
func newAsRunTEM(env Environment, s Settings) (*Mechanism, error) {
	r, err := runRowsOf(env, env.Space.Dimension, func(m *runMatrix) []WordID {
		return m.ranked
	})
	if err != nil {
		return nil, err
	}
	g := Guarantee{Reason: unprovedTEM + ", and " + vectorless}
	return r.mechanism(s, g, newReleasedTEM(s, g, r.space, r.space.Len()+1)), nil
}

// newAsRunSanText computes SanText's probabilities over rows 0 to V from the
// first three coordinates of the vectors, and reads them with the list of the
// words that have a vector: row i returns the i-th of these, counted from 0,
// and a row beyond the list the input word (calc_distance, SanText). The rows
// beyond the list break ε·d; the three coordinates alone, whose distance is at
// most that of the vectors, would not.
func newAsRunSanText(env Environment, s Settings) (*Mechanism, error) {
	r, err := runRowsOf(env, min(3, env.Space.Dimension), func(m *runMatrix) []WordID {
		return origin(m.ranked)
	})
	if err != nil {
		return nil, err
	}
	g := Guarantee{Reason: "rows beyond the list of words return the input word, whichever it is, and " +
		vectorless}
	r.outputs = slices.Repeat([]WordID{embeddings.Unknown}, len(r.inputs))
	copy(r.outputs, r.matrix.covered)
	return r.mechanism(s, g, ByScores(s, g, sanTextScores(DistanceCosts(r.space, nil), s.Epsilon))), nil
}

// Values of the parameter extent of AsRun.
const (
	extentOfData  = "data set"
	extentOfSpace = "space"
)

// runExtents are the largest distances that the study's code states for its
// data sets, by dimension, and the smallest ones, which are the same for both.
var (
	runLargest = map[string]map[int]float64{
		"agnews-2024": {50: 13.526640006274114, 100: 14.319089771129153, 300: 17.898080316889402},
		"imdb-2024":   {50: 15.329304595006077, 100: 14.607502691398507, 300: 18.082769927871894},
	}
	runSmallest = map[int]float64{50: 0.3513605074973775, 100: 0.6062098738133386, 300: 0.788992252232739}
)

// runExtent is the extent that the parameter chooses, and its name.
func runExtent(env Environment, s Settings, rows *embeddings.Space) (extent, string, error) {
	data := s.Parameters["extent"].(string)
	if data == extentOfData {
		data = extentOfSpace
		if _, stated := runLargest[env.DataSet][rows.Dimension]; stated {
			data = env.DataSet
		}
	}
	if data == extentOfSpace {
		e, err := extentOf(rows)
		return e, "of the train words", err
	}
	largest, ok := runLargest[data][rows.Dimension]
	if !ok {
		return extent{}, "", fmt.Errorf("extent = %q at %d dimensions: must be %q, %q, or agnews-2024 or imdb-2024 at "+
			"50, 100 or 300 dimensions", data, rows.Dimension, extentOfData, extentOfSpace)
	}
	return extent{largest, runSmallest[rows.Dimension]}, "that its code states for " + data, nil
}

// newAsRunGumbel draws k from a Poisson law of mean ln V, cut at V, and returns
// the least d_j + g_j of the k nearest rows of 1 to V, g_j Gumbel noise cut at
// ±Δ; with k = 0 the word stays. Its scale is that of Released with Δ and Δ₀
// from the parameter extent (TruncatedGumbel).
func newAsRunGumbel(env Environment, s Settings) (*Mechanism, error) {
	r, err := runRowsOf(env, env.Space.Dimension, func(m *runMatrix) []WordID {
		return m.ranked
	})
	if err != nil {
		return nil, err
	}
	n := r.space.Len()
	m := truncatedGumbel{
		released: true,
		space:    r.space,
		near:     neighborsOf(r.space, byID),
		poisson:  newTruncatedPoisson(math.Log(float64(n)), 0, n),
	}
	var source string
	m.extent, source, err = runExtent(env, s, r.space)
	if err != nil {
		return nil, err
	}
	g := Guarantee{Reason: "the noise has the scale of largest and smallest distances " + source + ", from a complex " +
		"number where epsilon is below the smallest usable one, and " + vectorless}
	inner, err := m.mechanism(s, func(*truncatedGumbel) Guarantee { return g })
	if err != nil {
		return nil, err
	}
	return r.mechanism(s, g, inner), nil
}
