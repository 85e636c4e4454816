package attack

import (
	"fmt"
	"math"

	"mldpbench/metrics"
	"mldpbench/stream"
)

// Item is one part of what was attacked: a document, or a word of one.
type Item struct {
	Document int     // of the test split
	Position int     // of the word, Whole for a document
	Right    float64 // share of right answers, over releases where there are several
}

// Whole is the Position of an item that is a whole document.
const Whole = -1

// Attempt is what an attacker of a panel found, or what the best of them did.
type Attempt struct {
	Name    string // of the best: "one and other" where the halves chose two
	Outcome Outcome
}

// tally counts the items of one document: the sum of Right, and how many.
type tally struct{ right, n float64 }

func (t *tally) add(o tally) { t.right, t.n = t.right+o.right, t.n+o.n }

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
func FindStrongest(attempts []Attempt, resamples int, level float64, seed stream.Seed) (out Attempt, err error) {
	documents := 0
	for _, a := range attempts {
		for _, item := range a.Outcome.Items {
			documents = max(documents, item.Document+1)
		}
	}
	counts := make([][]tally, len(attempts)) // by document
	for i, a := range attempts {
		if len(a.Outcome.Items) == 0 {
			return out, fmt.Errorf("strongest attacker: %s, %s: no right or wrong answers by item", a.Name,
				a.Outcome.Column)
		}
		counts[i] = make([]tally, documents)
		for _, item := range a.Outcome.Items {
			counts[i][item.Document].add(tally{item.Right, 1})
		}
	}
	sum := func(attempt int, of []int) (t tally) {
		for _, d := range of {
			t.add(counts[attempt][d])
		}
		return t
	}
	// chosen are the best attempts on each half, with their counts on the other.
	chosen := func(halves [2][]int) (best [2]int, t [2]tally) {
		for h, half := range halves {
			most := math.Inf(-1)
			for i := range attempts {
				if t := sum(i, half); t.right/t.n > most {
					best[h], most = i, t.right/t.n
				}
			}
			t[h] = sum(best[h], halves[1-h])
		}
		return best, t
	}
	share := func(t [2]tally) float64 { return (t[0].right + t[1].right) / (t[0].n + t[1].n) }
	order := seed.Derive("halves").Rand().Perm(documents)
	halves := [2][]int{order[:documents/2], order[documents/2:]}
	best, t := chosen(halves)
	x, y := attempts[best[0]], attempts[best[1]]
	n := t[0].n + t[1].n
	out.Name, out.Outcome.Count = x.Name, int(n)
	out.Outcome.Floor = (t[0].n*x.Outcome.Floor + t[1].n*y.Outcome.Floor) / n
	out.Outcome.Ceiling = (t[0].n*x.Outcome.Ceiling + t[1].n*y.Outcome.Ceiling) / n
	if best[0] != best[1] {
		out.Name += " and " + y.Name
	}
	rng := seed.Derive("interval").Rand()
	var drawn []float64
	for range resamples {
		var again [2][]int
		for h, half := range halves {
			for range half {
				again[h] = append(again[h], half[rng.IntN(len(half))])
			}
		}
		if _, t := chosen(again); !math.IsNaN(share(t)) {
			drawn = append(drawn, share(t))
		}
	}
	out.Outcome.Value = metrics.Percentiles(share(t), drawn, level)
	return out, nil
}
