// Package sentence turns sentences into vectors whose cosine says how alike
// the sentences are: any ONNX encoder in a folder, or, where there is none,
// the weighted mean of word vectors.
//
// It believes that a sentence's vector must not depend on what else is encoded
// with it, nor on how many goroutines ask: records of two machines or two
// shards are compared to the last digit. It computes no similarity itself;
// that is the business of metrics.
package sentence

import "context"

// Encoder maps sentences to vectors of one length. Implementations are safe
// for concurrent use and return the same vector for the same sentence.
type Encoder interface {
	// Name appears in every record: the model's folder, or "sif".
	Name() string
	// Encode returns one vector per sentence.
	Encode(ctx context.Context, sentences []string) ([][]float32, error)
}
