package attack

import (
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/check"
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

// Attempt is what one attacker of a panel found.
type Attempt struct {
	Name    string
	Outcome Outcome // with Items
	// Plain is the same outcome on unchanged text (identity), nil if it was not
	// measured.
	Plain *Outcome
}

// Strongest is the best attacker of a panel.
type Strongest struct {
	Name  string
	Value metrics.Interval // on documents on which it was not chosen
	Floor float64
	Count int // items of Value
	// Weak are the attackers that do not reach their own reference on unchanged
	// text: the upper end of their interval there is below their ceiling. They are
	// not chosen unless all are weak.
	Weak []string
	// Order are all names, the best on the documents for the choice first.
	Order []string
}

// FindStrongest chooses the best attacker on a random half of the documents and
// reports it on the other half, so that the choice does not flatter the result.
// The interval is over documents, resampled with all their items, at the given
// level; as Right is a mean over independent releases and the noise of documents
// is independent, it holds the noise of releases too. Ties go to the first.
//
// All attempts must be on the same documents, and on shares of right answers of
// the same kind of item; attackers of words may have looked at different
// positions.
func FindStrongest(attempts []Attempt, resamples int, level float64, seed stream.Seed) (Strongest, error) {
	var out Strongest
	for _, e := range []error{check.AtLeast("attempts", len(attempts), 1), check.AtLeast("resamples", resamples, 1),
		check.Inside("level", level, 0, 1)} {
		if e != nil {
			return out, fmt.Errorf("strongest attacker: %w", e)
		}
	}
	documents := 0
	for _, a := range attempts {
		if len(a.Outcome.Items) == 0 {
			return out, fmt.Errorf("strongest attacker: %s, %s: no right or wrong answers by item", a.Name,
				a.Outcome.Column)
		}
		for _, item := range a.Outcome.Items {
			documents = max(documents, item.Document+1)
		}
	}
	choosing := make([]bool, documents)
	for _, i := range seed.Derive("halves").Rand().Perm(documents)[:documents/2] {
		choosing[i] = true
	}
	type ranked struct {
		at    int
		weak  bool
		share float64
	}
	var order []ranked
	for i, a := range attempts {
		right, n := 0.0, 0
		for _, item := range a.Outcome.Items {
			if choosing[item.Document] {
				right, n = right+item.Right, n+1
			}
		}
		r := ranked{i, a.Plain != nil && a.Plain.Value.High < a.Plain.Ceiling, right / float64(n)}
		if r.weak {
			out.Weak = append(out.Weak, a.Name)
		}
		order = append(order, r)
	}
	slices.SortStableFunc(order, func(a, b ranked) int {
		switch {
		case a.weak != b.weak && b.weak, a.weak == b.weak && a.share > b.share:
			return -1
		case a.weak != b.weak, a.share < b.share:
			return 1
		}
		return 0
	})
	for _, r := range order {
		out.Order = append(out.Order, attempts[r.at].Name)
	}
	best := attempts[order[0].at]
	out.Name, out.Floor = best.Name, best.Outcome.Floor
	var held []Item
	for _, item := range best.Outcome.Items {
		if !choosing[item.Document] {
			held = append(held, item)
		}
	}
	out.Count = len(held)
	out.Value = ShareOf(held, resamples, level, seed.Derive("interval"))
	return out, nil
}

// ShareOf is the mean of Right with its percentile interval over resamples of
// documents; NaN without items.
func ShareOf(items []Item, resamples int, level float64, seed stream.Seed) metrics.Interval {
	type document struct{ right, n float64 }
	at, all := map[int]int{}, []document(nil)
	for _, item := range items {
		i, met := at[item.Document]
		if !met {
			i = len(all)
			at[item.Document], all = i, append(all, document{})
		}
		all[i].right, all[i].n = all[i].right+item.Right, all[i].n+1
	}
	share := func(pick func(i int) int) float64 {
		var right, n float64
		for i := range all {
			d := all[pick(i)]
			right, n = right+d.right, n+d.n
		}
		return right / n
	}
	if len(all) == 0 {
		return metrics.Interval{Estimate: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	rng := seed.Rand()
	drawn := make([]float64, resamples)
	for i := range drawn {
		drawn[i] = share(func(int) int { return rng.IntN(len(all)) })
	}
	return metrics.Percentiles(share(func(i int) int { return i }), drawn, level)
}

// wordItems are the right and wrong answers at places.
func wordItems(at []place, right func(i int) bool) []Item {
	items := make([]Item, len(at))
	for i, p := range at {
		items[i] = Item{Document: p.document, Position: p.position}
		if right(i) {
			items[i].Right = 1
		}
	}
	return items
}

// wordItems are those of all words of the mechanism in documents.
func (s *Situation) wordItems(documents [][]int32, right func(p place) bool) []Item {
	at := s.places(documents, math.MaxInt, "")
	return wordItems(at, func(i int) bool { return right(at[i]) })
}
