package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/list"
	"mldpbench/metrics"
)

// WordModel is a masked language model over whole words: it prepares to choose
// among candidates.
type WordModel func(candidates []string) (MaskedWords, error)

// MaskedWords returns, for each position of a text, ln p of every candidate as
// the word there, given all other words; the word at the position is not looked
// at. Logarithms need not be those of a distribution over the candidates; a word
// that the model cannot spell has −Inf.
type MaskedWords func(ctx context.Context, words []string, positions []int) ([][]float32, error)

// leastLog is ln p of a word that a model cannot spell: it is never ruled out.
const leastLog = -30

// maskedWeights are the exponents of the model tried on validation words: 0 is
// the channel alone, infinity the model alone.
var maskedWeights = []float64{0, 0.25, 0.5, 0.75, 1, 1.5, math.Inf(1)}

func init() {
	// Masks the words of the released text one by one and names the word that the
	// model finds most probable there.
	Register(Definition{
		Name:  "masked",
		Needs: []Need{NeedsModel, NeedsShadow},
		// The ceiling is what the model finds in plain text.
		Columns:    []Column{{Name: "masked-accuracy", Title: "words found by a masked model", Panel: OneWord}},
		OneRelease: true,
		Run:        runMasked,
	})
	// Names the word of highest posterior: the mechanism's probability of the output
	// times that of the model in the released text, see outcomes.
	Register(Definition{
		Name:  "masked-channel",
		Needs: []Need{NeedsModel, NeedsShadow, NeedsChannel},
		Columns: []Column{
			{Name: "masked-channel-accuracy", Title: "words found by masked model and channel", Panel: OneWord},
			{Name: "masked-channel-alone", Title: "words found by the channel"}, // by MAP with corpus prior
			{Name: "masked-channel-model", Title: "words found by the masked model"},
			{Name: "masked-channel-weight", Title: "weight of the masked model, last round"}, // infinite: the model alone
			{Name: "masked-channel-rounds", Title: "rounds of the masked model"},             // 0: the channel alone
		},
		prepare: prepareMasked,
	})
}

// hidden are words to be found, in contexts that change.
type hidden struct {
	sought
	// context is what stands in the places of words, by document.
	context [][]int32
}

func hide(t sought) *hidden { return &hidden{t, list.Map(t.noisy, slices.Clone)} }

// guesser is the language model over the words of the mechanism.
func (s *Situation) guesser() (MaskedWords, error) {
	return once(s.Releases, "masked words", func() (MaskedWords, error) {
		words := make([]string, s.Words)
		for i := range words {
			words[i] = s.Spelling(int32(i))
		}
		return s.Model(words)
	})
}

// eachMasked calls take with the model's logarithms for every hidden word in its
// context, in order.
func (s *Situation) eachMasked(ctx context.Context, h *hidden, take func(i int, logs []float64)) error {
	ask, err := s.guesser()
	if err != nil {
		return err
	}
	for from, to := 0, 0; from < len(h.places); from = to {
		var positions []int
		document := h.places[from].document
		for ; to < len(h.places) && h.places[to].document == document; to++ {
			positions = append(positions, h.places[to].position)
		}
		logs, err := ask(ctx, list.Map(h.context[document], s.Spelling), positions)
		if err != nil {
			return err
		}
		if len(logs) != len(positions) {
			return fmt.Errorf("the language model answered %d of %d masks", len(logs), len(positions))
		}
		for i, l := range logs {
			if len(l) != s.Words {
				return fmt.Errorf("the language model has %d numbers for %d candidates", len(l), s.Words)
			}
			known := make([]float64, len(l))
			for j, v := range l {
				known[j] = max(leastLog, float64(v))
			}
			take(from+i, known)
		}
	}
	return nil
}

// byModel are the model's own guesses.
func (s *Situation) byModel(ctx context.Context, h *hidden) ([]int32, error) {
	guesses := make([]int32, len(h.places))
	err := s.eachMasked(ctx, h, func(i int, logs []float64) { guesses[i] = int32(floats.MaxIdx(logs)) })
	return guesses, err
}

func runMasked(ctx context.Context, s *Situation) ([]Outcome, error) {
	plain := upTo(wordsOf(s.Test), s.Options.Masked)
	noisy, err := s.Released(ctx, Test)
	if err != nil {
		return nil, err
	}
	h := hide(s.seek(plain, noisy[:len(plain)]))
	if len(h.places) == 0 {
		return nil, fmt.Errorf("no word of the mechanism in the test split kept its place")
	}
	ceiling, err := once(s.Memo, fmt.Sprintf("masked %d", len(plain)), func() (float64, error) {
		unchanged := hide(s.seek(plain, plain))
		guesses, err := s.byModel(ctx, unchanged)
		hits, trials := unchanged.right(guesses, nil)
		return float64(sum(hits)) / float64(sum(trials)), err
	})
	if err != nil {
		return nil, err
	}
	guesses, err := s.byModel(ctx, h)
	if err != nil {
		return nil, err
	}
	o, err := s.found("masked-accuracy", h.sought, guesses, nil)
	o.Ceiling = ceiling
	return []Outcome{o}, err
}

