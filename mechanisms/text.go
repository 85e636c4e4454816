package mechanisms

import (
	"context"
	"fmt"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/stream"
)

// Policy says what happens to a word outside the mechanism's vocabulary.
type Policy string

const (
	Keep   Policy = "keep"   // leave it as it is: the released packages; leaks the word
	Drop   Policy = "drop"   // remove it
	Random Policy = "random" // a word drawn uniformly from the vocabulary; the default
)

// Policies are all policies, the default first.
var Policies = []Policy{Random, Keep, Drop}

// CheckPolicy returns an error for a policy that does not exist.
func CheckPolicy(p Policy) error {
	return check.OneOf("policy", string(p), string(Random), string(Keep), string(Drop))
}

// Text privatises tokenised documents. Document i uses the stream seed.At(i),
// so the result does not depend on workers, batches or order; its unknown
// words draw from a stream of their own, so the policy does not change what
// becomes of the known ones. It returns one token list per document, of equal
// length except under Drop.
//
// workers goroutines share the documents in batches; ctx stops between batches.
func Text(ctx context.Context, m Mechanism, policy Policy, documents [][]string, seed stream.Seed, workers int) ([][]string, error) {
	return TextFrom(ctx, m, policy, documents, 0, seed, workers)
}

// TextFrom is Text for documents numbered from first on, for callers that have
// them bit by bit: the result does not depend on how many come at a time.
func TextFrom(ctx context.Context, m Mechanism, policy Policy, documents [][]string, first uint64, seed stream.Seed, workers int) ([][]string, error) {
	if err := CheckPolicy(policy); err != nil {
		return nil, err
	}
	if err := check.AtLeast("workers", workers, 1); err != nil {
		return nil, err
	}
	t := &textRun{
		mechanism: m, policy: policy, documents: documents, first: first, seed: seed,
		ids: make([][]WordID, len(documents)),
		out: make([][]string, len(documents)),
	}
	return t.run(ctx, workers)
}

// run privatises all documents.
func (t *textRun) run(ctx context.Context, workers int) ([][]string, error) {
	var err error
	if g, ok := t.mechanism.(grouped); ok {
		err = t.runGrouped(ctx, g, workers)
	} else {
		err = t.runBatches(ctx, workers)
	}
	if err == nil {
		err = Err(t.mechanism)
	}
	if err != nil {
		return nil, err
	}
	return t.out, nil
}

// grouped is the selection family: one table per distinct word of the whole
// corpus beats any division by documents.
type grouped interface {
	privatizeGrouped(ctx context.Context, dst, src [][]WordID, epsilons [][]float64, rngs []*rand.Rand, workers int) error
}

// textRun is one call of Text.
type textRun struct {
	mechanism Mechanism
	policy    Policy
	documents [][]string
	first     uint64 // number of documents[0]
	seed      stream.Seed
	seeds     []stream.Seed // of each document, instead of seed.At; see TextSeeds
	ids       [][]WordID    // the known words of each document
	out       [][]string
}

func (t *textRun) seedOf(i int) stream.Seed {
	if t.seeds != nil {
		return t.seeds[i]
	}
	return t.seed.At(t.first + uint64(i))
}

func (t *textRun) runGrouped(ctx context.Context, g grouped, workers int) error {
	rngs := make([]*rand.Rand, len(t.documents))
	for i := range t.documents {
		t.encode(i)
		rngs[i] = t.seedOf(i).Rand()
	}
	if err := g.privatizeGrouped(ctx, t.ids, t.ids, nil, rngs, workers); err != nil {
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
	rngs := make([]*rand.Rand, end-start)
	for i := start; i < end; i++ {
		t.encode(i)
		rngs[i-start] = t.seedOf(i).Rand()
	}
	ids := t.ids[start:end]
	if b, ok := t.mechanism.(Batcher); ok {
		b.PrivatizeBatch(ids, ids, nil, rngs)
	} else {
		for i := range ids {
			t.mechanism.Privatize(ids[i], ids[i], nil, rngs[i])
		}
	}
	for i := start; i < end; i++ {
		t.decode(i)
	}
}

// encode collects the known words of a document.
func (t *textRun) encode(i int) {
	v := t.mechanism.Vocabulary()
	ids := make([]WordID, 0, len(t.documents[i]))
	for _, token := range t.documents[i] {
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
		if v.ID(token) != embeddings.Unknown {
			out = append(out, v.Word(known[0]))
			known = known[1:]
			continue
		}
		switch t.policy {
		case Keep:
			out = append(out, token)
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

// CheckEpsilons checks per-word epsilons before they are given to Privatize,
// which takes them unchecked.
func CheckEpsilons(m Mechanism, epsilons []float64) error {
	for i, e := range epsilons {
		if err := check.Positive("epsilon", e); err != nil {
			return fmt.Errorf("word %d: %w", i, err)
		}
		if c, ok := m.(EpsilonChecker); ok {
			if err := c.CheckEpsilon(e); err != nil {
				return fmt.Errorf("word %d: %w", i, err)
			}
		}
	}
	return nil
}
