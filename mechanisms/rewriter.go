package mechanisms

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/stream"
)

// External is the variant of everything that is not built in: a command, or
// text that was privatised elsewhere. Its guarantee is declared by its maker;
// nothing here proves it.
const External Variant = "external"

// Rewriter privatises whole documents of tokens: a command, or text made
// elsewhere. Unlike a Mechanism it can fail, and it may change the number of
// tokens.
type Rewriter interface {
	Settings() Settings
	// Guarantee returns the declared guarantee, per word unless its metric says
	// otherwise. Its Distance is nil where the distance depends on a space.
	Guarantee() Guarantee
	// Aligned reports whether every token becomes one token at the same
	// position. Metrics that compare token by token exist for aligned rewriters
	// only.
	Aligned() bool
	// Repeatable reports whether equal seeds give equal text.
	Repeatable() bool
	// Rewrite returns one token list per document, drawn from the seed of that
	// document alone. It is safe for concurrent use.
	Rewrite(ctx context.Context, documents [][]string, seeds []stream.Seed) ([][]string, error)
}

// wholeText is a Rewriter that needs all documents in one call.
type wholeText interface{ WholeText() }

// Rewrite is PrivatizeText for a Rewriter: document i uses seedOf(i). The
// documents are divided in batches among workers goroutines; the result depends
// on neither batches nor workers. The rewriter handles unknown words.
func Rewrite(ctx context.Context, r Rewriter, documents [][]string, seedOf func(i int) stream.Seed,
	workers int) ([][]string, error) {
	if err := check.AtLeast("workers", workers, 1); err != nil {
		return nil, err
	}
	out := make([][]string, len(documents))
	batches := batchesOf(len(documents), func(i int) int { return textBytes(documents[i]) })
	if _, whole := r.(wholeText); whole && len(documents) > 0 {
		batches = []documentBatch{{0, len(documents)}}
	}
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for _, b := range batches {
		if running.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			private, err := rewriteBatch(running, r, documents[b.start:b.end], b.start, seedOf)
			copy(out[b.start:b.end], private)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, ctx.Err()
}

// rewriteBatch rewrites documents, the first of which has a number.
func rewriteBatch(ctx context.Context, r Rewriter, documents [][]string, first int,
	seedOf func(i int) stream.Seed) ([][]string, error) {
	seeds := make([]stream.Seed, len(documents))
	for i := range seeds {
		seeds[i] = seedOf(first + i)
	}
	private, err := r.Rewrite(ctx, documents, seeds)
	if err != nil {
		return nil, err
	}
	return private, checkRewritten(r, documents, private, first)
}

// textBytes is the size of a document as a number of words of 8 bytes.
func textBytes(document []string) int {
	return list.Sum(document, func(t string) int { return 1 + len(t)/8 })
}

func checkRewritten(r Rewriter, before, after [][]string, first int) error {
	if len(after) != len(before) {
		return fmt.Errorf("%s: %d documents became %d", r.Settings().Mechanism, len(before), len(after))
	}
	for i := range before {
		if r.Aligned() && len(before[i]) != len(after[i]) {
			return fmt.Errorf("%s: document %d: %d tokens became %d, though it declares that tokens stay aligned",
				r.Settings().Mechanism, first+i, len(before[i]), len(after[i]))
		}
	}
	return nil
}

// outsideVocabulary is the output of a mechanism made of a Rewriter that stands
// for every word outside the space.
const outsideVocabulary = "(outside the vocabulary)"

// WordByWord makes a Mechanism out of an aligned Rewriter, so that audit,
// deniability and calibrate can sample it word by word. The vocabulary is that of
// the space plus outsideVocabulary. Merging outputs into that word is
// post-processing, so the guarantee still holds. PrivatizeText uses Rewrite for
// the text, which keeps words outside the space.
func WordByWord(r Rewriter, space *embeddings.Space) (*Mechanism, error) {
	name := r.Settings().Mechanism
	g := r.Guarantee()
	if !r.Aligned() {
		return nil, notByWord(name)
	}
	if g.Holds() && g.Metric != "euclidean" && g.Metric != "discrete" {
		return nil, fmt.Errorf("%s declares a guarantee in the metric %q: word by word only euclidean and "+
			"discrete are known", name, g.Metric)
	}
	return Rewriting(r, space)
}

func notByWord(name string) error {
	return fmt.Errorf("%s changes the number of tokens: it cannot be taken word by word", name)
}

// Rewriting is WordByWord for any Rewriter, used for its text. Privatize fails
// where tokens do not stay in place (see TakesWords), and a guarantee in a
// metric unknown here has no Distance. Without a space, nil, no word is known.
func Rewriting(r Rewriter, space *embeddings.Space) (*Mechanism, error) {
	var words []string
	if space != nil {
		words = slices.Clone(space.Vocabulary.Words())
	}
	v, err := embeddings.NewVocabulary(append(words, outsideVocabulary))
	if err != nil {
		return nil, err
	}
	g := r.Guarantee()
	switch {
	case g.Metric == "euclidean" && space != nil:
		g.Distance = space.Distance
		g.EuclideanEpsilon = g.Epsilon
	case g.Metric == "discrete":
		g.Distance = Discrete
	}
	return &Mechanism{
		settings:   r.Settings(),
		guarantee:  g,
		vocabulary: v,
		text:       r,
		sampler:    rewriting{r, v},
	}, nil
}

// Outside reports whether a Rewriter makes the text.
func (m *Mechanism) Outside() bool { return m.text != nil }

// TakesWords reports whether the mechanism can privatise single words. One that
// rewrites text as a whole cannot.
func (m *Mechanism) TakesWords() bool { return m.text == nil || m.text.Aligned() }

// Repeatable reports whether equal seeds give equal text, as all built-in
// mechanisms do.
func (m *Mechanism) Repeatable() bool { return m.text == nil || m.text.Repeatable() }

// rewriteFull rewrites documents that are not empty.
func rewriteFull(ctx context.Context, r Rewriter, documents [][]string, seedOf func(i int) stream.Seed,
	workers int) ([][]string, error) {
	out := make([][]string, len(documents))
	var full [][]string
	var at []int
	for i, d := range documents {
		out[i] = []string{}
		if len(d) > 0 {
			full = append(full, d)
			at = append(at, i)
		}
	}
	private, err := Rewrite(ctx, r, full, func(i int) stream.Seed {
		return seedOf(at[i])
	}, workers)
	for i, d := range private {
		out[at[i]] = d
	}
	return out, err
}

// rewriting samples a Rewriter word by word.
type rewriting struct {
	rewriter   Rewriter
	vocabulary *embeddings.Vocabulary
}

func (s rewriting) whole() bool { return false }

// draw rewrites each document with a seed from its generator.
func (s rewriting) draw(ctx context.Context, documents []document, _ int) error {
	for _, x := range documents {
		var seed stream.Seed
		for i := 0; i < len(seed); i += 8 {
			binary.LittleEndian.PutUint64(seed[i:], x.rng.Uint64())
		}
		if len(x.words) == 0 {
			continue
		}
		if !s.rewriter.Aligned() {
			return notByWord(s.rewriter.Settings().Mechanism)
		}
		tokens := [][]string{list.Map(x.words, s.vocabulary.Word)}
		private, err := rewriteBatch(ctx, s.rewriter, tokens, 0, func(int) stream.Seed {
			return seed
		})
		if err != nil {
			return err
		}
		for i, t := range private[0] {
			x.words[i] = s.vocabulary.ID(t)
			if x.words[i] == embeddings.Unknown {
				x.words[i] = WordID(s.vocabulary.Len() - 1)
			}
		}
	}
	return nil
}
