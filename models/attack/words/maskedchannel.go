package words

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/list"
	"mldpbench/models/attack"
)

// maskedWeights are the exponents of the model tried on validation words: 0 is
// the channel alone, infinity the model alone.
var maskedWeights = []float64{0, 0.25, 0.5, 0.75, 1, 1.5, math.Inf(1)}

// maskedRounds is how often the best words become the context of the next ones.
const maskedRounds = 3

// masked-channel names the word of highest posterior: the mechanism's probability of the
// output times that of the model in the released text, see outcomes.
func init() {
	attack.Register(attack.Definition{
		Name:    "masked-channel",
		Version: 2,
		Needs:   []attack.Need{attack.NeedsModel, attack.NeedsShadow},
		Columns: []attack.Column{{
			Name:  "masked-channel-accuracy",
			Title: "words found by masked model and channel",
			Panel: attack.OneWord,
		}},
		Start: startUnmasking,
	})
}

// hidden are words of a split to be found, in contexts that change.
type hidden struct {
	secrets
	split   attack.Split
	context [][]int32 // what stands in the places of words, by document
}

func newHidden(s secrets, split attack.Split) hidden {
	return hidden{s, split, list.Map(s.noisy, slices.Clone)}
}

// put makes guesses the context and says whether that changed it.
func (h hidden) put(guesses []int32) bool {
	changed := false
	for i, p := range h.places {
		w := &h.context[p.document][p.position]
		if *w != guesses[i] {
			*w = guesses[i]
			changed = true
		}
	}
	return changed
}

// unmasking is the attack; emissions are complete after the rows of the channel.
type unmasking struct {
	*attack.Target
	held, test hidden
	emissions  attack.Emissions
}

// startUnmasking looks up what was released.
func startUnmasking(ctx context.Context, t *attack.Target) (attack.Attack, error) {
	held, test, err := heldAndTest(ctx, t, max(1, t.Options.Masked/3), t.Options.Masked)
	if err != nil {
		return attack.Attack{}, err
	}
	if len(test.places) == 0 {
		return attack.Attack{}, fmt.Errorf("no word of the mechanism in the test split")
	}
	u := unmasking{
		Target:    t,
		held:      newHidden(held, attack.Validation),
		test:      newHidden(test, attack.Test),
		emissions: t.NewEmissions(held.noisy, test.noisy),
	}
	return attack.Attack{
		Take:   u.emissions.Take,
		Finish: func() ([]attack.Outcome, error) { return u.outcomes(ctx) },
	}, nil
}

// outcomes goes round by round: in each, the weight that finds most validation
// words is chosen, and the best words become the context of the next. The round
// that finds most validation words is reported. Round 0 is the channel alone, and
// the model alone is a weight of round 1.
func (u unmasking) outcomes(ctx context.Context) ([]attack.Outcome, error) {
	var rounds []form
	for round := range maskedRounds + 1 {
		best, named, err := u.round(ctx, round)
		if err != nil {
			return nil, err
		}
		rounds = append(rounds, form{best.name, best.held, found(named)})
		if round == 0 {
			continue
		}
		heldMoved := u.held.put(best.held)
		testMoved := u.test.put(named)
		if !heldMoved && !testMoved {
			break // a fixed point
		}
	}
	o, err := bestForm(u.Target, "masked-channel-accuracy", rounds, u.held.secrets, u.test.secrets)
	return []attack.Outcome{o}, err
}

// round returns the best form in the current contexts, and what it names of the test words.
func (u unmasking) round(ctx context.Context, round int) (form, []int32, error) {
	weights := maskedWeights
	if round == 0 {
		weights = weights[:1]
	}
	guesses, err := u.unmask(ctx, u.held, weights)
	if err != nil {
		return form{}, nil, err
	}
	var forms []form
	for k, w := range weights {
		name := fmt.Sprintf("weight %v of the masked model in round %d", w, round)
		forms = append(forms, form{name, guesses[k], func() ([]int32, error) {
			named, err := u.unmask(ctx, u.test, []float64{w})
			if err != nil {
				return nil, err
			}
			return named[0], nil
		}})
	}
	best := u.held.best(forms)
	named, err := best.test()
	return best, named, err
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
func (u unmasking) unmask(ctx context.Context, h hidden, weights []float64) ([][]int32, error) {
	out := list.Map(weights, func(float64) []int32 { return h.each(h.noisy) })
	scores := make([]float64, u.Words.Count)
	prior := list.Map(u.Prior(), math.Log)
	take := func(i int, logs []float64) {
		emission := u.emissions[h.places[i].in(h.noisy)]
		if emission == nil {
			return
		}
		for k, w := range weights {
			posterior(scores, emission, prior, logs, w)
			out[k][i] = int32(floats.MaxIdx(scores))
		}
	}
	if len(weights) == 1 && weights[0] == 0 { // the model is not needed
		for i := range h.places {
			take(i, nil)
		}
		return out, nil
	}
	return out, eachMasked(ctx, u.Target, h.split, h.places, h.context, take)
}
