package metrics

import (
	"math/rand/v2"
	"slices"
)

// Contest chooses, of several adversaries who tell one of two originals, the best on some rounds
// of a game and counts on the others how often he is right.
type Contest struct {
	adversaries []adversary
	rounds      [2]int // by half
}

// An adversary is one of a contest.
type adversary struct {
	name  string
	right [2]int // by half
}

// Half is what a round of a contest is for.
type Half int

// Rounds choose an adversary, or count for him.
const (
	choosing Half = iota
	counting
)

// HalfOf is what every second of some numbered rounds is for.
func HalfOf(number int) Half { return Half(number % 2) }

// NewContest is one of adversaries with names.
func NewContest(names ...string) *Contest {
	c := &Contest{}
	for _, name := range names {
		c.adversaries = append(c.adversaries, adversary{name: name})
	}
	return c
}

// Round lets every adversary guess by his margin, above zero for the first original and below
// for the second; who cannot tell draws. The released one was the first where coin is 0, the
// second where it is 1.
func (c *Contest) Round(half Half, margins []float64, coin int, rng *rand.Rand) {
	c.rounds[half]++
	for k, margin := range margins {
		guess := rng.IntN(2) // drawn by all, so that the next draws are the same
		if margin < 0 {
			guess = 1
		} else if margin > 0 {
			guess = 0
		}
		if guess == coin {
			c.adversaries[k].right[half]++
		}
	}
}

// Result returns the best adversary, and in how many of the rounds that count he was right. The
// best has most right guesses in the rounds that choose; ties go to the first.
func (c *Contest) Result() (best string, right, rounds int) {
	fewer := func(a, b adversary) int { return a.right[choosing] - b.right[choosing] }
	chosen := slices.MaxFunc(c.adversaries, fewer)
	return chosen.name, chosen.right[counting], c.rounds[counting]
}
