package measure

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models/attack"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// Kinds of pairs: what the two originals have in common.
var pairKinds = []struct{ name, title string }{
	{"word", "one word changed"}, {"topic", "same label"}, {"author", "same private label"},
}

const (
	lossName      = "document_loss"
	documentDelta = 1e-5 // at which the ε of a document is stated; rounding of the convolution is far below
	documentPairs = 100  // of test documents of each kind, at most
	gameLevel     = 0.95
	gameRounds    = 100 // of the game on each pair, of mechanisms that take words; every second one counts
)

// The privacy loss of documents: for each kind of pairs, ε, the sum of ε·d, and ε from a game.
func init() {
	m := Measurement{
		Name:    lossName,
		Version: 2,
		Metric: study.Metric{
			Key: lossName,
			Doc: "the privacy loss of documents.",
			New: func() any { return &struct{}{} },
		},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && s.Repetition == 1 },
		Measure: measureDocumentLoss,
	}
	for _, k := range pairKinds {
		for _, c := range []struct{ name, title string }{{"epsilon", "ε of a document"}, {"bound", "ε·d of a document"},
			{"game", "ε of a document, from a game"}} {
			m.Quantities = append(m.Quantities, quantity.Quantity{
				Name:      "document_" + c.name + "_" + k.name,
				Title:     c.title + ", " + k.title,
				Direction: quantity.Down,
				Digits:    2,
				Table:     "documents",
			})
		}
	}
	Register(m)
}

// documentPair is two originals of equal length, as words of a mechanism.
type documentPair struct {
	x, y []mechanisms.WordID
	at   [2]int // documents of the split; -1 for a made one
}

// of is an original: the first for 0, the second for 1.
func (p documentPair) of(coin int) []mechanisms.WordID {
	if coin == 0 {
		return p.x
	}
	return p.y
}

