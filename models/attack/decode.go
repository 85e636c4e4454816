package attack

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"mldpbench/models/ngram"
)

// Candidate is a word that an output may stand for.
type Candidate struct {
	Word     int32
	Emission float64 // ln P(y|word)
	Prior    float64 // ln π(word)
}

// posterior decodes a text in context: the hidden Markov model with hidden
// words x, outputs y, emissions P(y|x) and transitions of an n-gram model,
//
//	P(x | y) ∝ Π_i P(y_i|x_i) · π(x_i)^{1−λ} · P(x_i | x_{i−n+1} … x_{i−1})^λ,
//
// with λ the weight of the language model: 0 is MAP word by word under the
// prior π, 1 is Bayes' rule under the language model. It returns, for every
// position, the posterior probability of each of its candidates
// (forward–backward, in logarithms), of which the largest minimises the
// expected number of wrong words; the most probable sequence (Viterbi) does
// not.
//
// Every position needs at least one possible candidate. Time and memory grow
// with the product of the numbers of candidates of n neighbouring positions.
func (l *lattice) posterior(weight float64) ([][]float64, error) {
	positions, n := l.positions, len(l.positions)
	if n == 0 {
		return nil, nil
	}
	// A state at i is the candidates of the positions i−memory+1 … i; steps[i]
	// leads from the states at i−1 to those at i: [state·K_i + candidate].
	steps := make([][]float64, n)
	alpha := make([][]float64, n)
	previous := []float64{0}
	for i := range positions {
		steps[i] = l.weighted(i, weight)
		k, tail := len(positions[i]), l.states(i-1, l.memory-1)
		// States that agree in all but their oldest word lead to the same
		// state: a sum of exponentials, its largest term taken out.
		top, forward := make([]float64, tail*k), make([]float64, tail*k)
		for j := range top {
			top[j] = math.Inf(-1)
		}
		for s, a := range previous {
			to := top[s%tail*k:]
			for c, v := range steps[i][s*k : (s+1)*k] {
				to[c] = max(to[c], a+v)
			}
		}
		for s, a := range previous {
			from := s % tail * k
			for c, v := range steps[i][s*k : (s+1)*k] {
				if t := top[from+c]; !math.IsInf(t, -1) {
					forward[from+c] += math.Exp(a + v - t)
				}
			}
		}
		for j, t := range top {
			forward[j] = math.Log(forward[j]) + t
			if math.IsInf(t, -1) {
				forward[j] = t
			}
		}
		alpha[i], previous = forward, forward
	}
	total := floats.LogSumExp(alpha[n-1])
	if math.IsInf(total, 0) || math.IsNaN(total) {
		return nil, fmt.Errorf("decoding: the outputs are impossible for all candidates")
	}
	out := make([][]float64, n)
	beta := make([]float64, len(alpha[n-1]))
	for i := n - 1; i >= 0; i-- {
		k := len(positions[i])
		out[i] = make([]float64, k)
		for s, a := range alpha[i] {
			out[i][s%k] += math.Exp(a + beta[s] - total)
		}
		if i == 0 {
			break
		}
		tail := l.states(i-1, l.memory-1)
		earlier := make([]float64, len(alpha[i-1]))
		terms := make([]float64, k)
		for s := range earlier {
			for c := range k {
				terms[c] = steps[i][s*k+c] + beta[s%tail*k+c]
			}
			earlier[s] = floats.LogSumExp(terms)
		}
		beta = earlier
	}
	return out, nil
}

// lattice is one text with its candidates.
type lattice struct {
	positions [][]Candidate
	memory    int // number of words that a state remembers
	// language[i] is ln P of every candidate at i after every state at i−1.
	language [][]float64
}

func newLattice(model *ngram.Model, positions [][]Candidate) (*lattice, error) {
	order := model.Order()
	if order < 2 {
		return nil, fmt.Errorf("decoding: order = %d: must be >= 2", order)
	}
	l := &lattice{positions: positions, memory: order - 1}
	for i := range positions {
		if len(positions[i]) == 0 {
			return nil, fmt.Errorf("decoding: position %d: no candidate", i)
		}
		l.language = append(l.language, l.step(model, i))
	}
	return l, nil
}

// states returns the number of combinations of the candidates of the last count
// positions up to i.
func (l *lattice) states(i, count int) int {
	n := 1
	for j := max(0, i-count+1); j <= i; j++ {
		n *= len(l.positions[j])
	}
	return n
}

// weighted returns the log-weight of the step from every state at i−1 to every
// candidate at i.
func (l *lattice) weighted(i int, weight float64) []float64 {
	k := len(l.positions[i])
	alone := make([]float64, k)
	for c, candidate := range l.positions[i] {
		alone[c] = candidate.Emission + (1-weight)*candidate.Prior
	}
	out := make([]float64, len(l.language[i]))
	for j, v := range l.language[i] {
		out[j] = alone[j%k] + weight*v
	}
	return out
}

// step returns the language model's ln P of every candidate at i after every
// state at i−1.
func (l *lattice) step(model *ngram.Model, i int) []float64 {
	from, k := l.states(i-1, l.memory), len(l.positions[i])
	out := make([]float64, from*k)
	first := max(0, i-l.memory)
	history := make([]int32, i-first)
	for s := range from {
		for j, rest := i-1, s; j >= first; j-- {
			n := len(l.positions[j])
			history[j-first] = l.positions[j][rest%n].Word
			rest /= n
		}
		after := model.After(history, first == 0)
		for c, candidate := range l.positions[i] {
			out[s*k+c] = math.Log(after.Probability(candidate.Word))
		}
	}
	return out
}
