package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/list"
)

// maskedWeights are the exponents of the model tried on validation words: 0 is
// the channel alone, infinity the model alone.
var maskedWeights = []float64{0, 0.25, 0.5, 0.75, 1, 1.5, math.Inf(1)}

// maskedRounds is how often the best words become the context of the next ones.
const maskedRounds = 3

func init() {
	// Names the word of highest posterior: the mechanism's probability of the output
	// times that of the model in the released text, see outcome.
	Register(Definition{
		Name: "masked-channel", Version: 2,
		Needs: []Need{NeedsModel, NeedsShadow},
		Columns: []Column{
			{Name: "masked-channel-accuracy", Title: "words found by masked model and channel", Panel: OneWord}},
		Run: maskedWithChannel,
	})
}

// hidden are words of a split to be found, in contexts that change.
type hidden struct {
	target
	split   string
	context [][]int32 // what stands in the places of words, by document
}

// put makes guesses the context and says whether that changed it.
func (h hidden) put(guesses []int32) bool {
	changed := false
	for i, p := range h.places {
		if w := &h.context[p.document][p.position]; *w != guesses[i] {
			*w, changed = guesses[i], true
		}
	}
	return changed
}

// maskedWithChannel goes round by round: in each, the weight that finds most validation
// words is chosen, and the best words become the context of the next. The round
// that finds most validation words is reported. Round 0 is the channel alone, and
// the model alone is a weight of round 1.
func maskedWithChannel(ctx context.Context, s *Situation) ([]Outcome, error) {
	ofHeld, ofTest, err := s.heldAndTest(ctx, max(1, s.Options.Masked/3), s.Options.Masked)
	if err != nil {
		return nil, err
	}
	if len(ofTest.places) == 0 {
		return nil, fmt.Errorf("no word of the mechanism in the test split")
	}
	held := hidden{ofHeld, Validation, list.Map(ofHeld.noisy, slices.Clone)}
	test := hidden{ofTest, Test, list.Map(ofTest.noisy, slices.Clone)}
	emissions, err := s.emissions(held.noisy, test.noisy)
	if err != nil {
		return nil, err
	}
	var rounds []form
	for round := range maskedRounds + 1 {
		weights := maskedWeights
		if round == 0 {
			weights = weights[:1]
		}
		guesses, err := s.unmask(ctx, held, emissions, weights...)
		if err != nil {
			return nil, err
		}
		var forms []form
		for k, w := range weights {
			forms = append(forms, form{fmt.Sprintf("weight %v of the masked model in round %d", w, round), guesses[k],
				func() ([]int32, error) {
					found, err := s.unmask(ctx, test, emissions, w)
					return slices.Concat(found...), err // it is one list
				}})
		}
		best := held.best(forms)
		found, err := best.test()
		if err != nil {
			return nil, err
		}
		rounds = append(rounds, form{best.name, best.held, known(found)})
		if round == 0 {
			continue
		}
		if moved := held.put(best.held); !test.put(found) && !moved {
			break // a fixed point
		}
	}
	o, err := s.bestForm("masked-channel-accuracy", rounds, held.target, test.target)
	return []Outcome{o}, err
}

// posterior is ln P(y|x) + max(0, 1−w)·ln π(x) + w·ln p(x | context), up to a
// constant: for w = 0 the channel alone with the prior, for w = 1 Bayes' rule
// under the language model, for an infinite w the model alone. dst is
// overwritten.
func posterior(dst, emission, prior, model []float64, w float64) {
	if math.IsInf(w, 1) {
		copy(dst, model)
		return
	}
	own := max(0, 1-w)
	for x, e := range emission {
		dst[x] = e + float64(own*prior[x])
		if w > 0 {
			dst[x] += float64(w * model[x])
		}
	}
}

// unmask returns the words of highest posterior, by weight, in the current
// contexts. A word that was kept is known.
func (s *Situation) unmask(ctx context.Context, h hidden, emissions map[int32][]float64, weights ...float64) ([][]int32,
	error) {
	out := make([][]int32, len(weights))
	for k := range out {
		out[k] = make([]int32, len(h.places))
	}
	scores, prior := make([]float64, s.Words), list.Map(s.prior(), math.Log)
	take := func(i int, logs []float64) {
		y := h.places[i].in(h.noisy)
		for k, w := range weights {
			if out[k][i] = y; emissions[y] != nil {
				posterior(scores, emissions[y], prior, logs, w)
				out[k][i] = int32(floats.MaxIdx(scores))
			}
		}
	}
	if len(weights) == 1 && weights[0] == 0 { // the model is not needed
		for i := range h.places {
			take(i, nil)
		}
		return out, nil
	}
	return out, s.eachMasked(ctx, h.split, h.places, h.context, take)
}
