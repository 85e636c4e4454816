// Package sentence turns sentences into vectors whose cosine measures how
// similar the sentences are: the weighted mean of word vectors, where no model
// (mechanisms/external) is named. A sentence's vector does not depend on how many
// goroutines call the encoder, because records of two machines or two shards are
// compared. Similarity itself is computed by package metrics.
package sentence

import "context"

// Encoder maps sentences to vectors of equal length. Implementations are safe
// for concurrent use and return the same vector for the same sentence.
type Encoder interface {
	// Name appears in every record: the model's folder, or "sif".
	Name() string
	// Encode returns one vector per sentence.
	Encode(ctx context.Context, sentences []string) ([][]float32, error)
}
