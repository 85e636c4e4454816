package mechanisms

import (
	"context"
	"fmt"

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
	o = o.withDefaults()
	if err := o.check(m, len(documents)); err != nil {
		return nil, err
	}
	if b, ok := m.text.(budgeted); ok {
		return b.privatizeText(ctx, documents, o)
	}
	if d, ok := m.text.(documentText); ok {
		return Rewrite(ctx, d, documents, o.seedOf, o.Workers)
	}
	if m.text != nil {
		return rewriteFull(ctx, m.text, documents, o.seedOf, o.Workers)
	}
	texts := spelledTexts{m, o.Aligned, documents, make([][]string, len(documents))}
	t := &textRun{o, texts}
	if err := t.run(ctx, m); err != nil {
		return nil, err
	}
	return texts.out, nil
}

// Ids of words that no mechanism replaces, beside embeddings.Unknown.
const (
	// Kept is a word that stays as it is: one that is kept, known or not, or, of what is
	// returned, an unknown one under the policy Keep.
	Kept WordID = embeddings.Unknown - 1
	// Removed is, of what is returned, an unknown word under the policy Drop.
	Removed WordID = embeddings.Unknown - 2
)

// PrivatizeWords is PrivatizeText for words that are found already: ids of the vocabulary
// of m, Unknown, or Kept. Every word that is returned has the place of its original;
// a word that is deleted is the empty word of the vocabulary, or Removed. The mechanism
// is not one of a Rewriter, which takes tokens.
func PrivatizeWords(ctx context.Context, m *Mechanism, documents [][]WordID, o TextOptions) ([][]WordID, error) {
	o = o.withDefaults()
	if err := o.check(m, len(documents)); err != nil {
		return nil, err
	}
	if m.text != nil {
		return nil, fmt.Errorf("%s rewrites text: it takes tokens, not words of a vocabulary", m.settings.Mechanism)
	}
	texts := foundTexts{documents, make([][]WordID, len(documents))}
	t := &textRun{o, texts}
	if err := t.run(ctx, m); err != nil {
		return nil, err
	}
	return texts.out, nil
}

// withDefaults fills in what zero values mean.
func (o TextOptions) withDefaults() TextOptions {
	if o.Policy == "" {
		o.Policy = Random
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	return o
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
