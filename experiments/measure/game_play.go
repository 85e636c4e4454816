package measure

import (
	"context"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"mldpbench/embeddings"
	"mldpbench/embeddings/sentence"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models/attack"
	"mldpbench/models/tfidf"
	"mldpbench/stream"
)

// Pairs and rounds of the game. Every second secret pair chooses the adversary, the others count;
// each has as many rounds as make countedRounds of these.
const (
	publicPairs   = 300
	secretPairs   = 400
	countedRounds = 1000
)

// TextsOfGame are as many texts as a game of a file has originals.
const TextsOfGame = 2 * (publicPairs + secretPairs)

// leastPairs are the secret pairs below which a game says nothing.
const leastPairs = 20

// ofTexts makes pairs of texts of one file, in their order. Of few texts public and secret pairs are
// fewer, in the same proportion.
func (g *game) ofTexts(texts [][]mechanisms.WordID) (public, secret []gamePair, err error) {
	v, err := g.vocabulary()
	if err != nil {
		return nil, nil, err
	}
	var pairs []gamePair
	for i := 1; i < len(texts); i += 2 {
		n := min(len(texts[i-1]), len(texts[i]))
		pairs = append(pairs, newGamePair(v, documentPair{x: texts[i-1][:n], y: texts[i][:n]}))
	}
	at := len(pairs) * publicPairs / (publicPairs + secretPairs)
	if len(pairs)-at < leastPairs {
		return nil, nil, fmt.Errorf("the file has %d texts with known words: a game needs %d", len(texts),
			2*leastPairs*(publicPairs+secretPairs)/secretPairs)
	}
	return pairs[:at], pairs[at:], nil
}

// game is a game against a mechanism at one ε.
type game struct {
	mechanism *mechanisms.Mechanism
	space     *embeddings.Space
	policy    mechanisms.Policy
	encoder   sentence.Encoder // nil: no adversary has vectors of texts
	seed      stream.Seed
	threads   int
}

// gameRound is a released text and the margins of the adversaries, who compare it with both
// originals: above zero for the first.
type gameRound struct {
	pair     int
	coin     int // which original was released
	released []string
	margins  []float64
}

// vocabulary has the words that the mechanism replaces.
func (g *game) vocabulary() (*embeddings.Vocabulary, error) {
	if !g.byWords() {
		return g.space.Vocabulary, nil
	}
	m, err := g.mechanism.OfLength(1)
	if err != nil {
		return nil, err
	}
	return m.Vocabulary(), nil
}

// byWords reports whether the mechanism replaces words one by one. A command is asked for whole
// texts: one word at a time takes long.
func (g *game) byWords() bool { return g.mechanism.ByWords() && g.mechanism.Settings().Outside == nil }

// rounds are those of each pair, of so many: few where a command or an encoder is slow.
func (g *game) rounds(pairs []gamePair) int {
	isSlow := g.mechanism.Settings().Outside != nil || !isFast(g.encoder)
	if pairs[0].once || isSlow {
		return 1
	}
	return max(1, int(math.Ceil(2*countedRounds/float64(len(pairs)))))
}

// play plays. Nobody beats exact likelihood, so that where all probabilities are known no other
// adversary reads whole texts.
func (g *game) play(ctx context.Context, public, secret []gamePair) (gameOutcome, error) {
	names := slices.Clone(metrics.InPlace)
	isExact, err := g.isExact(secret)
	if err != nil {
		return gameOutcome{}, err
	}
	rounds, err := g.release(ctx, secret, g.rounds(secret), g.seed.Derive("secret"))
	if err != nil {
		return gameOutcome{}, err
	}
	if !isExact {
		var known []gameRound
		if len(public) > 0 {
			known, err = g.release(ctx, public, g.rounds(public), g.seed.Derive("public"))
			if err != nil {
				return gameOutcome{}, err
			}
		}
		readers, err := g.readTexts(ctx, public, known, secret, rounds)
		if err != nil {
			return gameOutcome{}, err
		}
		names = append(names, readers...)
	}
	contest := metrics.NewContest(names...)
	rng := g.seed.Derive("guesses").Rand()
	for _, r := range rounds {
		contest.Round(metrics.HalfOf(r.pair), r.margins, r.coin, rng)
	}
	o := gameOutcome{pairs: len(secret) / 2}
	o.best, o.right, o.rounds = contest.Result()
	return o, nil
}

