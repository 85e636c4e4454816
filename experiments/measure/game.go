package measure

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/embeddings/sentence"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// Game is how often an adversary says which of two originals was released, the name of its metric too.
const Game = "game"

// gameColumns are the quantities of the game, by the kind of pairs.
var gameColumns = []struct{ kind, column, title string }{
	{"topic", Game, "documents distinguished"},
	{"author", Game + "-author", "documents of one author distinguished"},
	{"word", Game + "-word", "documents that differ in a word distinguished"},
}

// IsGame reports whether a quantity is one of the game.
func IsGame(quantity string) bool {
	isIt := func(c struct{ kind, column, title string }) bool { return c.column == quantity }
	return list.Count(gameColumns, isIt) > 0
}

// GameOptions are the options of the game.
type GameOptions struct {
	Encoder string `yaml:"encoder,omitempty" json:"encoder,omitempty"` // of mldp data list; "" is sif
}

// The game: which of two originals was released.
func init() {
	m := Measurement{
		Name:    Game,
		Version: 1,
		Metric: study.Metric{
			Key: Game,
			Doc: "how often an adversary who sees one released document and two originals says which it was: of one " +
				"class, of one author, or with one word changed.",
			Options: map[string]string{
				"encoder": "of the adversaries who compare texts, as for cs; without it sif",
			},
			New: func() any { return &GameOptions{} },
		},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && s.Repetition == 1 },
		Needs: func(s *Spec, q *Query) []lab.Resource {
			if encoder := gameEncoder(s, q); encoder != "" {
				return []lab.Resource{lab.OfEncoder(encoder)}
			}
			return nil
		},
		Measure: measureGame,
	}
	for _, c := range gameColumns {
		m.Quantities = append(m.Quantities, quantity.Quantity{
			Name:      c.column,
			Title:     c.title,
			Direction: quantity.Down,
			Digits:    3,
			Threshold: 0.05,
			Table:     Game,
			Attacker:  Game,
			Share:     true,
			Once:      true,
			Least:     0.5,
		})
	}
	Register(m)
}

// gameEncoder names the encoder of the adversaries, "" for none.
func gameEncoder(s *Spec, q *Query) string {
	switch o := q.Options.(*GameOptions); {
	case o.Encoder != "":
		return o.Encoder
	case s.Embedding.IsNone():
		return ""
	}
	return lab.SIF
}

// measureGame plays with pairs of test documents; the model of the adversary is trained on the
// release of pairs of training documents, which are public. Originals are the words that are
// replaced, cut to those of the shorter one: their number is not hidden. What was released
// elsewhere is read as it is.
func measureGame(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	m, err := r.Words(ctx)
	if err != nil {
		return nil, err
	}
	g := &game{
		mechanism: m,
		space:     r.batch.env.Space,
		policy:    r.Policy,
		seed:      r.RepetitionSeed().Derive(Game),
		threads:   max(1, q.Threads),
	}
	if name := gameEncoder(&r.Spec, q); name != "" {
		g.encoder, err = r.Lab.Encoder(ctx, name, r.Corpus, r.Space)
		if err != nil {
			return nil, fmt.Errorf("game: %w", err)
		}
	}
	isFile := r.Mechanism.Outside != nil && r.Mechanism.Outside.Text != ""
	row := r.Row(q)
	var rows []results.Row
	for _, c := range gameColumns {
		kind := c.kind
		if kind == "topic" && len(r.Corpus.Classes) < 2 {
			kind = anyKind
		}
		var public, secret []gamePair
		if isFile {
			public, secret, err = r.releasedPairs(ctx, kind)
		} else {
			public, secret, err = r.gamePairs(g, kind)
		}
		if err != nil {
			return nil, err
		}
		if len(secret) < 2 {
			continue
		}
		outcome, err := g.play(ctx, public, secret)
		if err != nil {
			return nil, fmt.Errorf("game: %w", err)
		}
		rows = append(rows, row.Of(c.column, outcome.measured(kindTitle(kind))))
	}
	if len(rows) == 0 {
		return []results.Row{unmeasured(row, Game, "there are not two pairs of test documents")}, nil
	}
	return rows, nil
}

