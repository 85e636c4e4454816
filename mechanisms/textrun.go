package mechanisms

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"

	"mldpbench/embeddings"
)

// documentBatch is a part of some documents, from one to before another.
type documentBatch struct{ start, end int }

// batchesOf divides n documents into batches of batchWords or more, give or take one
// document.
func batchesOf(n int, words func(i int) int) (all []documentBatch) {
	for start := 0; start < n; {
		end := start
		has := 0
		for end < n && has < batchWords {
			has += words(end)
			end++
		}
		all = append(all, documentBatch{start, end})
		start = end
	}
	return all
}

// textRun is one call of PrivatizeText or PrivatizeWords.
type textRun struct {
	TextOptions
	texts
}

// texts are the documents of a textRun. Documents at different places are read and
// written at once.
type texts interface {
	// count is the number of documents.
	count() int
	// length is the number of words of a document.
	length(place int) int
	// read returns the words of a document, which are not changed.
	read(place int) []WordID
	// write takes the words of a document and what they became, in their places.
	write(place int, words, private []WordID)
}

// foundTexts are documents whose words are found.
type foundTexts struct {
	documents, out [][]WordID
}

func (t foundTexts) count() int                           { return len(t.documents) }
func (t foundTexts) length(place int) int                 { return len(t.documents[place]) }
func (t foundTexts) read(place int) []WordID              { return t.documents[place] }
func (t foundTexts) write(place int, _, private []WordID) { t.out[place] = private }

// spelledTexts are documents of tokens, which are looked up when they are read.
type spelledTexts struct {
	mechanism *Mechanism
	aligned   bool
	documents [][]string
	out       [][]string
}

func (t spelledTexts) count() int           { return len(t.documents) }
func (t spelledTexts) length(place int) int { return len(t.documents[place]) }

// read looks the tokens of a document up.
func (t spelledTexts) read(place int) []WordID {
	ids := make([]WordID, len(t.documents[place]))
	for i, token := range t.documents[place] {
		if _, kept := t.mechanism.keeps[token]; kept {
			ids[i] = Kept
		} else {
			ids[i] = t.mechanism.vocabulary.ID(token)
		}
	}
	return ids
}

// write spells words. Those that were deleted are left out, unless they are aligned.
func (t spelledTexts) write(place int, words, private []WordID) {
	out := make([]string, 0, len(private))
	for i, id := range private {
		token := t.documents[place][i]
		deleted := id == Removed
		switch {
		case deleted:
			token = ""
		case id != Kept:
			token = t.mechanism.vocabulary.Word(id)
			deleted = token == "" && words[i] != embeddings.Unknown
		}
		if t.aligned || !deleted {
			out = append(out, token)
		}
	}
	t.out[place] = out
}

// run privatises all documents, those of each ε by the mechanism at it. A cancelled
// ctx stops between batches.
func (t *textRun) run(ctx context.Context, m *Mechanism) error {
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(t.Workers)
	for epsilon, places := range t.byEpsilon(m.settings.Epsilon) {
		if running.Err() != nil {
			break
		}
		at, err := m.At(epsilon)
		if err != nil {
			g.Go(func() error { return fmt.Errorf("document %d: %w", places[0], err) })
			break
		}
		if at.sampler.whole() {
			if err := t.part(ctx, at, places, t.Workers); err != nil {
				return err
			}
			continue
		}
		for _, b := range batchesOf(len(places), func(i int) int {
			return t.length(places[i])
		}) {
			g.Go(func() error {
				if err := running.Err(); err != nil {
					return err
				}
				return t.part(running, at, places[b.start:b.end], 1)
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// byEpsilon yields each ε and its documents, the ε in the order of their first
// documents.
func (t *textRun) byEpsilon(own float64) iter.Seq2[float64, []int] {
	places := map[float64][]int{}
	var order []float64
	for i := range t.count() {
		epsilon := own
		if t.Epsilons != nil {
			epsilon = t.Epsilons[i]
		}
		if places[epsilon] == nil {
			order = append(order, epsilon)
		}
		places[epsilon] = append(places[epsilon], i)
	}
	return func(yield func(float64, []int) bool) {
		for _, epsilon := range order {
			if !yield(epsilon, places[epsilon]) {
				return
			}
		}
	}
}

// part privatises the documents at some places.
func (t *textRun) part(ctx context.Context, m *Mechanism, places []int, workers int) error {
	words := make([][]WordID, len(places))
	known := make([]document, len(places))
	for i, place := range places {
		words[i] = t.read(place)
		known[i] = document{slices.DeleteFunc(slices.Clone(words[i]), isSpecial), t.seedOf(place).Rand()}
	}
	if err := m.sampler.draw(ctx, known, workers); err != nil {
		return err
	}
	for i, place := range places {
		t.write(place, words[i], t.replaced(m, place, words[i], known[i].words))
		known[i] = document{}
	}
	return nil
}

func isSpecial(id WordID) bool { return id < 0 }

// replaced puts privatised words in the place of those of a document that are known,
// and applies the policy to the others.
func (t *textRun) replaced(m *Mechanism, place int, words, privatised []WordID) []WordID {
	out := make([]WordID, len(words))
	var unknown *rand.Rand
	for i, id := range words {
		switch {
		case id == Kept:
			out[i] = Kept
		case id != embeddings.Unknown:
			out[i] = privatised[0]
			privatised = privatised[1:]
		case t.Policy == Keep:
			out[i] = Kept
		case t.Policy == Drop:
			out[i] = Removed
		default:
			if unknown == nil {
				unknown = t.seedOf(place).Derive("unknown").Rand()
			}
			out[i] = WordID(unknown.IntN(m.vocabulary.Len()))
		}
	}
	return out
}
