package lab

import (
	"errors"
	"slices"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/experiments/study"
	"mldpbench/stream"
)

// Wants lists the resources that a study uses, by reference.
type Wants struct {
	Datasets   []study.DatasetSpec
	Embeddings []study.EmbeddingSpec
	Thesaurus  bool
	English    string
	Encoder    string
	Models     []ModelRef
}

// Missing lists the entries of the fetch catalogue that are wanted and that the
// data folder root does not have, in the order of the catalogue. encoder tells
// whether the sentence encoder counts: a run without it measures CS with SIF.
func Missing(w Wants, root string, encoder bool) ([]fetch.Entry, error) {
	needed := map[string]bool{}
	var unknown error // of an embedding that only the user's folder could have
	for _, d := range w.Datasets {
		names, err := datasets.Needs(d.Request(root, stream.Seed{}))
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			needed[n] = true
		}
	}
	for _, e := range w.Embeddings {
		if e.Name == study.GeneratedEmbedding || e.Name == study.NoVectors && e.File == "" {
			continue
		}
		needed["wordnet"] = needed["wordnet"] || w.Thesaurus
		ref := e.File
		if ref == "" {
			ref = e.Name
		}
		for _, dimension := range e.Dimensions {
			_, _, err := locateEmbedding(ref, dimension, root)
			var missing *fetch.MissingError
			if errors.As(err, &missing) {
				needed[missing.Entry.Name] = true
			} else if err != nil && unknown == nil {
				unknown = err
			}
		}
	}
	needed["words-basic"] = w.English == nltkWords
	needed[catalogueWords] = needed[catalogueWords] || w.English == catalogueWords || w.English == nltkWords
	needed[CatalogueEncoder] = encoder && w.Encoder == CatalogueEncoder
	missing := slices.DeleteFunc(slices.Clone(fetch.Catalogue()), func(e fetch.Entry) bool {
		_, err := e.Present(root)
		return !needed[e.Name] || err == nil
	})
	if len(missing) > 0 {
		return missing, nil
	}
	return nil, unknown
}
