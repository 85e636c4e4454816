package attack

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"mldpbench/models/ngram"
)

// candidate is a word that an output may stand for.
type candidate struct {
	word     int32
	emission float64 // ln P(y|word)
	prior    float64 // ln π(word)
	score    float64 // π(word)·P(y|word)
}

// posteriors returns, for each weight λ of the language model and every position of a
// text, the posterior probability of each candidate, in the hidden Markov model with
// hidden words x, outputs y, emissions P(y|x) and transitions of a model of pairs of words,
//
//	P(x | y) ∝ Π_i P(y_i|x_i) · π(x_i)^{1−λ} · P(x_i | x_{i−1})^λ:
//
// 0 is MAP word by word under the prior π, 1 is Bayes' rule under the language model. The
// largest probability minimises the expected number of wrong words; the most probable
// sequence (Viterbi) does not. Every position needs a candidate. Time and memory grow with
// the product of the numbers of candidates of two neighbours.
func posteriors(model *ngram.Model, positions [][]candidate, weights []float64) (out [][][]float64, err error) {
	language := make([][]float64, len(positions)) // [i][s·K_i + c]: ln P of candidate c at i after candidate s at i−1
	for i, candidates := range positions {
		if len(candidates) == 0 {
			return nil, fmt.Errorf("decoding: position %d: no candidate", i)
		}
		before := []candidate{{}}
		if i > 0 {
			before = positions[i-1]
		}
		for _, b := range before {
			after := model.After([]int32{b.word}[:min(i, 1)], i < 2)
			for _, c := range candidates {
				language[i] = append(language[i], math.Log(after.Probability(c.word)))
			}
		}
	}
	for _, weight := range weights {
		of, err := forwardBackward(positions, language, weight)
		if err != nil {
			return nil, err
		}
		out = append(out, of)
	}
	return out, nil
}

// forwardBackward is posteriors for one weight, in logarithms.
func forwardBackward(positions [][]candidate, language [][]float64, weight float64) ([][]float64, error) {
	n := len(positions)
	if n == 0 {
		return nil, nil
	}
	steps, alpha := make([][]float64, n), make([][]float64, n)
	previous := []float64{0}
	for i, candidates := range positions {
		k := len(candidates)
		steps[i], alpha[i] = make([]float64, len(language[i])), make([]float64, k)
		for j, v := range language[i] {
			c := candidates[j%k]
			steps[i][j] = c.emission + (1-weight)*c.prior + weight*v
		}
		terms := make([]float64, len(previous))
		for c := range candidates {
			for s, a := range previous {
				terms[s] = a + steps[i][s*k+c]
			}
			alpha[i][c] = floats.LogSumExp(terms)
		}
		previous = alpha[i]
	}
	total := floats.LogSumExp(alpha[n-1])
	if math.IsInf(total, 0) || math.IsNaN(total) {
		return nil, fmt.Errorf("decoding: the outputs are impossible for all candidates")
	}
	out, beta := make([][]float64, n), make([]float64, len(alpha[n-1]))
	for i := n - 1; i >= 0; i-- {
		k := len(positions[i])
		out[i] = make([]float64, k)
		for c, a := range alpha[i] {
			out[i][c] = math.Exp(a + beta[c] - total)
		}
		if i == 0 {
			break
		}
		earlier, terms := make([]float64, len(alpha[i-1])), make([]float64, k)
		for s := range earlier {
			for c := range terms {
				terms[c] = steps[i][s*k+c] + beta[c]
			}
			earlier[s] = floats.LogSumExp(terms)
		}
		beta = earlier
	}
	return out, nil
}
