package channel

import (
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/stats"
)

// Decoder holds an attacker's guess for every output: g(y) = argmax_x
// π(x)·P(y|x) over all inputs, the MAP decision, which is optimal under 0/1
// loss. Ties go to the smallest input. Guess is −1 for an output that no input
// of positive prior can produce.
type Decoder struct{ Guess []int32 }

// outputDecoder guesses the output itself, and for an output that is no input the most
// probable input.
func outputDecoder(prior []float64, outputs int) Decoder {
	d := priorDecoder(prior, outputs)
	for y := range min(len(prior), outputs) {
		d.Guess[y] = int32(y)
	}
	return d
}

// priorDecoder guesses the most probable input, whatever the output.
func priorDecoder(prior []float64, outputs int) Decoder {
	return Decoder{slices.Repeat([]int32{likeliest(prior)}, outputs)}
}

// Error is E_M, 0/1 loss, under one prior.
type Error struct {
	// MAP is exact where the channel is known. Else it is the smallest error of three
	// attackers: who learned the channel from one set of draws, measured on another, who
	// guesses the output itself, measured on the same draws, and who guesses the most
	// probable input whatever he sees. All are real attackers, so each error is an upper
	// bound in expectation on that of the ideal one. Of two errors that were measured the
	// smaller is below the smaller truth in expectation, by less than their sampling
	// errors: against the mechanism. The interval holds for the smaller truth, too. More
	// draws to learn from bring it closer to the ideal one.
	MAP     stats.Interval
	Decoder Decoder
	By      Guesser // whose error it is
	// Of draws:
	Lower     float64 // judged on the draws learned from: a lower bound in expectation on the ideal error
	Moved     float64 // by how much the last doubling of the draws lowered the error of who learned
	Remaining float64 // estimate of how much further doublings would lower MAP
	Settled   bool    // the last two doublings moved it within the tolerance
}

// Guesser is a kind of attacker.
type Guesser int

// Guessers: MAP of the channel, exact or learned; of the output itself, and of the most
// probable input where it is no input; of the most probable input, whatever the output.
const (
	ByChannel Guesser = iota
	byOutput
	byPrior
)

// Says says what an attacker does, where one learned the channel from so many draws of
// each word: "an attacker who …".
func (g Guesser) Says(draws int) string {
	learned := fmt.Sprintf("learned from %d draws a word", draws)
	switch g {
	case byOutput:
		return "guesses the output itself, as one errs more who " + learned
	case byPrior:
		return "guesses the most frequent word, as one errs more who " + learned
	}
	return learned
}

// levelOfEach is the confidence of each of two intervals for that of the smaller of two
// errors to hold with the given one. Its High fails only if one of two does, its Low only
// if that of the smaller truth does: three tails, not two.
func levelOfEach(level float64) float64 { return 1 - 2*(1-level)/3 }

// bounded is the error of who learned the channel, or that of who guesses the output itself
// or the most probable input, if it is smaller. Both are measured on the same draws. What
// more draws would still lower is counted from there.
func (e Error) bounded(prior []float64, outputs int, measure func(Decoder) stats.Interval) Error {
	learned := e.MAP
	output := outputDecoder(prior, outputs)
	read := measure(output)
	if read.Estimate < e.MAP.Estimate {
		e.MAP = read
		e.Decoder = output
		e.By = byOutput
	}
	blind := 1 - slices.Max(prior) // exact
	if blind < e.MAP.Estimate {
		e.MAP = stats.Exactly(blind)
		e.Decoder = priorDecoder(prior, outputs)
		e.By = byPrior
	}
	e.MAP.High = min(e.MAP.High, blind)
	e.MAP.Low = min(e.MAP.Low, learned.Low)
	e.Remaining = max(0, e.Remaining-(learned.Estimate-e.MAP.Estimate))
	return e
}

// measured returns the error of a decoder on draws it has not seen, under a
// prior. The interval is Hoeffding's, which holds for every sample size and
// prior: with weights w = π(x)/draws, the half-width is √(Σw²·ln(2/(1−level))/2).
func (d Decoder) measured(prior []float64, fresh Draws, level float64) stats.Interval {
	right := 0.0
	squares := 0.0
	for x, p := range prior {
		hits := 0.0
		fresh.of(x, func(y int32, p float64) {
			if int(d.Guess[y]) == x {
				hits += p
			}
		})
		right += p * hits / float64(fresh.PerInput)
		squares += float64(p*p) / float64(fresh.PerInput)
	}
	half := math.Sqrt(squares * math.Log(2/(1-level)) / 2)
	wrong := min(1, max(0, 1-right))
	return stats.Interval{
		Estimate: wrong,
		Low:      max(0, wrong-half),
		High:     min(1, wrong+half),
	}
}
