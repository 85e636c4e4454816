package mechanisms

import (
	"context"

	"mldpbench/internal/stream"
)

// Policy says what happens to a word outside the vocabulary.
type Policy string

const (
	Keep   Policy = "keep"   // leave it as it is: the released packages; leaks the word
	Drop   Policy = "drop"   // remove it
	Random Policy = "random" // a word drawn uniformly from the space; the default
)

// Text privatises tokenised documents. Document i uses the stream seed.At(i),
// so the result does not depend on workers, batches or order. It returns one
// token list per document, of equal length except under Drop.
//
// workers goroutines share the documents in batches; ctx stops between batches.
func Text(ctx context.Context, m Mechanism, policy Policy, documents [][]string, seed stream.Seed, workers int) ([][]string, error) {
	panic("contract only: to be written with the mechanisms")
}