// isExact reports whether the probabilities of what is released are known.
func (g *game) isExact(pairs []gamePair) (bool, error) {
	switch {
	case pairs[0].once:
		return false, nil
	case g.lawOfDocuments() != nil:
		return true, nil
	case !g.byWords():
		return false, nil
	}
	m, err := g.mechanism.OfLength(1)
	if err != nil {
		return false, err
	}
	return m.Closed(), nil
}

// lawOfDocuments has the probabilities of a mechanism of whole documents, nil where none are known.
func (g *game) lawOfDocuments() *mechanisms.Documents {
	d := g.mechanism.Documents()
	if d == nil || d.LogRows == nil || d.Outputs == nil {
		return nil
	}
	return d
}

// release releases one of the originals of each pair, drawn by a coin, some times. Adversaries
// compare words in place.
func (g *game) release(ctx context.Context, pairs []gamePair, times int, seed stream.Seed) ([]gameRound, error) {
	if g.byWords() && !pairs[0].once {
		return g.releaseWords(ctx, pairs, times, seed)
	}
	if law := g.lawOfDocuments(); law != nil && !pairs[0].once {
		return g.releaseDocuments(ctx, law, pairs, times, seed)
	}
	rng := seed.Rand()
	var rounds []gameRound
	var texts [][]string
	for i, p := range pairs {
		for range times {
			coin := rng.IntN(2)
			rounds = append(rounds, gameRound{pair: i, coin: coin, released: p.released[coin]})
			texts = append(texts, p.originals[coin])
		}
	}
	if !pairs[0].once {
		released, err := mechanisms.PrivatizeText(ctx, g.mechanism, texts, mechanisms.TextOptions{Policy: g.policy,
			Seed: seed.Derive("text"), Workers: g.threads})
		if err != nil {
			return nil, err
		}
		for i, text := range released {
			rounds[i].released = text
		}
	}
	g.compareInPlace(pairs, rounds)
	return rounds, nil
}

// compareInPlace adds the margins of those who compare words in place, of texts of any origin.
func (g *game) compareInPlace(pairs []gamePair, rounds []gameRound) {
	judges := newGame(g.space)
	words := attack.NewLexicon(g.space.Vocabulary)
	read := func(tokens []string) []mechanisms.WordID {
		return list.Map(words.IDs(tokens), func(id int32) mechanisms.WordID { return mechanisms.WordID(id) })
	}
	for i, r := range rounds {
		p := pairs[r.pair]
		rounds[i].margins = judges.Margins(read(p.originals[0]), read(p.originals[1]), read(r.released), nil)
	}
}

