package experiments

import (
	"errors"
	"slices"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/stream"
)

// request is what a study asks of a data set.
func (d DatasetSpec) request(root string, seed stream.Seed) datasets.Request {
	return datasets.Request{
		Name: d.Name, Root: root,
		File: d.File, TextColumns: d.Text, LabelColumn: d.Label, WordLevel: d.WordLevel,
		Sizes:     datasets.Sizes{Train: d.Train, Validation: d.Validation, Test: d.Test},
		MaxTokens: d.MaxTokens, Cleaning: datasets.Cleaning(d.Cleaning), Seed: seed,
	}
}

// Missing lists the entries of the fetch catalogue that the cells of a study
// need and the data folder root does not have, in the order of the catalogue.
// encoder says whether the sentence encoder counts: a run without it measures
// CS with SIF.
func Missing(s *Study, root string, encoder bool) ([]fetch.Entry, error) {
	cells, err := s.Grid(traits)
	if err != nil {
		return nil, err
	}
	w := newWorkspace(s, root)
	needed := map[string]bool{}
	for _, c := range cells {
		names, err := datasets.Needs(c.Dataset.request(root, stream.Seed{}))
		if err != nil {
			return nil, err
		}
		if c.Embedding != GeneratedEmbedding {
			if w.needsThesaurus() {
				names = append(names, "wordnet")
			}
			_, _, err := locateEmbedding(w.embeddingRef(c), c.Dimension, root)
			var missing *fetch.MissingError
			if errors.As(err, &missing) {
				names = append(names, missing.Entry.Name)
			} else if err != nil {
				return nil, err
			}
		}
		if c.Metrics.English == catalogueWords {
			names = append(names, catalogueWords)
		}
		if encoder && c.measuresCS() && c.Metrics.CS.Encoder == catalogueEncoder {
			names = append(names, catalogueEncoder)
		}
		for _, n := range names {
			needed[n] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(fetch.Catalogue()), func(e fetch.Entry) bool {
		_, err := e.Present(root)
		return !needed[e.Name] || err == nil
	}), nil
}
