package sentence

import (
	"context"
	"fmt"

	"mldpbench/metrics"
	"mldpbench/models/transformer"
)

// ONNX is a sentence encoder read from a folder.
type ONNX struct{ *transformer.Model }

// Open reads the encoder in dir: model.onnx and tokenizer.json, and what else
// transformer.Open takes from a folder of sentence-transformers.
//
// An output called sentence_embedding, or one with a vector per sentence as the
// only output, is used unchanged. Otherwise token vectors are averaged, or the
// first is taken where 1_Pooling/config.json says so. White space is collapsed,
// and sentences are cut to the smallest limit that any of the files states.
// Open then checks that the encoder places two sentences with the same meaning
// closer together than two with different meanings.
func Open(ctx context.Context, dir string) (*ONNX, error) {
	m, err := transformer.Open(dir, transformer.Encoder)
	if err != nil {
		return nil, fmt.Errorf("sentence encoder %w", err) // which begins with the folder
	}
	if err := selfTest(ctx, m); err != nil {
		return nil, fmt.Errorf("sentence encoder %s: self-test: %w", dir, err)
	}
	return &ONNX{m}, nil
}

// known holds two sentences with the same meaning and one with a different
// meaning.
var known = [3]string{
	"the movie was really great and i enjoyed it", "i liked this film very much, it was wonderful",
	"stock prices fell sharply after the bank raised interest rates",
}

// selfTest detects models that load but do not work: a tokenizer without words,
// damaged weights.
func selfTest(ctx context.Context, m *transformer.Model) error {
	vectors, err := m.Encode(ctx, known[:])
	if err != nil {
		return err
	}
	alike, different := metrics.Cosine(vectors[0], vectors[1]), metrics.Cosine(vectors[0], vectors[2])
	if !(alike > different) {
		return fmt.Errorf("%q is as near to %q (cosine %.3f) as to %q (%.3f): damaged weights, or no sentence encoder",
			known[0], known[2], different, known[1], alike)
	}
	return nil
}
