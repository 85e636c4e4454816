package lab

import (
	"context"
	"errors"
	"slices"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms/external"
	"mldpbench/stream"
)

// Resource is what a measurement needs besides data set, vectors and mechanism.
type Resource struct {
	Key string // of its fingerprint, and of the value that names it in a study
	Ref string // that value

	add     func(context.Context, *Lab, Fingerprints) error // its fingerprint
	open    func(context.Context, *Lab) error               // what add does not open; nil for nothing
	model   bool                                            // it is a process; see Lab.Models
	entries []string                                        // of the fetch catalogue, that it is read from
}

// Add opens what the fingerprint needs and adds it.
func (r Resource) Add(ctx context.Context, l *Lab, f Fingerprints) error { return r.add(ctx, l, f) }

// fingerprinted is a resource with one fingerprint.
func fingerprinted(key, ref string, of func(context.Context, *Lab) (string, error)) Resource {
	return Resource{Key: key, Ref: ref, add: func(ctx context.Context, l *Lab, f Fingerprints) (err error) {
		f[key], err = of(ctx, l)
		return err
	}}
}

// OfEncoder is a sentence encoder, a reference as in studies.
func OfEncoder(ref string) Resource {
	if ref != SIFEncoder {
		return OfModel(encoderRef(ref))
	}
	return fingerprinted("encoder", ref, func(context.Context, *Lab) (string, error) {
		return ref, nil // SIF follows from data set and space
	})
}

// OfEnglish is a word list.
func OfEnglish(ref string) Resource {
	r := fingerprinted("english", ref, func(_ context.Context, l *Lab) (string, error) { return l.ofEnglish(ref) })
	r.open = func(_ context.Context, l *Lab) error {
		_, err := l.English(ref)
		return err
	}
	switch ref {
	case "words":
		r.entries = []string{"words"}
	case "nltk":
		r.entries = []string{"words", "words-basic"}
	}
	return r
}

// OfModel is a model that the study names.
func OfModel(ref ModelRef) Resource {
	r := fingerprinted(ref.Key, ref.Name, func(ctx context.Context, l *Lab) (string, error) { return l.ofModel(ctx, ref) })
	r.open = func(ctx context.Context, l *Lab) error {
		_, err := l.Model(ctx, ref)
		return err
	}
	r.model = true
	return r
}

// Models starts the models among resources, before the first unit: what a
// machine lacks is said at once.
func (l *Lab) Models(ctx context.Context, resources []Resource) error {
	for _, r := range resources {
		if r.model {
			if err := r.open(ctx, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// OfPublic is a pool of text.
func OfPublic(pool Sample) Resource {
	return fingerprinted("public", pool.Dataset.Name, func(ctx context.Context, l *Lab) (string, error) {
		return Once(l, "digest of public "+pool.key(), func() (string, error) {
			d, err := datasets.Load(ctx, pool.Dataset.Request(l.root, pool.Seed))
			if err != nil {
				return "", err
			}
			return d.Fingerprint, nil
		})
	})
}

// OfCommand is an attacker or a measurement.
func OfCommand(c study.CommandSpec, role external.Role) Resource {
	name := string(role) + " " + c.Name
	return Resource{Key: name, Ref: c.Name, add: func(ctx context.Context, l *Lab, f Fingerprints) error {
		_, err := l.ofCommand(ctx, name, c.Outside(), role, nil, f)
		return err
	}}
}

// Wants lists what a study uses, by reference.
type Wants struct {
	Datasets   []study.DatasetSpec
	Embeddings []study.EmbeddingSpec
	Thesaurus  bool
	Resources  []Resource // each once
}

// Missing lists the entries of the fetch catalogue that are wanted and that the
// data folder root does not have, in the order of the catalogue.
func Missing(w Wants, root string) ([]fetch.Entry, error) {
	wanted, unknown, err := needs(w, root)
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(wanted, func(e fetch.Entry) bool {
		_, err := e.Present(root)
		return err == nil
	})
	if len(missing) > 0 {
		return missing, nil
	}
	return nil, unknown
}

// needs are the entries that are wanted, those of the catalogue in its order, without embeddings that are there, and the error of an
// embedding that only the user's folder could have.
func needs(w Wants, root string) (wanted []fetch.Entry, unknown, err error) {
	needed := map[string]bool{}
	for _, d := range w.Datasets {
		names, err := datasets.Needs(d.Request(root, stream.Seed{}))
		if err != nil {
			return nil, nil, err
		}
		for _, n := range names {
			needed[n] = true
		}
	}
	for _, e := range w.Embeddings {
		if e.Name == study.GeneratedEmbedding || e.IsNone() {
			continue
		}
		needed["wordnet"] = needed["wordnet"] || w.Thesaurus
		for _, dimension := range e.Dimensions {
			_, _, err := locateEmbedding(e.Ref(), dimension, root)
			var missing *fetch.MissingError
			if errors.As(err, &missing) {
				needed[missing.Entry.Name] = true
			} else if err != nil && unknown == nil {
				unknown = err
			}
		}
	}
	for _, r := range w.Resources {
		for _, name := range r.entries {
			needed[name] = true
		}
	}
	wanted = slices.DeleteFunc(slices.Clone(fetch.Catalogue()), func(e fetch.Entry) bool { return !needed[e.Name] })
	return wanted, unknown, nil
}
