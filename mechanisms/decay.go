package mechanisms

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"mldpbench/embeddings"
)

// Costs says what an output costs, by input word: the Euclidean distance, or 1 − ρ
// with ρ the cosine clipped to [0, 1].
type Costs struct {
	space    *embeddings.Space
	basis    *Basis
	outputs  []WordID  // ascending; nil: all words
	contains []bool    // by WordID: whether a word is an output; nil: all are
	norms    []float64 // Euclidean, by WordID, for cosines; nil for distances
}

// DistanceCosts are distances. Outputs are some words of the space, ascending; nil
// stands for all.
func DistanceCosts(space *embeddings.Space, outputs []WordID) *Costs {
	return newCosts(space, Distances(space), outputs)
}

// CosineCosts are 1 − ρ. Outputs are some words of the space, ascending. A word
// costs 0 for itself; a vector of zeros has no direction, and costs 1 for any other.
func CosineCosts(space *embeddings.Space, outputs []WordID) *Costs {
	c := newCosts(space, InnerProducts(space, outputs), outputs)
	c.norms = normsOf(space)
	return c
}

// newCosts are the costs of replacing words of a space by some outputs; nil are all words.
func newCosts(space *embeddings.Space, b *Basis, outputs []WordID) *Costs {
	c := &Costs{
		space:   space,
		basis:   b,
		outputs: outputs,
	}
	if outputs != nil {
		c.contains = make([]bool, space.Len())
		for _, y := range outputs {
			c.contains[y] = true
		}
	}
	return c
}

// isOutput reports whether a word can be drawn.
func (c *Costs) isOutput(w WordID) bool { return c.contains == nil || c.contains[w] }

// count returns the number of outputs.
func (c *Costs) count() int {
	if c.outputs == nil {
		return c.space.Len()
	}
	return len(c.outputs)
}

// output returns the i-th output.
func (c *Costs) output(i uint64) WordID {
	if c.outputs == nil {
		return WordID(i)
	}
	return c.outputs[i]
}

// cosine is ρ of two words from their inner product.
func (c *Costs) cosine(product float64, a, b WordID) float64 {
	if a == b {
		return 1
	}
	if c.norms[a] == 0 || c.norms[b] == 0 {
		return 0
	}
	return min(max(product/(c.norms[a]*c.norms[b]), 0), 1)
}

type normsKey struct{}

// normsOf returns the Euclidean norm of every word, in float64.
func normsOf(space *embeddings.Space) []float64 {
	return embeddings.Once(space, normsKey{}, func() []float64 {
		norms := make([]float64, space.Len())
		for id := range norms {
			norms[id] = norm(space.Vector(WordID(id)))
		}
		return norms
	})
}

// Decay is the law Pr[y | word] ∝ e^{−Rate·min(cost, Most)} over some outputs. A
// large vocabulary is drawn from without tables of all outputs.
type Decay struct {
	Costs *Costs
	Rate  float64
	Most  float64 // +Inf: all costs count in full
	// Replaced is the probability with which a word that is no output is replaced;
	// it stays otherwise.
	Replaced float64
}

// Scores are those of the law.
func (d Decay) Scores() Scores {
	return Scores{
		Vocabulary: d.Costs.space.Vocabulary,
		Basis:      d.Costs.basis,
		Of:         d.scores,
		decay:      &d,
	}
}

// scores is Scores.Of.
func (d *Decay) scores(word WordID, row []float64) ([]float64, []WordID) {
	c := d.Costs
	stays := !c.isOutput(word) && d.Replaced < 1
	if stays && d.Replaced == 0 {
		return []float64{0}, []WordID{word}
	}
	d.fill(word, row)
	row = row[:c.count()]
	if !stays {
		return row, c.outputs
	}
	shift := math.Log(d.Replaced) - floats.LogSumExp(row)
	floats.AddConst(shift, row)
	n := len(row)
	return append(row[:n:n], math.Log1p(-d.Replaced)), append(c.outputs[:n:n], word)
}

// fill turns a row of the basis into the scores of outputs.
func (d *Decay) fill(word WordID, row []float64) {
	c := d.Costs
	if c.norms != nil {
		for i, y := range c.outputs {
			row[i] = d.Rate * c.cosine(row[i], word, y) // up to a constant
		}
		return
	}
	if c.outputs == nil {
		for i, cost := range row {
			row[i] = -d.Rate * min(cost, d.Most)
		}
		return
	}
	for i, y := range c.outputs { // i ≤ y: nothing is overwritten before it is read
		row[i] = -d.Rate * min(row[y], d.Most)
	}
}