// releaseWords lets the mechanism replace the words, and adversaries compare them in place.
func (g *game) releaseWords(ctx context.Context, pairs []gamePair, times int, seed stream.Seed) ([]gameRound, error) {
	byPair, err := g.mechanisms(pairs)
	if err != nil {
		return nil, err
	}
	rounds := make([]gameRound, len(pairs)*times)
	released := make([][]mechanisms.WordID, len(rounds))
	group, drawing := errgroup.WithContext(ctx)
	group.SetLimit(g.threads)
	for i, p := range pairs {
		group.Go(func() error {
			rng := seed.At(uint64(i)).Rand()
			for k := i * times; k < (i+1)*times; k++ {
				rounds[k] = gameRound{pair: i, coin: rng.IntN(2)}
				released[k] = make([]mechanisms.WordID, len(p.words.x))
				if err := byPair[i].Privatize(drawing, released[k], p.words.of(rounds[k].coin), rng); err != nil {
					return err
				}
			}
			return drawing.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	logs, err := g.logsOf(ctx, byPair, pairs, rounds, released)
	if err != nil {
		return nil, err
	}
	judges := newGame(g.space)
	for k, out := range released {
		pair := rounds[k].pair
		p := pairs[pair].words
		m := byPair[pair]
		rounds[k].margins = judges.Margins(p.x, p.y, out, logs[m].of())
		spelled := list.Map(out, func(id mechanisms.WordID) string { return m.Vocabulary().Word(id) })
		rounds[k].released = shown([][]string{spelled})[0]
	}
	return rounds, nil
}

// mechanisms are those of the words of each pair: one, unless their number decides on the ε of each.
func (g *game) mechanisms(pairs []gamePair) ([]*mechanisms.Mechanism, error) {
	byLength := map[int]*mechanisms.Mechanism{}
	byPair := make([]*mechanisms.Mechanism, len(pairs))
	for i, p := range pairs {
		n := len(p.words.x)
		if byLength[n] == nil {
			m, err := g.mechanism.OfLength(n)
			if err != nil {
				return nil, err
			}
			byLength[n] = m
		}
		byPair[i] = byLength[n]
	}
	return byPair, nil
}

// knownLogs are logarithms of probabilities, by word and output: those that are asked for.
type knownLogs map[mechanisms.WordID]map[mechanisms.WordID]float64

// of returns the logarithm of a probability, nil where none is known.
func (logs knownLogs) of() metrics.LogProbability[mechanisms.WordID] {
	if logs == nil {
		return nil
	}
	return func(word, released mechanisms.WordID) float64 { return logs[word][released] }
}

// logsOf are the probabilities that rounds ask for, by mechanism; none where they are not known. A row is made once for
// each word.
func (g *game) logsOf(ctx context.Context, byPair []*mechanisms.Mechanism, pairs []gamePair, rounds []gameRound,
	released [][]mechanisms.WordID) (map[*mechanisms.Mechanism]knownLogs, error) {
	if !byPair[0].Closed() {
		return nil, nil
	}
	all := map[*mechanisms.Mechanism]knownLogs{}
	for k, out := range released {
		pair := rounds[k].pair
		m := byPair[pair]
		if all[m] == nil {
			all[m] = knownLogs{}
		}
		all[m].askPair(pairs[pair].words, out)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(g.threads)
	for m, logs := range all {
		for word, outputs := range logs {
			group.Go(func() error {
				row, err := m.LogRow(word)
				if err != nil {
					return err
				}
				for y := range outputs {
					outputs[y] = row[y]
				}
				return ctx.Err()
			})
		}
	}
	return all, group.Wait()
}

// askPair notes that the probabilities of a release are asked for where a pair differs.
func (logs knownLogs) askPair(p documentPair, released []mechanisms.WordID) {
	for i, x := range p.x {
		if x != p.y[i] {
			logs.ask(x, released[i])
			logs.ask(p.y[i], released[i])
		}
	}
}

// ask notes that a probability is asked for.
func (logs knownLogs) ask(word, released mechanisms.WordID) {
	if logs[word] == nil {
		logs[word] = map[mechanisms.WordID]float64{}
	}
	logs[word][released] = 0
}

// readTexts adds the margins of the adversaries who read texts of any origin to rounds, and names
// them. The model of the last is trained on the rounds of public pairs.
func (g *game) readTexts(ctx context.Context, public []gamePair, known []gameRound, secret []gamePair,
	rounds []gameRound) (names []string, err error) {
	addCosines(public, known)
	addCosines(secret, rounds)
	names = append(names, "tf-idf cosine")
	ofPublic, err := g.encode(ctx, public, known)
	if err != nil {
		return nil, err
	}
	ofSecret, err := g.encode(ctx, secret, rounds)
	if err != nil {
		return nil, err
	}
	if g.encoder != nil {
		ofPublic.addCosines(known)
		ofSecret.addCosines(rounds)
		names = append(names, "encoder cosine ("+g.encoder.Name()+")")
	}
	if len(known) < leastTrained {
		return names, nil
	}
	learned, err := learnGame(ctx, known, ofPublic, g.seed.Derive("model"))
	if err != nil {
		return nil, err
	}
	if err := learned.addMargins(ctx, rounds, ofSecret); err != nil {
		return nil, err
	}
	return append(names, fmt.Sprintf("a logistic model, trained on %d public rounds", len(known))), nil
}

// addCosines adds margins by tf-idf to rounds.
func addCosines(pairs []gamePair, rounds []gameRound) {
	var originals [][]string
	for _, p := range pairs {
		originals = append(originals, p.originals[0], p.originals[1])
	}
	index := tfidf.NewIndex(originals)
	for i, r := range rounds {
		cosines := index.Cosines(r.released)
		rounds[i].margins = append(r.margins, cosines[2*r.pair]-cosines[2*r.pair+1])
	}
}
