package words

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/list"
	"mldpbench/models/ngram"
)

// candidate is a word that an output may stand for.
type candidate struct {
	word     int32
	emission float64 // ln P(y|word)
	prior    float64 // ln π(word)
	topic    float64 // ln of how much likelier the word is in texts like this one
	score    float64 // π(word)·P(y|word)
}

// chain is a text in the hidden Markov model with hidden words x, outputs y, emissions
// P(y|x) and transitions of a model of pairs of words.
type chain struct {
	positions [][]candidate
	language  [][]float64 // [i][s·K_i + c]: ln P of candidate c at i after candidate s at i−1
}

// weights are those of pairs of words, of the topic and of the channel.
type weights struct{ pairs, topic, channel float64 }

// own is what a candidate has without the words around it, as a logarithm.
func (w weights) own(x candidate) float64 {
	return float64(w.channel*x.emission) + float64((1-w.pairs)*x.prior) + float64(w.topic*x.topic)
}

// newChain needs a candidate for every position. Time and memory grow with the product
// of the numbers of candidates of two neighbours.
func newChain(model *ngram.Model, positions [][]candidate) (chain, error) {
	return chain{}.of(model, positions)
}

// of is a chain of other candidates for the same positions, which takes over what c knows of
// the language. It keeps copies of the candidates: those given may change their order.
func (c chain) of(model *ngram.Model, positions [][]candidate) (chain, error) {
	next := chain{list.Map(positions, slices.Clone), make([][]float64, len(positions))}
	before := []candidate{{}}
	var placesBefore []int
	for i, candidates := range positions {
		if len(candidates) == 0 {
			return next, fmt.Errorf("decoding: position %d: no candidate", i)
		}
		places := c.places(i, candidates)
		next.language[i] = make([]float64, 0, len(before)*len(candidates))
		for s, b := range before {
			known := c.after(i, s, placesBefore)
			after := historyAt(model, i, b.word)
			for k, x := range candidates {
				if known != nil && places[k] >= 0 {
					next.language[i] = append(next.language[i], known[places[k]])
					continue
				}
				next.language[i] = append(next.language[i], math.Log(after.Probability(x.word)))
			}
		}
		before = candidates
		placesBefore = places
	}
	return next, nil
}

// places are those of candidates among the candidates of a position of c, −1 for others.
func (c chain) places(i int, candidates []candidate) []int {
	places := make([]int, len(candidates))
	for k, x := range candidates {
		places[k] = -1
		if i < len(c.positions) {
			places[k] = slices.IndexFunc(c.positions[i], func(y candidate) bool {
				return y.word == x.word
			})
		}
	}
	return places
}

// after is what c knows of the candidates of position i after candidate s at the position before, which has these
// places in c; nil if nothing.
func (c chain) after(i, s int, placesBefore []int) []float64 {
	if i >= len(c.positions) {
		return nil
	}
	row := 0
	if i > 0 {
		row = placesBefore[s]
	}
	if row < 0 {
		return nil
	}
	k := len(c.positions[i])
	return c.language[i][row*k : (row+1)*k]
}

// historyAt is that of a position after a word; before the first position there is none.
func historyAt(model *ngram.Model, position int, before int32) ngram.History {
	switch position {
	case 0:
		return model.AfterStart(nil)
	case 1:
		return model.AfterStart([]int32{before})
	}
	return model.After([]int32{before})
}

// posteriors returns for every position of a text the posterior probability of each
// candidate, given the whole text, by forward–backward:
//
//	P(x | y) ∝ Π_i P(y_i|x_i)^γ · π(x_i)^{1−λ} · P(x_i | x_{i−1})^λ · t(x_i)^β:
//
// λ = β = 0 and γ = 1 is MAP word by word under the prior π, λ = γ = 1 is Bayes' rule under
// the language model, and t is the topic's ratio; γ > 1 trusts the language less. The largest
// probability minimises the expected number of wrong words; the most probable sequence
// (Viterbi) does not.
func (c chain) posteriors(w weights) ([][]float64, error) {
	steps, out, err := c.forward(w)
	if err != nil {
		return nil, err
	}
	c.backward(steps, out)
	return out, nil
}

// forward returns, by position, the probabilities of steps [s·K_i + c] as in language, and
// of candidates given the text up to there, both scaled so that the latter sum to one.
func (c chain) forward(w weights) (steps, out [][]float64, err error) {
	steps = make([][]float64, len(c.positions))
	out = make([][]float64, len(c.positions))
	before := []float64{1}
	for i, candidates := range c.positions {
		k := len(candidates)
		own := make([]float64, k)
		for j, x := range candidates {
			own[j] = w.own(x)
		}
		top := floats.Max(own)
		if math.IsInf(top, 0) || math.IsNaN(top) {
			return nil, nil, fmt.Errorf("decoding: the outputs are impossible for all candidates")
		}
		steps[i] = make([]float64, len(c.language[i]))
		out[i] = make([]float64, k)
		for s, p := range before {
			to := steps[i][s*k : (s+1)*k]
			for j, v := range c.language[i][s*k : (s+1)*k] {
				to[j] = math.Exp(own[j] - top + float64(w.pairs*v))
				out[i][j] += float64(p * to[j])
			}
		}
		sum := floats.Sum(out[i]) // > 0: the best candidate may follow any other
		floats.Scale(1/sum, out[i])
		floats.Scale(1/sum, steps[i])
		before = out[i]
	}
	return steps, out, nil
}

// backward multiplies out by what the rest of the text makes of each candidate.
func (c chain) backward(steps, out [][]float64) {
	n := len(c.positions)
	if n == 0 {
		return
	}
	after := make([]float64, len(c.positions[n-1]))
	floats.AddConst(1, after)
	for i := n - 1; i >= 0; i-- {
		k := len(c.positions[i])
		earlier := make([]float64, len(steps[i])/k)
		for s := range earlier {
			for j, p := range steps[i][s*k : (s+1)*k] {
				earlier[s] += float64(p * after[j])
			}
		}
		floats.Mul(out[i], after)
		after = earlier
	}
}