// kindTitle says what pairs have in common.
func kindTitle(kind string) string {
	for _, k := range pairKinds {
		if k.name == kind {
			return k.title
		}
	}
	return "any two"
}

// pairsOf are those of a split, the same for all mechanisms.
func (r *Release) pairsOf(v *embeddings.Vocabulary, kind string, split, most int) []documentPair {
	rng := r.DataSeed().Derive(Game, kind, r.Corpus.Splits()[split].Name).Rand()
	return r.documentPairs(v, pairDraw{
		split: split,
		kind:  kind,
		most:  most,
		rng:   rng,
	})
}

// gamePairs are pairs of originals, of which a mechanism releases either.
func (r *Release) gamePairs(g *game, kind string) (public, secret []gamePair, err error) {
	v, err := g.vocabulary()
	if err != nil {
		return nil, nil, err
	}
	spelled := func(p documentPair) gamePair { return newGamePair(v, p) }
	public = list.Map(r.pairsOf(v, kind, 0, publicPairs), spelled)
	secret = list.Map(r.pairsOf(v, kind, 2, secretPairs), spelled)
	return public, secret, nil
}

// releasedPairs are pairs of documents that were released once, as they are. Without a release of the
// training documents none is public.
func (r *Release) releasedPairs(ctx context.Context, kind string) (public, secret []gamePair, err error) {
	text, err := r.Text(ctx)
	if err != nil || kind == "word" { // of which one was not released
		return nil, nil, err
	}
	all, err := embeddings.NewVocabulary(slices.Sorted(maps.Keys(r.Corpus.Counts)))
	if err != nil {
		return nil, nil, err
	}
	var pairs [3][]gamePair
	for _, split := range []int{0, 2} {
		if text[split] == nil {
			continue
		}
		for _, p := range r.pairsOf(all, kind, split, len(text[split])) {
			pair := gamePair{}
			for k, i := range p.at {
				pair.originals[k] = r.Corpus.Tokens[split][i]
				pair.released[k] = text[split][i]
			}
			pair.once = true
			pairs[split] = append(pairs[split], pair)
		}
	}
	return pairs[0], pairs[2], nil
}

// gameOutcome is what came of the rounds of a game.
type gameOutcome struct {
	best          string // adversary
	right, rounds int
	pairs         int // of the rounds that count
}

// gamePower is that with which the least share is found that a row states.
const gamePower = 0.9

// interval is the share of right answers with its exact interval.
func (o gameOutcome) interval() stats.Interval {
	return stats.ClopperPearson(o.right, o.rounds, gameLevel)
}

// measured is the share as a number of a row.
func (o gameOutcome) measured(kind string) results.Measured {
	share := o.interval()
	m := results.Number(share.Estimate).Within(share.Low, share.High)
	m.Floor = results.Float(0.5)
	m.Ceiling = results.Float(1)
	m.Part = o.right
	m.Whole = o.rounds
	least := stats.LeastShare(o.rounds, 0.5, gameLevel, gamePower)
	m.Note = fmt.Sprintf("by %s, chosen on as many other rounds; %d pairs, %s; ", o.best, o.pairs, kind)
	m.Note += fmt.Sprintf("%.3f would have been found with power %v", least, gamePower)
	return m
}

// gamePair is two originals as words; released are what came of them, where that was released once.
type gamePair struct {
	words     documentPair
	originals [2][]string
	released  [2][]string
	once      bool
}

func newGamePair(v *embeddings.Vocabulary, p documentPair) gamePair {
	spell := func(ids []mechanisms.WordID) []string {
		return list.Map(ids, func(id mechanisms.WordID) string { return v.Word(id) })
	}
	return gamePair{words: p, originals: [2][]string{spell(p.x), spell(p.y)}}
}

// isFast reports whether an encoder costs next to nothing: word vectors do.
func isFast(e sentence.Encoder) bool { return e == nil || e.Name() == lab.SIF }
