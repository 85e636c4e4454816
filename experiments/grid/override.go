package grid

import (
	"fmt"
	"slices"
	"strings"

	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
)

// smallSample caps the documents of a split for a quick look, smallSimilarity
// those whose sentences are compared.
var smallSample = study.DatasetSpec{Train: 600, Validation: 200, Test: 200}

const smallSimilarity = 20

// Override returns the changed study, checked.
func (s *Study) Override(o study.Overrides) (study.Body, error) {
	if err := o.Refuse("grid", "panel"); err != nil {
		return nil, err
	}
	c := *s
	c.Datasets, c.Embeddings = slices.Clone(s.Datasets), slices.Clone(s.Embeddings)
	c.Mechanisms, c.Models = slices.Clone(s.Mechanisms), slices.Clone(s.Models)
	if len(o.Datasets) > 0 {
		c.Datasets = choose(o.Datasets, s.Datasets, func(d study.DatasetSpec) string { return d.Name },
			func(name string) study.DatasetSpec { return study.DatasetSpec{Name: name} })
		kept := func(of []string) []string {
			return slices.DeleteFunc(slices.Clone(of), func(d string) bool { return !slices.Contains(o.Datasets, d) })
		}
		for i, e := range c.Embeddings {
			c.Embeddings[i].Datasets = kept(e.Datasets)
		}
		c.Embeddings = slices.DeleteFunc(c.Embeddings, func(e study.EmbeddingSpec) bool {
			return restrictedToNothing(s.Embeddings, e)
		})
		for i, m := range c.Models {
			c.Models[i].Datasets = kept(m.Datasets)
		}
		c.Models = slices.DeleteFunc(c.Models, func(m study.ModelSpec) bool {
			return len(m.Datasets) == 0 && slices.ContainsFunc(s.Models,
				func(x study.ModelSpec) bool { return x.Name == m.Name && len(x.Datasets) > 0 })
		})
	}
	if len(o.Embeddings) > 0 {
		c.Embeddings = nil
		for _, ref := range o.Embeddings {
			e := study.EmbeddingSpec{Name: ref, Dimensions: s.dimensions()}
			if study.IsVectorFile(ref) {
				var err error
				if e, err = study.FileSpec(ref, o.Root); err != nil {
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
				dimensions = slices.DeleteFunc(slices.Clone(e.Dimensions),
					func(d int) bool { return !slices.Contains(o.Dimensions, d) })
			}
			c.Embeddings[i].Dimensions = dimensions
		}
		c.Embeddings = slices.DeleteFunc(c.Embeddings, func(e study.EmbeddingSpec) bool {
			return len(e.Dimensions) == 0
		})
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
				c.Mechanisms = append(c.Mechanisms, study.MechanismSpec{Name: name,
					Variant: mechanisms.Variant(variant)})
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
		c.Models = choose(o.Models, s.Models, func(m study.ModelSpec) string { return m.Name },
			func(name string) study.ModelSpec { return study.ModelSpec{Name: name} })
		for i := range c.Models {
			c.Models[i].Datasets = nil // requested by name: wherever it can read the data
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
	if o.Sample != "" {
		if err := check.OneOf("sample", o.Sample, "small"); err != nil {
			return nil, err
		}
		c.Metrics.CS.Documents = min(c.Metrics.CS.Documents, smallSimilarity)
		for i, d := range c.Datasets {
			t, err := d.Traits()
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
	return &c, nil
}

// choose returns the entries of the given names in their order; a name that the
// study does not have gets a new entry, which Check validates.
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

func restrictedToNothing(before []study.EmbeddingSpec, e study.EmbeddingSpec) bool {
	return len(e.Datasets) == 0 && slices.ContainsFunc(before, func(x study.EmbeddingSpec) bool {
		return x.Name == e.Name && len(x.Datasets) > 0
	})
}

// dimensions returns those of all embeddings of the study.
func (s *Study) dimensions() []int {
	var all []int
	for _, e := range s.Embeddings {
		all = append(all, e.Dimensions...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