// measureDocumentLoss says how well a reader of a released text can tell which
// of two originals it came from. Where probabilities have a closed form, the
// privacy loss of a text is a sum over its positions, and its distribution and
// the ε of the document at δ are those of NewDocumentLoss, beside the sum of ε·d
// that the guarantee of single words promises. Numbers are medians over pairs.
// The game draws one of two originals and guesses which from the released text: no
// reader is right more often than (e^ε + δ)/(1 + e^ε), so the lower confidence limit
// of the best of some players bounds from below the ε of the worst pair.
//
// Originals are test documents with the same label, or the same private label,
// or a document and itself with one word changed to one of another document.
// They are cut to the shorter one: the length is not hidden.
func measureDocumentLoss(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	m, err := r.Words(ctx)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	v := m.Vocabulary()
	if !m.TakesWords() { // it reads texts
		v = r.batch.env.Space.Vocabulary
	}
	rng := r.RepetitionSeed().Derive(lossName).Rand()
	var rows []results.Row
	for _, kind := range pairKinds {
		drawn := pairDraw{
			split: 2,
			kind:  kind.name,
			most:  documentPairs,
			rng:   r.DataSeed().Derive(lossName, kind.name).Rand(),
		}
		pairs := r.documentPairs(v, drawn)
		if len(pairs) == 0 {
			continue
		}
		by := player{newGame(r.batch.env.Space), m, rng}
		more, err := r.documentRows(ctx, row, kind.name, pairs, by)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// documentRows are those of the pairs of a kind.
func (r *Release) documentRows(ctx context.Context, row results.Row, kind string, pairs []documentPair,
	by player) ([]results.Row, error) {
	epsilons, bounds, err := by.losses(ctx, pairs)
	if err != nil {
		return nil, err
	}
	if !by.mechanism.TakesWords() {
		if err := r.playReleased(ctx, by.game, pairs, by.rng); err != nil {
			return nil, err
		}
	}
	var rows []results.Row
	add := func(name string, v results.Measured) {
		rows = append(rows, row.Of("document_"+name+"_"+kind, v))
	}
	if epsilons == nil {
		rows = append(rows, unmeasured(row, "document_epsilon_"+kind, "no closed form"))
	} else {
		add("epsilon", medianOf(epsilons))
	}
	if by.mechanism.Guarantee().Holds() && bounds != nil {
		add("bound", medianOf(bounds))
	}
	if right, rounds := by.game.Result(); rounds > 0 {
		v := results.Number(gameEpsilon(right, rounds, documentDelta, gameLevel))
		v.Part = right
		v.Whole = rounds
		v.Note = by.game.Note()
		add("game", v)
	}
	return rows, nil
}

// losses are ε and the bound of each pair, nil without a closed form. On the way the game is
// played on each, where the mechanism takes words.
func (g player) losses(ctx context.Context, pairs []documentPair) (epsilons, bounds []float64, err error) {
	for _, p := range pairs {
		of, err := p.logRows(g.mechanism)
		if err == nil && g.mechanism.TakesWords() {
			err = g.play(ctx, p, of, gameRounds)
		}
		if err == nil && of != nil {
			var l documentLoss
			l, err = p.loss(g.mechanism.Guarantee(), of, documentDelta)
			epsilons = append(epsilons, l.epsilon)
			bounds = append(bounds, l.bound)
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, nil, err
		}
	}
	return epsilons, bounds, nil
}

// anyKind are pairs of any two documents.
const anyKind = "any"

// pairDraw says which pairs are drawn.
type pairDraw struct {
	split int
	kind  string
	most  int
	rng   *rand.Rand
}

// documentPairs are pairs of a kind, the same for all mechanisms.
func (r *Release) documentPairs(v *embeddings.Vocabulary, d pairDraw) []documentPair {
	documents := r.Corpus.Splits()[d.split].Documents
	tokens := r.Corpus.Tokens[d.split]
	switch {
	case d.kind == "topic" && len(r.Corpus.Classes) < 2:
		return nil
	case d.kind == "author" && len(r.Corpus.Privates) < 2:
		return nil
	}
	var pairs []documentPair
	waiting := map[int]int{} // a document without a partner, by label
	for _, i := range d.rng.Perm(len(documents)) {
		if len(pairs) == d.most {
			break
		}
		a := known(v, tokens[i])
		label := 0
		if len(a) == 0 {
			continue
		}
		switch d.kind {
		case "word":
			if b := oneChanged(a, known(v, tokens[d.rng.IntN(len(tokens))]), d.rng); b != nil {
				pairs = append(pairs, newPair(v, a, b, i, -1))
			}
			continue
		case "topic":
			label = documents[i].Label
		case "author":
			label = documents[i].Private
		}
		j, ok := waiting[label]
		if !ok {
			waiting[label] = i
			continue
		}
		delete(waiting, label)
		pairs = append(pairs, newPair(v, known(v, tokens[j]), a, j, i))
	}
	return pairs
}

// oneChanged is a text with one word changed to one of another text; nil where no word is.
func oneChanged(text, other []string, rng *rand.Rand) []string {
	if len(other) == 0 {
		return nil
	}
	b := slices.Clone(text)
	at := rng.IntN(len(text))
	b[at] = other[rng.IntN(len(other))]
	if b[at] == text[at] {
		return nil
	}
	return b
}

// known are the tokens that a mechanism replaces: those of its vocabulary.
func known(v *embeddings.Vocabulary, tokens []string) []string {
	return results.Where(tokens, func(t string) bool { return v.ID(t) != embeddings.Unknown })
}

func newPair(v *embeddings.Vocabulary, a, b []string, i, j int) documentPair {
	n := min(len(a), len(b))
	return documentPair{v.Encode(nil, a[:n]), v.Encode(nil, b[:n]), [2]int{i, j}}
}

// logRows are the logarithms of the probabilities of outputs, by word.
type logRows map[mechanisms.WordID][]float64

// of returns the logarithm of a probability, nil where there are no rows.
func (rows logRows) of() metrics.LogProbability[mechanisms.WordID] {
	if rows == nil {
		return nil
	}
	return func(word, released mechanisms.WordID) float64 { return rows[word][released] }
}

// logRows are those of the words that differ: equal ones lose nothing. They are nil
// where the mechanism has no closed form.
func (p documentPair) logRows(m *mechanisms.Mechanism) (rows logRows, err error) {
	if !m.Closed() {
		return nil, nil
	}
	rows = logRows{}
	for i, x := range p.x {
		for _, w := range []mechanisms.WordID{x, p.y[i]} {
			if x != p.y[i] && rows[w] == nil {
				if rows[w], err = m.LogRow(w); err != nil {
					return nil, err
				}
			}
		}
	}
	return rows, nil
}

// documentLoss is that of one pair. ε, bound and the worst loss are those of both
// directions, as a promise must hold whichever was released.
type documentLoss struct {
	*metrics.DocumentLoss
	epsilon float64 // the larger of both directions
	bound   float64 // sum of ε·d, where something is promised
}

// loss is that of the pair under a guarantee, from the rows of its words that differ.
func (p documentPair) loss(g mechanisms.Guarantee, rows logRows, delta float64) (l documentLoss, err error) {
	var ofX, ofY [][]float64
	for i, x := range p.x {
		y := p.y[i]
		if x == y {
			continue
		}
		ofX = append(ofX, rows[x])
		ofY = append(ofY, rows[y])
		switch {
		case !g.Holds():
		case g.Covers != nil && !g.Covers(x, y):
			l.bound = math.Inf(1)
		default:
			l.bound += g.Epsilon * g.Distance(x, y)
		}
	}
	if l.DocumentLoss, err = metrics.NewDocumentLoss(ofX, ofY); err != nil {
		return l, err
	}
	back, err := metrics.NewDocumentLoss(ofY, ofX)
	if err == nil {
		l.epsilon = max(l.Epsilon(delta), back.Epsilon(delta))
		l.Worst = max(l.Worst, back.Worst)
	}
	return l, err
}

// medianOf is the median over pairs with its 95% interval by order statistics.
// Where it is infinite, it says for how many pairs.
func medianOf(all []float64) (x results.Measured) {
	i := metrics.MedianInterval(all, gameLevel)
	if !math.IsInf(i.Estimate, 1) {
		x = results.Number(i.Estimate)
		if !math.IsInf(i.Low, -1) && !math.IsInf(i.High, 1) {
			x = x.Within(i.Low, i.High)
		}
	}
	x.Whole = len(all)
	x.Note = fmt.Sprintf("median of %d pairs", len(all))
	if n := list.Count(all, func(v float64) bool { return math.IsInf(v, 1) }); n > 0 {
		x.Note += fmt.Sprintf("; infinite for %d", n)
	}
	return x
}

// documentGame is that of words of a mechanism.
type documentGame = metrics.DocumentGame[mechanisms.WordID]

func newGame(s *embeddings.Space) *documentGame { return metrics.NewDocumentGame(s.Len(), s.Distance) }

// player plays the game against a mechanism.
type player struct {
	game      *documentGame
	mechanism *mechanisms.Mechanism
	rng       *rand.Rand
}

// play draws texts anew, of a mechanism that takes words.
func (g player) play(ctx context.Context, p documentPair, rows logRows, rounds int) error {
	out := make([]mechanisms.WordID, len(p.x))
	for range rounds {
		coin := g.rng.IntN(2)
		if err := g.mechanism.Privatize(ctx, out, p.of(coin), g.rng); err != nil {
			return err
		}
		g.game.Round(p.x, p.y, out, rows.of(), coin, g.rng)
	}
	return ctx.Err()
}

// playReleased uses the released text of the documents, one round a pair.
func (r *Release) playReleased(ctx context.Context, g *documentGame, pairs []documentPair, rng *rand.Rand) error {
	text, err := r.Text(ctx)
	if err != nil || text[2] == nil {
		return err
	}
	words := attack.NewLexicon(r.batch.env.Space.Vocabulary)
	read := func(tokens []string) []mechanisms.WordID {
		return list.Map(words.IDs(tokens), func(id int32) mechanisms.WordID {
			return mechanisms.WordID(id)
		})
	}
	for _, p := range pairs {
		if p.at[1] >= 0 { // else it was not released
			coin := rng.IntN(2)
			plain := r.Corpus.Tokens[2]
			g.Round(read(plain[p.at[0]]), read(plain[p.at[1]]), read(text[2][p.at[coin]]), nil, coin, rng)
		}
	}
	return nil
}

// gameEpsilon is the ε that a game shows at least, with the confidence of level:
// which of two originals, drawn by a coin, gave a text. Under (ε, δ) nobody is
// right more often than (e^ε + δ)/(1 + e^ε), so with p the lower Clopper-Pearson
// limit ε is at least ln((p − δ)/(1 − p)).
func gameEpsilon(right, rounds int, delta, level float64) float64 {
	low := stats.ClopperPearson(right, rounds, 2*level-1).Low // one-sided
	return max(0, math.Log((low-delta)/(1-low)))
}
