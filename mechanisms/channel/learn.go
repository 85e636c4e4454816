package channel

import "slices"

// learn returns the guesses of an attacker who estimates the channel from draws, under
// each prior: the share of each output among the draws of an input, reduced to leave a
// share of 1/(draws + 1) for outputs not seen. Half of that share goes to the input
// itself, which most mechanisms favour, and half is spread evenly over all outputs.
// Inputs must be outputs as well. lower are the errors of the best guessers on the draws
// themselves: 1 − Σ_y max_x π(x)·count(x, y)/draws.
func learn(d Draws, priors [][]float64, outputs int) (decoders []Decoder, lower []float64) {
	n := float64(d.PerInput)
	unseen := 1 / float64(d.PerInput+1)
	spread := unseen / 2 / float64(outputs)
	learners := make([]learner, len(priors))
	for i, prior := range priors {
		learners[i] = newLearner(prior, outputs, spread)
	}
	row := make([]float64, outputs)
	counts := make([]float64, outputs)
	var seen []int32
	for x := range d.inputs() {
		seen = append(seen[:0], int32(x))
		row[x] = spread + unseen/2
		d.of(x, func(y int32, p float64) {
			if row[y] == 0 {
				seen = append(seen, y)
				row[y] = spread
			}
			row[y] += float64((1 - unseen) / n * p)
			counts[y] += p
		})
		for _, l := range learners {
			l.take(x, seen, row, counts, n)
		}
		for _, y := range seen {
			row[y] = 0
			counts[y] = 0
		}
	}
	for _, l := range learners {
		decoders = append(decoders, Decoder{l.all.input})
		lower = append(lower, l.lower())
	}
	return decoders, lower
}

// learner is who learns under one prior.
type learner struct {
	prior []float64
	best  []float64 // by output: the largest joint share among the draws
	all   guesses   // of the estimated channel
}

// newLearner guesses the most probable input for outputs that nobody gave.
func newLearner(prior []float64, outputs int, spread float64) learner {
	likely := likeliest(prior)
	joint := slices.Repeat([]float64{prior[likely] * spread}, outputs)
	return learner{
		prior: prior,
		best:  make([]float64, outputs),
		all:   guesses{joint, slices.Repeat([]int32{likely}, outputs)},
	}
}

// take processes the outputs that were seen of an input, with the row that is estimated and
// how often each was seen in n draws.
func (l learner) take(x int, seen []int32, row, counts []float64, n float64) {
	for _, y := range seen {
		l.best[y] = max(l.best[y], l.prior[x]*counts[y]/n)
		l.all.take(y, l.prior[x]*row[y], int32(x))
	}
}

// lower is the error of the best guesser on the draws themselves.
func (l learner) lower() float64 {
	right := 0.0
	for _, p := range l.best {
		right += p
	}
	return min(1, max(0, 1-right))
}
