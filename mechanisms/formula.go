package mechanisms

import (
	"context"
	"math"
	"math/rand/v2"

	"mldpbench/embeddings"
)

// Formula describes a mechanism whose probabilities a formula gives and that is
// cheap to draw from without a table of them, or of which nobody knows more than
// how to draw.
type Formula struct {
	Vocabulary *embeddings.Vocabulary // of inputs and outputs
	// Draw returns an output. All randomness is that of rng.
	Draw func(word WordID, rng *rand.Rand) WordID
	// LogRow writes ln Pr[y | word] of all outputs y to dst, which is as long as the
	// vocabulary; nil where they are not known.
	LogRow func(dst []float64, word WordID)
	// Prepare is told the words that Draw will get next, of which what they need can
	// be searched for together; nil where they need nothing.
	Prepare func(words []WordID)
}

// ByFormula makes a mechanism of a formula, at the ε of s.
func ByFormula(s Settings, g Guarantee, f Formula) *Mechanism {
	return &Mechanism{
		settings:   s,
		guarantee:  g,
		vocabulary: f.Vocabulary,
		sampler:    formulaSampler(f),
		row:        f.LogRow,
	}
}

// formulaSampler draws word by word.
type formulaSampler Formula

func (f formulaSampler) whole() bool { return false }

// draw prepares the words of all documents together.
func (f formulaSampler) draw(_ context.Context, documents []document, _ int) error {
	if f.Prepare != nil {
		var words []WordID
		for _, x := range documents {
			words = append(words, x.words...)
		}
		f.Prepare(words)
	}
	for _, x := range documents {
		for i, w := range x.words {
			x.words[i] = f.Draw(w, x.rng)
		}
	}
	return nil
}

// certain writes the log-probabilities of the distribution that always returns
// one word.
func certain(dst []float64, word WordID) {
	for y := range dst {
		dst[y] = math.Inf(-1)
	}
	dst[word] = 0
}
