package lab

import (
	"context"
	"errors"
	"slices"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/experiments/study"
	"mldpbench/internal/memo"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/stream"
)

// Resource is what a measurement needs besides data set, vectors and mechanism.
type Resource struct {
	Key string // of its fingerprint, and of the value that names it in a study
	Ref string // that value

	fingerprint func(context.Context, *Lab) (string, error)
	model       ModelRef // that is started before the first unit; none without a task
	entries     []string // of the fetch catalogue, that it is read from
}

// Add opens what the fingerprint needs and adds it.
func (r Resource) Add(ctx context.Context, l *Lab, f Fingerprints) (err error) {
	f[r.Key], err = r.fingerprint(ctx, l)
	return err
}

// OfEncoder is a sentence encoder, a reference as in studies.
func OfEncoder(ref string) Resource {
	if ref != SIF {
		return OfModel(encoderRef(ref))
	}
	return Resource{
		Key: "encoder",
		Ref: ref,
		fingerprint: func(context.Context, *Lab) (string, error) {
			return ref, nil // SIF follows from data set and space
		},
	}
}

// OfEnglish is a word list.
func OfEnglish(ref string) Resource {
	var entries []string
	switch ref {
	case "words":
		entries = []string{"words"}
	case "nltk":
		entries = []string{"words", "words-basic"}
	}
	return Resource{
		Key:         "english",
		Ref:         ref,
		entries:     entries,
		fingerprint: func(_ context.Context, l *Lab) (string, error) { return l.ofEnglish(ref) },
	}
}

// OfModel is a model that the study names.
func OfModel(ref ModelRef) Resource {
	return Resource{
		Key:         ref.Key,
		Ref:         ref.Name,
		model:       ref,
		fingerprint: func(ctx context.Context, l *Lab) (string, error) { return l.ofModel(ctx, ref) },
	}
}

// Models starts the models among resources, before the first unit: what a
// machine lacks is said at once.
func (l *Lab) Models(ctx context.Context, resources []Resource) error {
	for _, r := range resources {
		if r.model.Task != "" {
			if _, err := l.Model(ctx, r.model); err != nil {
				return err
			}
		}
	}
	return nil
}

// OfPublic is a pool of text.
func OfPublic(pool Sample) Resource {
	fingerprint := func(ctx context.Context, l *Lab) (string, error) {
		return memo.Once(&l.Shared, "digest of public "+pool.key(), func() (string, error) {
			d, err := datasets.Load(ctx, pool.Dataset.Request(l.root, pool.Seed))
			if err != nil {
				return "", err
			}
			return d.Fingerprint, nil
		})
	}
	return Resource{
		Key:         "public",
		Ref:         pool.Dataset.Name,
		fingerprint: fingerprint,
	}
}

// OfCommand is an attacker or a measurement.
func OfCommand(c study.CommandSpec, role external.Role) Resource {
	name := string(role) + " " + c.Name
	return Resource{
		Key: name,
		Ref: c.Name,
		fingerprint: func(ctx context.Context, l *Lab) (string, error) {
			s, err := l.command(ctx, mechanisms.Outside{Command: c.Command}, role, nil)
			if err != nil {
				return "", err
			}
			return s.fingerprint(), nil
		},
	}
}

// Wants lists what a study uses, by reference.
type Wants struct {
	Datasets   []study.DatasetSpec
	Embeddings []study.EmbeddingSpec
	Thesaurus  bool
	Resources  []Resource // each once
}

// Missing lists the entries of the fetch catalogue that are wanted and that the
// data folder root does not have, in the order of the catalogue. An embedding that
// only the user's folder could have is an error where nothing else is missing.
func Missing(w Wants, root string) ([]fetch.Entry, error) {
	needed := map[string]bool{}
	for _, d := range w.Datasets {
		names, err := datasets.Needs(d.Request(root, stream.Seed{}))
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			needed[n] = true
		}
	}
	unknown := w.addEmbeddings(needed, root)
	for _, r := range w.Resources {
		for _, name := range r.entries {
			needed[name] = true
		}
	}
	missing := slices.DeleteFunc(slices.Clone(fetch.Catalogue()), func(e fetch.Entry) bool {
		_, err := e.Present(root)
		return !needed[e.Name] || err == nil
	})
	if len(missing) > 0 {
		return missing, nil
	}
	return nil, unknown
}

// addEmbeddings adds the entries that embeddings lack, and returns the error of the first that is in no catalogue.
func (w Wants) addEmbeddings(needed map[string]bool, root string) (unknown error) {
	for _, e := range w.Embeddings {
		if e.Name == study.GeneratedEmbedding || e.IsNone() {
			continue
		}
		if w.Thesaurus {
			needed["wordnet"] = true
		}
		for _, dimension := range e.Dimensions {
			_, _, err := locateEmbedding(e.Ref(), dimension, root)
			var missing *fetch.MissingError
			if errors.As(err, &missing) {
				needed[missing.Entry.Name] = true
			} else if unknown == nil {
				unknown = err
			}
		}
	}
	return unknown
}
