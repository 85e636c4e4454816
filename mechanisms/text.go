package mechanisms

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/stream"
)

// Policy is the treatment of a word outside the mechanism's vocabulary.
type Policy string

// What becomes of the word.
const (
	Keep   Policy = "keep"   // leave it unchanged, as the released packages do; leaks the word
	Drop   Policy = "drop"   // remove it
	Random Policy = "random" // replace it by a word drawn uniformly from the vocabulary; the default
)

// Policies lists all policies, the default first.
var Policies = []Policy{Random, Keep, Drop}

// CheckPolicy returns an error for a policy that does not exist.
func CheckPolicy(p Policy) error {
	names := list.Map(Policies, func(p Policy) string { return string(p) })
	return check.OneOf("policy", string(p), names...)
}

// TextOptions are the options of PrivatizeText. The zero value replaces unknown
// words at random, with the zero seed, on one goroutine.
type TextOptions struct {
	Policy  Policy // of unknown words; "" means Random
	Seed    stream.Seed
	Seeds   []stream.Seed // of each document, instead of Seed.At
	Workers int           // goroutines that share the documents; 0 means 1
	// Epsilons, if not nil, gives each document the ε of its words, instead of the
	// mechanism's: documents of one ε are privatised by Mechanism.At of it.
	Epsilons []float64
	// Aligned leaves the empty word in the place of a word that was removed, so
	// that text and original can be compared word by word.
	Aligned bool
}

// Warnings returns what a reader of the privatised text must know besides the
// guarantee g of the mechanism: what it does not cover. Each warning is one
// sentence.
func (o TextOptions) Warnings(g Guarantee) []string {
	var all []string
	switch {
	case !g.Holds():
		all = append(all, "nothing is guaranteed: "+g.Reason)
	case g.Scope != "":
		all = append(all, "the guarantee holds only "+g.Scope)
	}
	switch o.Policy {
	case Keep:
		all = append(all, "unknown words stay as they are: epsilon is infinite on them")
	case Drop:
		all = append(all, "unknown words are removed: that a word was unknown, and where, can be seen from the length")
	}
	return all
}

// PrivatizeText privatises tokenised documents. Document i uses the stream
// Seed.At(i), so the result does not depend on workers, batches or order;
// its unknown words draw from a separate stream, so the policy does not change
// the result for known words. It returns one token list per document. Its
// length is that of the document, except under Drop and for a mechanism whose
// output is the empty word, which is left out; see TextOptions.Aligned.
//
// Words that the mechanism keeps (see KeepWords) stay unchanged, known or not.
// A mechanism made from a Rewriter decides itself about unknown words and the
// number of tokens. A cancelled ctx stops the work between batches.
func PrivatizeText(ctx context.Context, m *Mechanism, documents [][]string, o TextOptions) ([][]string, error) {
	if o.Policy == "" {
		o.Policy = Random
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	if err := o.check(m, len(documents)); err != nil {
		return nil, err
	}
	if b, ok := m.text.(budgeted); ok {
		return b.privatizeText(ctx, documents, o)
	}
	if m.text != nil {
		return rewriteFull(ctx, m.text, documents, o.seedOf, o.Workers)
	}
	t := &textRun{o, documents, make([][]string, len(documents))}
	if err := t.run(ctx, m); err != nil {
		return nil, err
	}
	return t.out, nil
}

// check returns an error for options that do not fit so many documents.
func (o TextOptions) check(m *Mechanism, documents int) error {
	if err := CheckPolicy(o.Policy); err != nil {
		return err
	}
	if err := check.AtLeast("workers", o.Workers, 1); err != nil {
		return err
	}
	if o.Seeds != nil && len(o.Seeds) != documents {
		return fmt.Errorf("%d seeds for %d documents", len(o.Seeds), documents)
	}
	if o.Epsilons != nil && len(o.Epsilons) != documents {
		return fmt.Errorf("%d epsilons for %d documents", len(o.Epsilons), documents)
	}
	for i, e := range o.Epsilons {
		if err := m.CheckEpsilon(e); err != nil {
			return fmt.Errorf("document %d: %w", i, err)
		}
		if m.text != nil && e != m.settings.Epsilon {
			return fmt.Errorf("document %d: %s has one epsilon, %v", i, m.settings.Mechanism, m.settings.Epsilon)
		}
	}
	return nil
}

// seedOf is the seed of document i.
func (o TextOptions) seedOf(i int) stream.Seed {
	if o.Seeds != nil {
		return o.Seeds[i]
	}
	return o.Seed.At(uint64(i))
}

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

// textRun is one call of PrivatizeText.
type textRun struct {
	TextOptions
	documents [][]string
	out       [][]string
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
		for _, b := range batchesOf(len(places), func(i int) int { return len(t.documents[places[i]]) }) {
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
	for i := range t.documents {
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
	known := make([]document, len(places))
	tokens := make([][]WordID, len(places))
	for i, place := range places {
		tokens[i] = m.tokens(t.documents[place])
		known[i] = document{slices.DeleteFunc(slices.Clone(tokens[i]), isSpecial), t.seedOf(place).Rand()}
	}
	if err := m.sampler.draw(ctx, known, workers); err != nil {
		return err
	}
	for i, place := range places {
		t.out[place] = t.replaced(m, place, tokens[i], known[i].words)
		known[i] = document{}
	}
	return nil
}

// keptToken stands for a token that stays as it is; one that is not in the vocabulary
// is Unknown.
const keptToken WordID = embeddings.Unknown - 1

func isSpecial(id WordID) bool { return id < 0 }

// tokens looks the tokens of a document up.
func (m *Mechanism) tokens(document []string) []WordID {
	ids := make([]WordID, len(document))
	for i, token := range document {
		if _, kept := m.keeps[token]; kept {
			ids[i] = keptToken
		} else {
			ids[i] = m.vocabulary.ID(token)
		}
	}
	return ids
}

// replaced puts privatised words in the place of those of a document that are known,
// and applies the policy to the others.
func (t *textRun) replaced(m *Mechanism, place int, tokens, privatised []WordID) []string {
	out := make([]string, 0, len(tokens))
	var unknown *rand.Rand
	for i, id := range tokens {
		token := t.documents[place][i]
		switch {
		case id == keptToken:
		case id != embeddings.Unknown:
			token = m.vocabulary.Word(privatised[0])
			privatised = privatised[1:]
			if token == "" && !t.Aligned {
				continue
			}
		case t.Policy == Drop && !t.Aligned:
			continue
		case t.Policy == Drop:
			token = ""
		case t.Policy == Random:
			if unknown == nil {
				unknown = t.seedOf(place).Derive("unknown").Rand()
			}
			token = m.vocabulary.Word(WordID(unknown.IntN(m.vocabulary.Len())))
		}
		out = append(out, token)
	}
	return out
}
