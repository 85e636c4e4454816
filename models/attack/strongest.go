package attack

import (
	"fmt"
	"math"
	"math/rand/v2"

	"mldpbench/metrics"
	"mldpbench/stream"
)

// Attempt is what an attacker of a panel found, or what the best of them did.
type Attempt struct {
	Name    string // of the best: "one and other" where the halves chose two
	Outcome Outcome
}

// FindStrongest splits the documents into random halves. The best attacker on
// one half is reported on the other, both ways round, so that the choice does
// not flatter the result and every document counts. The interval is over
// documents, resampled with all their items within each half at the given
// level, and the choice is made anew in every resample: it holds the noise of
// the choice, and as Right is a mean over independent releases, theirs. A
// resample whose halves have none of the chosen attackers' items says nothing and
// does not count. Ties go to the first. Value is unknown, of no items, where the
// halves themselves have none.
//
// All attempts, one at least, must be on the same documents, and on shares of right answers of
// the same kind of item; attackers of words may have looked at different
// positions.
func FindStrongest(attempts []Attempt, resamples int, level float64, seed stream.Seed) (Attempt, error) {
	for _, a := range attempts {
		if len(a.Outcome.Items) == 0 {
			return Attempt{}, fmt.Errorf("strongest attacker: %s, %s: no right or wrong answers by item", a.Name,
				a.Outcome.Column)
		}
	}
	by := tallies(attempts)
	documents := len(by[0])
	order := seed.Derive("halves").Rand().Perm(documents)
	halves := [2][]int{order[:documents/2], order[documents/2:]}
	chosen := by.choose(halves)
	out := chosen.report(attempts)

	rng := seed.Derive("interval").Rand()
	var drawn []float64
	for range resamples {
		again := [2][]int{resample(halves[0], rng), resample(halves[1], rng)}
		if share := by.choose(again).share(); !math.IsNaN(share) {
			drawn = append(drawn, share)
		}
	}
	out.Outcome.Value = metrics.Percentiles(chosen.share(), drawn, level)
	return out, nil
}

// resample draws as many documents as there are, with replacement.
func resample(documents []int, rng *rand.Rand) []int {
	out := make([]int, len(documents))
	for i := range out {
		out[i] = documents[rng.IntN(len(documents))]
	}
	return out
}

// tally counts items: the sum of Right, and how many.
type tally struct{ right, n float64 }

func (t *tally) add(o tally) {
	t.right += o.right
	t.n += o.n
}

// byDocument are the tallies of each attempt, by document.
type byDocument [][]tally

// tallies counts the items of every attempt.
func tallies(attempts []Attempt) byDocument {
	documents := 0
	for _, a := range attempts {
		for _, item := range a.Outcome.Items {
			documents = max(documents, item.Document+1)
		}
	}
	by := make(byDocument, len(attempts))
	for i, a := range attempts {
		by[i] = make([]tally, documents)
		for _, item := range a.Outcome.Items {
			by[i][item.Document].add(tally{item.Right, 1})
		}
	}
	return by
}

// sum is the tally of an attempt on some documents.
func (by byDocument) sum(attempt int, documents []int) tally {
	var t tally
	for _, d := range documents {
		t.add(by[attempt][d])
	}
	return t
}

// best is the attempt with the largest share of right answers on some documents.
func (by byDocument) best(documents []int) int {
	best := 0
	most := math.Inf(-1)
	for i := range by {
		if t := by.sum(i, documents); t.right/t.n > most {
			best = i
			most = t.right / t.n
		}
	}
	return best
}

// choice has the best attempt on each half, with its tally on the other.
type choice struct {
	best [2]int
	on   [2]tally
}

// choose chooses on each half.
func (by byDocument) choose(halves [2][]int) choice {
	var c choice
	for h, half := range halves {
		c.best[h] = by.best(half)
		c.on[h] = by.sum(c.best[h], halves[1-h])
	}
	return c
}

// share of right answers on both halves; not a number where there are no items.
func (c choice) share() float64 {
	return (c.on[0].right + c.on[1].right) / (c.on[0].n + c.on[1].n)
}

// report names the chosen attempts and weighs their floors and ceilings by items.
func (c choice) report(attempts []Attempt) Attempt {
	first := attempts[c.best[0]]
	second := attempts[c.best[1]]
	n := c.on[0].n + c.on[1].n
	weigh := func(a, b float64) float64 { return (c.on[0].n*a + c.on[1].n*b) / n }
	out := Attempt{Name: first.Name}
	if c.best[0] != c.best[1] {
		out.Name += " and " + second.Name
	}
	out.Outcome.Count = int(n)
	out.Outcome.Floor = weigh(first.Outcome.Floor, second.Outcome.Floor)
	out.Outcome.Ceiling = weigh(first.Outcome.Ceiling, second.Outcome.Ceiling)
	return out
}
