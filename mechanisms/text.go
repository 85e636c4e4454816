package mechanisms

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/stream"
)

// Policy is the treatment of a word outside the mechanism's vocabulary.
type Policy string

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
	// mechanism's.
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
	o.Policy, o.Workers = cmp.Or(o.Policy, Random), cmp.Or(o.Workers, 1)
	if err := cmp.Or(CheckPolicy(o.Policy), check.AtLeast("workers", o.Workers, 1)); err != nil {
		return nil, err
	}
	if o.Seeds != nil && len(o.Seeds) != len(documents) {
		return nil, fmt.Errorf("%d seeds for %d documents", len(o.Seeds), len(documents))
	}
	if o.Epsilons != nil && len(o.Epsilons) != len(documents) {
		return nil, fmt.Errorf("%d epsilons for %d documents", len(o.Epsilons), len(documents))
	}
	for i, e := range o.Epsilons {
		if err := m.CheckEpsilon(e); err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
	}
	t := &textRun{m, o, documents, make([][]string, len(documents))}
	if m.text != nil {
		return rewriteFull(ctx, m.text, documents, t.seedOf, o.Workers)
	}
	if m.sampler.whole() {
		if err := t.part(ctx, 0, len(documents), o.Workers); err != nil {
			return nil, err
		}
		return t.out, nil
	}
	words := func(document []string) int { return len(document) }
	err := inBatches(ctx, documents, o.Workers, words, func(ctx context.Context, start, end int) error {
		return t.part(ctx, start, end, 1)
	})
	if err != nil {
		return nil, err
	}
	return t.out, nil
}

// inBatches calls part with batches of documents, on some goroutines. A cancelled
// ctx stops between batches.
func inBatches(ctx context.Context, documents [][]string, workers int, sizeOf func([]string) int,
	part func(ctx context.Context, start, end int) error) error {
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for start := 0; start < len(documents) && running.Err() == nil; {
		end, words := start, 0
		for end < len(documents) && words < batchWords {
			words += sizeOf(documents[end])
			end++
		}
		from := start
		g.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			return part(running, from, end)
		})
		start = end
	}
	return cmp.Or(g.Wait(), ctx.Err())
}

// textRun is one call of PrivatizeText.
type textRun struct {
	*Mechanism
	options   TextOptions
	documents [][]string
	out       [][]string
}

func (t *textRun) seedOf(i int) stream.Seed {
	if t.options.Seeds != nil {
		return t.options.Seeds[i]
	}
	return t.options.Seed.At(uint64(i))
}

// part privatises documents start to end.
func (t *textRun) part(ctx context.Context, start, end, workers int) error {
	inside := make([]Document, end-start)
	for i := range inside {
		inside[i] = Document{t.encode(start + i), t.settings.Epsilon, t.seedOf(start + i).Rand()}
		if t.options.Epsilons != nil {
			inside[i].Epsilon = t.options.Epsilons[start+i]
		}
	}
	if err := t.sampler.draw(ctx, inside, workers); err != nil {
		return err
	}
	for i := range inside {
		t.decode(start+i, inside[i].Words)
		inside[i] = Document{}
	}
	return nil
}

// encode collects the known words of a document that are not kept.
func (t *textRun) encode(i int) []WordID {
	ids := make([]WordID, 0, len(t.documents[i]))
	for _, token := range t.documents[i] {
		if _, kept := t.keeps[token]; kept {
			continue
		}
		if id := t.vocabulary.ID(token); id != embeddings.Unknown {
			ids = append(ids, id)
		}
	}
	return ids
}

// decode puts the privatised words back in place and applies the policy to
// the others.
func (t *textRun) decode(i int, known []WordID) {
	v := t.vocabulary
	out := make([]string, 0, len(t.documents[i]))
	var unknown *rand.Rand
	for _, token := range t.documents[i] {
		if _, kept := t.keeps[token]; kept {
			out = append(out, token)
			continue
		}
		if v.ID(token) != embeddings.Unknown {
			if w := v.Word(known[0]); w != "" || t.options.Aligned {
				out = append(out, w)
			}
			known = known[1:]
			continue
		}
		switch t.options.Policy {
		case Keep:
			out = append(out, token)
		case Drop:
			if t.options.Aligned {
				out = append(out, "")
			}
		case Random:
			if unknown == nil {
				unknown = t.seedOf(i).Derive("unknown").Rand()
			}
			out = append(out, v.Word(WordID(unknown.IntN(v.Len()))))
		}
	}
	t.out[i] = out
}
