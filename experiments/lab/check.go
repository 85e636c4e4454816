package lab

import (
	"context"
	"slices"

	"mldpbench/experiments/study"
	"mldpbench/stream"
)

// Check opens all wanted resources and passes on each error with the key and
// the value that name the resource in a study file. Where documents are drawn,
// it draws one sample.
func Check(ctx context.Context, w Wants, root string, wrong func(err error, key, value string)) {
	l := New(root)
	note := func(err error, key, value string) {
		if err != nil {
			wrong(err, key, value)
		}
	}
	var corpora []*Corpus
	generated := true
	for _, d := range w.Datasets {
		c, err := l.Corpus(ctx, Sample{d, stream.FromUint64(1)})
		note(err, "name", d.Name)
		if err == nil {
			corpora, generated = append(corpora, c), generated && c.Generated
		}
	}
	var keep func(string) bool // the vectors that a run reads; all of them without data sets
	if len(corpora) > 0 {
		keep = func(word string) bool {
			return slices.ContainsFunc(corpora, func(c *Corpus) bool { return c.Has(word) })
		}
	}
	for _, e := range w.Embeddings {
		if e.Name == study.NoVectors && e.File == "" {
			continue
		}
		ref, key := e.Name, "name"
		if e.File != "" {
			ref, key = e.File, "file"
		}
		generated = generated && ref == study.GeneratedEmbedding
		for _, dimension := range e.Dimensions {
			_, err := OpenSpace(ctx, ref, dimension, root, keep)
			note(err, key, ref)
		}
	}
	if w.Thesaurus {
		_, err := l.Thesaurus(generated)
		note(err, "mechanisms", "")
	}
	if w.English != "" {
		_, err := l.English(w.English)
		note(err, "english", w.English)
	}
	if w.Encoder != "" {
		ref, err := l.EncoderRef(w.Encoder)
		if err == nil && ref != SIFEncoder { // which is made from a text's own vectors
			if _, err = l.OfEncoder(w.Encoder); err == nil {
				_, err = l.Encoder(ctx, w.Encoder, nil, nil)
			}
		}
		note(err, "encoder", w.Encoder)
	}
	for _, ref := range w.Models {
		_, err := l.OfModel(ref)
		if err == nil {
			_, err = l.Model(ref)
		}
		note(err, ref.Key, ref.Folder)
	}
	note(l.Close(), "encoder", w.Encoder)
}
