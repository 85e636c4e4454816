package mechanisms

import (
	"context"
	"fmt"
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
	Policy Policy // of unknown words; "" means Random
	// First is the number of the first document, for callers that pass
	// documents in parts: the result does not depend on the size of the parts.
	First   uint64
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
// Seed.At(First+i), so the result does not depend on workers, batches or order;
// its unknown words draw from a separate stream, so the policy does not change
// the result for known words. It returns one token list per document. Its
// length is that of the document, except under Drop and for a mechanism whose
// output is the empty word, which is left out; see TextOptions.Aligned.
//
// Words that the mechanism keeps (see KeepWords) stay unchanged, known or not.
// A mechanism made from a Rewriter decides itself about unknown words and the
// number of tokens. A cancelled ctx stops the work between batches.
func PrivatizeText(ctx context.Context, m Mechanism, documents [][]string, o TextOptions) ([][]string, error) {
	if o.Policy == "" {
		o.Policy = Random
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	if err := CheckPolicy(o.Policy); err != nil {
		return nil, err
	}
	if err := check.AtLeast("workers", o.Workers, 1); err != nil {
		return nil, err
	}
	if o.Seeds != nil && len(o.Seeds) != len(documents) {
		return nil, fmt.Errorf("%d seeds for %d documents", len(o.Seeds), len(documents))
	}
	if o.Epsilons != nil && len(o.Epsilons) != len(documents) {
		return nil, fmt.Errorf("%d epsilons for %d documents", len(o.Epsilons), len(documents))
	}
	for i, e := range o.Epsilons {
		if err := CheckEpsilon(m, e); err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
	}
	t := &textRun{
		mechanism: m, options: o, documents: documents,
		ids: make([][]WordID, len(documents)),
		out: make([][]string, len(documents)),
	}
	if k, ok := m.(keeper); ok {
		t.mechanism, t.keeps = k.base(), k.keeps
	}
	if w, ok := m.(*wordByWord); ok {
		if err := w.Err(); err != nil {
			return nil, err
		}
		return w.text(ctx, documents, t.seedOf, o.Workers)
	}
	var err error
	if g, ok := t.mechanism.(grouped); ok {
		err = t.runGrouped(ctx, g, o.Workers)
	} else {
		err = t.runBatches(ctx, o.Workers)
	}
	if err == nil {
		err = Err(t.mechanism)
	}
	if err != nil {
		return nil, err
	}
	return t.out, nil
}

// Text is PrivatizeText from document 0 on; workers must be at least 1.
func Text(
	ctx context.Context, m Mechanism, policy Policy, documents [][]string, seed stream.Seed, workers int,
) ([][]string, error) {
	if err := check.AtLeast("workers", workers, 1); err != nil {
		return nil, err
	}
	return PrivatizeText(ctx, m, documents, TextOptions{Policy: policy, Seed: seed, Workers: workers})
}

// grouped is implemented by the selection family: one table per distinct word
// of the whole corpus is faster than any division by documents.
type grouped interface {
	privatizeGrouped(ctx context.Context, dst, src [][]WordID, epsilons [][]float64, rngs []*rand.Rand,
		workers int) error
}

// grouping makes a mechanism of that family from what privatises many texts.
type grouping func(ctx context.Context, dst, src [][]WordID, epsilons [][]float64, rngs []*rand.Rand,
	workers int) error

func (g grouping) privatizeGrouped(ctx context.Context, dst, src [][]WordID, epsilons [][]float64,
	rngs []*rand.Rand, workers int) error {
	return g(ctx, dst, src, epsilons, rngs, workers)
}

// Privatize is PrivatizeBatch of one text.
func (g grouping) Privatize(dst, src []WordID, epsilons []float64, rng *rand.Rand) {
	g.PrivatizeBatch([][]WordID{dst}, [][]WordID{src}, [][]float64{epsilons}, []*rand.Rand{rng})
}

// PrivatizeBatch computes what every distinct word needs once.
func (g grouping) PrivatizeBatch(dst, src [][]WordID, epsilons [][]float64, rngs []*rand.Rand) {
	_ = g(context.Background(), dst, src, epsilons, rngs, 1) // only a cancelled context can fail
}

// textRun is one call of PrivatizeText.
type textRun struct {
	mechanism Mechanism
	keeps     func(word string) bool // nil keeps none
	options   TextOptions
	documents [][]string
	ids       [][]WordID // the words of each document that are passed to the mechanism
	out       [][]string
}

// begin returns what the mechanism needs for documents start to end.
func (t *textRun) begin(start, end int) (ids [][]WordID, epsilons [][]float64, rngs []*rand.Rand) {
	epsilons, rngs = make([][]float64, end-start), make([]*rand.Rand, end-start)
	for i := start; i < end; i++ {
		t.encode(i)
		rngs[i-start] = t.seedOf(i).Rand()
		if t.options.Epsilons != nil {
			epsilons[i-start] = slices.Repeat(t.options.Epsilons[i:i+1], len(t.ids[i]))
		}
	}
	return t.ids[start:end], epsilons, rngs
}

func (t *textRun) seedOf(i int) stream.Seed {
	if t.options.Seeds != nil {
		return t.options.Seeds[i]
	}
	return t.options.Seed.At(t.options.First + uint64(i))
}

func (t *textRun) runGrouped(ctx context.Context, g grouped, workers int) error {
	ids, epsilons, rngs := t.begin(0, len(t.documents))
	if err := g.privatizeGrouped(ctx, ids, ids, epsilons, rngs, workers); err != nil {
		return err
	}
	for i := range t.documents {
		t.decode(i)
	}
	return nil
}

func (t *textRun) runBatches(ctx context.Context, workers int) error {
	var g errgroup.Group
	g.SetLimit(workers)
	for start := 0; start < len(t.documents) && ctx.Err() == nil; {
		end, words := start, 0
		for end < len(t.documents) && words < batchWords {
			words += len(t.documents[end])
			end++
		}
		from := start
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			t.runBatch(from, end)
			return nil
		})
		start = end
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

func (t *textRun) runBatch(start, end int) {
	ids, epsilons, rngs := t.begin(start, end)
	privatizeAll(t.mechanism, ids, epsilons, rngs)
	for i := start; i < end; i++ {
		t.decode(i)
	}
}

// privatizeAll overwrites documents, together where the mechanism can.
func privatizeAll(m Mechanism, ids [][]WordID, epsilons [][]float64, rngs []*rand.Rand) {
	if b, ok := m.(Batcher); ok {
		b.PrivatizeBatch(ids, ids, epsilons, rngs)
		return
	}
	for i := range ids {
		m.Privatize(ids[i], ids[i], epsilons[i], rngs[i])
	}
}

// encode collects the known words of a document that are not kept.
func (t *textRun) encode(i int) {
	v := t.mechanism.Vocabulary()
	ids := make([]WordID, 0, len(t.documents[i]))
	for _, token := range t.documents[i] {
		if t.keeps != nil && t.keeps(token) {
			continue
		}
		if id := v.ID(token); id != embeddings.Unknown {
			ids = append(ids, id)
		}
	}
	t.ids[i] = ids
}

// decode puts the privatised words back in place and applies the policy to
// the others.
func (t *textRun) decode(i int) {
	v := t.mechanism.Vocabulary()
	known := t.ids[i]
	out := make([]string, 0, len(t.documents[i]))
	var unknown *rand.Rand
	for _, token := range t.documents[i] {
		if t.keeps != nil && t.keeps(token) {
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
	t.out[i], t.ids[i] = out, nil
}

// checkWord returns an error for an id outside the vocabulary.
func checkWord(v *embeddings.Vocabulary, word WordID) error {
	if word < 0 || int(word) >= v.Len() {
		return fmt.Errorf("word = %d: must be in [0, %d)", word, v.Len())
	}
	return nil
}

// EpsilonChecker is implemented by mechanisms that are not defined for every
// ε > 0.
type EpsilonChecker interface {
	CheckEpsilon(epsilon float64) error
}

// CheckEpsilon checks the ε of a word. Call it before Privatize, which does not.
func CheckEpsilon(m Mechanism, epsilon float64) error {
	if err := check.Positive("epsilon", epsilon); err != nil {
		return err
	}
	if c, ok := m.(EpsilonChecker); ok {
		return c.CheckEpsilon(epsilon)
	}
	return nil
}
