package experiments

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
)

// Overrides change a study from the command line. They make another study
// value, which keys and manifest reflect; empty ones change nothing.
type Overrides struct {
	Datasets            []string
	Embeddings          []string // instead of the study's: files, also relative to Root, or names
	Root                string   // data folder; "" is found as every command does
	Dimensions          []int
	Mechanisms          []string // name or name:variant
	Epsilons            []float64
	Models              []string
	Settings            []string
	Repetitions         int // baselines keep their proportion unless given too
	BaselineRepetitions int
	Sample              string // "small"
	Seed                *uint64
}

// smallSample caps the documents of a split for a quick look, smallSimilarity
// those whose sentences are compared.
var smallSample = DatasetSpec{Train: 600, Validation: 200, Test: 200}

const smallSimilarity = 20

// Override returns the changed study, checked.
func (s *Study) Override(o Overrides) (*Study, error) {
	c := *s
	c.source = nil // positions would be those of another text
	c.Datasets, c.Embeddings = slices.Clone(s.Datasets), slices.Clone(s.Embeddings)
	c.Mechanisms, c.Models = slices.Clone(s.Mechanisms), slices.Clone(s.Models)
	if len(o.Datasets) > 0 {
		c.Datasets = choose(o.Datasets, s.Datasets, func(d DatasetSpec) string { return d.Name }, func(name string) DatasetSpec { return DatasetSpec{Name: name} })
		kept := func(of []string) []string {
			return slices.DeleteFunc(slices.Clone(of), func(d string) bool { return !slices.Contains(o.Datasets, d) })
		}
		for i, e := range c.Embeddings {
			c.Embeddings[i].Datasets = kept(e.Datasets)
		}
		c.Embeddings = slices.DeleteFunc(c.Embeddings, func(e EmbeddingSpec) bool { return restrictedToNothing(s.Embeddings, e) })
		for i, m := range c.Models {
			c.Models[i].Datasets = kept(m.Datasets)
		}
		c.Models = slices.DeleteFunc(c.Models, func(m ModelSpec) bool {
			return len(m.Datasets) == 0 && slices.ContainsFunc(s.Models, func(x ModelSpec) bool { return x.Name == m.Name && len(x.Datasets) > 0 })
		})
	}
	if len(o.Embeddings) > 0 {
		c.Embeddings = nil
		for _, ref := range o.Embeddings {
			e := EmbeddingSpec{Name: ref, Dimensions: s.dimensions()}
			if isVectorFile(ref) {
				var err error
				if e, err = fileSpec(ref, o.Root); err != nil {
					return nil, err
				}
			}
			c.Embeddings = append(c.Embeddings, e)
		}
	}
	if len(o.Dimensions) > 0 {
		for i, e := range c.Embeddings {
			dimensions := o.Dimensions
			if e.File != "" {
				dimensions = slices.DeleteFunc(slices.Clone(e.Dimensions), func(d int) bool { return !slices.Contains(o.Dimensions, d) })
			}
			c.Embeddings[i].Dimensions = dimensions
		}
		c.Embeddings = slices.DeleteFunc(c.Embeddings, func(e EmbeddingSpec) bool { return len(e.Dimensions) == 0 })
		if len(c.Embeddings) == 0 {
			return nil, fmt.Errorf("dimensions = %v: no embedding file has one of them", o.Dimensions)
		}
	}
	if len(o.Mechanisms) > 0 {
		c.Mechanisms = nil
		for _, ref := range o.Mechanisms {
			name, variant, _ := strings.Cut(ref, ":")
			found := false
			for _, m := range s.Mechanisms {
				if m.Name == name && (variant == "" || variant == string(m.Variant)) {
					c.Mechanisms, found = append(c.Mechanisms, m), true
				}
			}
			if !found {
				c.Mechanisms = append(c.Mechanisms, MechanismSpec{Name: name, Variant: mechanisms.Variant(variant)})
			}
		}
	}
	if len(o.Epsilons) > 0 {
		c.Epsilons = o.Epsilons
		for i := range c.Mechanisms {
			c.Mechanisms[i].Epsilons = nil
		}
	}
	if len(o.Models) > 0 {
		c.Models = choose(o.Models, s.Models, func(m ModelSpec) string { return m.Name }, func(name string) ModelSpec { return ModelSpec{Name: name} })
		for i := range c.Models {
			c.Models[i].Datasets = nil // asked for by name: wherever it can read the data
		}
	}
	if len(o.Settings) > 0 {
		c.Settings = o.Settings
	}
	if o.Repetitions != 0 {
		if err := check.AtLeast("repetitions", o.Repetitions, 1); err != nil {
			return nil, err
		}
		c.BaselineRepetitions = max(1, c.BaselineRepetitions*o.Repetitions/c.Repetitions)
		c.Repetitions = o.Repetitions
	}
	if o.BaselineRepetitions != 0 {
		c.BaselineRepetitions = o.BaselineRepetitions
	}
	if o.Seed != nil {
		c.Seed = *o.Seed
	}
	if o.Sample != "" {
		if err := check.OneOf("sample", o.Sample, "small"); err != nil {
			return nil, err
		}
		c.Metrics.CS.Documents = min(c.Metrics.CS.Documents, smallSimilarity)
		for i, d := range c.Datasets {
			t, err := traits(d)
			if err != nil {
				return nil, err
			}
			if t.WordLevel {
				continue
			}
			shrink := func(n *int, most int) {
				if *n == 0 || *n > most {
					*n = most
				}
			}
			shrink(&c.Datasets[i].Train, smallSample.Train)
			shrink(&c.Datasets[i].Validation, smallSample.Validation)
			shrink(&c.Datasets[i].Test, smallSample.Test)
		}
	}
	return &c, c.Check()
}

// choose returns the entries of the given names in their order; a name that
// the study does not have gets a fresh entry, which Check judges.
func choose[T any](names []string, from []T, nameOf func(T) string, fresh func(string) T) []T {
	var out []T
	for _, name := range names {
		found := false
		for _, x := range from {
			if nameOf(x) == name {
				out, found = append(out, x), true
			}
		}
		if !found {
			out = append(out, fresh(name))
		}
	}
	return out
}

func restrictedToNothing(before []EmbeddingSpec, e EmbeddingSpec) bool {
	return len(e.Datasets) == 0 && slices.ContainsFunc(before, func(x EmbeddingSpec) bool {
		return x.Name == e.Name && len(x.Datasets) > 0
	})
}

// dimensions are those of all embeddings of the study.
func (s *Study) dimensions() []int {
	var all []int
	for _, e := range s.Embeddings {
		all = append(all, e.Dimensions...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// fileSpec describes a vector file. Its dimension is in its name or, failing
// that, in the file.
func fileSpec(ref, root string) (EmbeddingSpec, error) {
	e := EmbeddingSpec{Name: EmbeddingName(ref), File: ref}
	if d, ok := dimensionOf(ref); ok {
		e.Dimensions = []int{d}
		return e, nil
	}
	path, err := vectorFile(ref, datasets.Root(root))
	if err != nil {
		return e, err
	}
	s, err := embeddings.Load(context.Background(), path, embeddings.LoadOptions{CacheDir: embeddings.DefaultCacheDir()})
	if err != nil {
		return e, err
	}
	e.Dimensions = []int{s.Dimension}
	return e, nil
}