func prepareMasked(ctx context.Context, s *Situation, channel metrics.Channel, draws int) (channelAttack, error) {
	var none channelAttack
	prior, err := s.prior()
	if err != nil {
		return none, err
	}
	held, err := s.sought(ctx, Validation, s.Validation, max(1, s.Options.Masked/3))
	if err != nil {
		return none, err
	}
	test, err := s.sought(ctx, Test, s.Test, s.Options.Masked)
	if err != nil {
		return none, err
	}
	m := maskedChannel{situation: s, draws: draws, prior: list.Map(prior, math.Log), held: hide(held),
		test: hide(test), outputs: s.outputs(held.noisy, test.noisy)}
	if len(m.test.places) == 0 {
		return none, fmt.Errorf("no word of the mechanism in the test split")
	}
	m.emissions = make([][]float64, len(m.outputs))
	for i := range m.emissions {
		m.emissions[i] = make([]float64, channel.Inputs)
	}
	return channelAttack{func(_, x int, row []float64) {
		for i, y := range m.outputs {
			m.emissions[i][x] = math.Log(row[y])
		}
	}, m.outcomes}, nil
}

// maskedChannel is the attack of masked words with the channel.
type maskedChannel struct {
	situation  *Situation
	draws      int
	prior      []float64 // logarithms
	held, test *hidden
	outputs    []int32
	emissions  [][]float64 // ln P(y|x), by output and word
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

// guess returns the words of highest posterior, by weight, in the current
// contexts. A word that was kept is known.
func (m *maskedChannel) guess(ctx context.Context, h *hidden, weights []float64) ([][]int32, error) {
	out := make([][]int32, len(weights))
	for k := range out {
		out[k] = make([]int32, len(h.places))
	}
	scores := make([]float64, len(m.prior))
	take := func(i int, logs []float64) {
		y := h.places[i].in(h.noisy)
		at, known := slices.BinarySearch(m.outputs, y)
		for k, w := range weights {
			if !known {
				out[k][i] = y
				continue
			}
			posterior(scores, m.emissions[at], m.prior, logs, w)
			out[k][i] = int32(floats.MaxIdx(scores))
		}
	}
	if len(weights) == 1 && weights[0] == 0 { // the model is not needed
		for i := range h.places {
			take(i, nil)
		}
		return out, nil
	}
	return out, m.situation.eachMasked(ctx, h, take)
}

// outcomes goes round by round: in each, the weight that finds most validation
// words is chosen, and the best words become the context of the next. The round
// that finds most validation words is reported. Round 0 is the channel alone, and
// the model alone is a weight of round 1.
func (m *maskedChannel) outcomes(ctx context.Context) ([]Outcome, error) {
	s := m.situation
	hits := func(guesses []int32) int {
		h, _ := m.held.right(guesses, nil)
		return sum(h)
	}
	held, err := m.guess(ctx, m.held, []float64{0})
	if err != nil {
		return nil, err
	}
	byChannel, err := m.guess(ctx, m.test, []float64{0})
	if err != nil {
		return nil, err
	}
	alone := byChannel[0]
	best, bestHits, bestRound, bestWeight := alone, hits(held[0]), 0, 0.0
	var byModel []int32
	for round := 1; round <= s.Options.Rounds; round++ {
		tuned, err := m.guess(ctx, m.held, maskedWeights)
		if err != nil {
			return nil, err
		}
		top := 0
		for k := range tuned {
			if hits(tuned[k]) > hits(tuned[top]) { // a tie goes to the smaller weight
				top = k
			}
		}
		weights := []float64{maskedWeights[top]}
		if round == 1 {
			weights = append(weights, math.Inf(1))
		}
		found, err := m.guess(ctx, m.test, weights)
		if err != nil {
			return nil, err
		}
		if round == 1 {
			byModel = found[1]
		}
		if n := hits(tuned[top]); n > bestHits {
			best, bestHits, bestRound, bestWeight = found[0], n, round, maskedWeights[top]
		}
		heldMoved, testMoved := m.held.put(tuned[top]), m.test.put(found[0])
		if !heldMoved && !testMoved {
			break // a fixed point
		}
	}
	var out []Outcome
	for _, v := range []struct {
		column  string
		guesses []int32
	}{{"accuracy", best}, {"alone", alone}, {"model", byModel}} {
		o, err := s.found("masked-channel-"+v.column, m.test.sought, v.guesses, nil)
		if err != nil {
			return nil, err
		}
		o.Draws = m.draws
		if v.column == "model" {
			o.Ceiling = math.NaN() // it is the attacker without a channel, who has his own
		}
		o.Note = fmt.Sprintf("weight and rounds chosen on %d words", len(m.held.places))
		out = append(out, o)
	}
	number := func(column string, v float64) {
		out = append(out, chosen("masked-channel-"+column, v, len(m.held.places)))
	}
	number("weight", bestWeight)
	number("rounds", float64(bestRound))
	return out, nil
}

// put makes guesses the context and says whether that changed it.
func (h *hidden) put(guesses []int32) bool {
	changed := false
	for i, p := range h.places {
		if w := &h.context[p.document][p.position]; *w != guesses[i] {
			*w, changed = guesses[i], true
		}
	}
	return changed
}
