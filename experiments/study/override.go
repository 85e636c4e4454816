package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/mechanisms"
)

// Overrides change a study from the command line. They give a new study value,
// which keys and manifest reflect; empty ones change nothing.
type Overrides struct {
	Datasets    []string
	Embeddings  []string // instead of the study's: files, also relative to Root, or names
	Root        string   // data folder; "" finds it as every command does
	Dimensions  []int
	Mechanisms  []string // name or name:variant
	Epsilons    []float64
	Models      []string
	Settings    []string
	Repetitions int // baselines keep their proportion
	// Panels keeps only these: scenes by name, section or "section/name",
	// attackers, "utility" and "language".
	Panels []string
	Seed   *uint64
}

// refuse returns an error where one of the named flags was given, because the
// study does not use it.
func (o Overrides) refuse(kind string, flags ...string) error {
	given := map[string]bool{"datasets": o.Datasets != nil, "embedding": o.Embeddings != nil,
		"dimensions": o.Dimensions != nil, "mechanisms": o.Mechanisms != nil, "epsilons": o.Epsilons != nil,
		"models": o.Models != nil, "settings": o.Settings != nil, "repetitions": o.Repetitions != 0}
	for _, flag := range flags {
		if given[flag] {
			return fmt.Errorf("--%s does not apply to %s studies: print it with mldp study show, edit it "+
				"and run the file", flag, kind)
		}
	}
	return nil
}

// Override returns the study changed by flags, checked.
func (s *Study) Override(o Overrides) (*Study, error) {
	c := s.copied()
	c.root = o.Root
	var err error
	switch {
	case s.Task != "":
		err = o.refuse("task", "datasets", "embedding", "dimensions", "models", "settings")
	case s.OfPaper():
		err = o.refuse("paper", "datasets", "embedding", "dimensions", "mechanisms", "epsilons", "models", "settings",
			"repetitions")
	case s.Protocol == Attacks:
		err = o.refuse(Attacks, "models", "settings")
	}
	if err != nil {
		return nil, err
	}
	for i, d := range c.designs() {
		if err := d.override(o, i == 0); err != nil {
			return nil, err
		}
	}
	if len(o.Datasets) > 0 && len(s.Scenes) > 0 {
		c.Scenes = slices.DeleteFunc(c.Scenes, func(x Scene) bool { return x.Datasets != nil && len(x.Datasets) == 0 })
		if len(c.Scenes) == 0 {
			return nil, fmt.Errorf("datasets = %q: the study has none of them", o.Datasets)
		}
	}
	if len(o.Panels) > 0 {
		if err := c.choosePanels(o.Panels); err != nil {
			return nil, err
		}
	}
	if o.Seed != nil {
		c.Seed = *o.Seed
	}
	return c, c.Check()
}

// copied is the study with lists of its own.
func (s *Study) copied() *Study {
	c := *s
	c.source = nil // positions would be those of another text
	c.Scenes = slices.Clone(s.Scenes)
	for _, d := range c.designs() {
		d.Datasets, d.Embeddings = slices.Clone(d.Datasets), slices.Clone(d.Embeddings)
		d.Mechanisms, d.Models = slices.Clone(d.Mechanisms), slices.Clone(d.Models)
	}
	return &c
}

// designs are that of the study and those of its scenes.
func (s *Study) designs() []*Design {
	all := []*Design{&s.Design}
	for i := range s.Scenes {
		all = append(all, &s.Scenes[i].Design)
	}
	return all
}

// override changes a design. A scene has only the keys of its own: what it
// leaves to the study stays empty.
func (d *Design) override(o Overrides, base bool) error {
	if len(o.Datasets) > 0 {
		d.chooseDatasets(o.Datasets, base)
	}
	if len(o.Embeddings) > 0 && (base || len(d.Embeddings) > 0) {
		dimensions := d.dimensions()
		d.Embeddings = nil
		for _, ref := range o.Embeddings {
			e := EmbeddingSpec{Name: ref, Dimensions: dimensions}
			if NamesFile(ref) {
				var err error
				if e, err = FileSpec(ref, o.Root); err != nil {
					return err
				}
			}
			d.Embeddings = append(d.Embeddings, e)
		}
	}
	if len(o.Dimensions) > 0 && len(d.Embeddings) > 0 {
		if err := d.chooseDimensions(o.Dimensions); err != nil {
			return err
		}
	}
	if len(o.Mechanisms) > 0 && (base || len(d.Mechanisms) > 0) {
		d.Mechanisms = choose(o.Mechanisms, d.Mechanisms, func(m MechanismSpec, ref string) bool {
			name, variant, _ := strings.Cut(ref, ":")
			return m.Name == name && (variant == "" || variant == string(m.Variant))
		}, func(ref string) MechanismSpec {
			name, variant, _ := strings.Cut(ref, ":")
			return MechanismSpec{Name: name, Variant: mechanisms.Variant(variant)}
		})
	}
	if len(o.Epsilons) > 0 {
		if base || len(d.Epsilons) > 0 {
			d.Epsilons = o.Epsilons
		}
		for i := range d.Mechanisms {
			d.Mechanisms[i].Epsilons = nil
		}
	}
	if len(o.Models) > 0 && (base || len(d.Models) > 0) {
		d.Models = choose(o.Models, d.Models, func(m ModelSpec, name string) bool { return m.Name == name },
			func(name string) ModelSpec { return ModelSpec{Name: name} })
		for i := range d.Models {
			d.Models[i].Datasets = nil // requested by name: wherever it can read the data
		}
	}
	if len(o.Settings) > 0 && (base || len(d.Settings) > 0) {
		d.Settings = o.Settings
	}
	if o.Repetitions != 0 {
		if err := check.AtLeast("repetitions", o.Repetitions, 1); err != nil {
			return err
		}
		if d.BaselineRepetitions > 0 && d.Repetitions > 0 {
			d.BaselineRepetitions = max(1, d.BaselineRepetitions*o.Repetitions/d.Repetitions)
		}
		if base || d.Repetitions > 0 {
			d.Repetitions = o.Repetitions
		}
	}
	return nil
}

func (d *Design) chooseDatasets(names []string, base bool) {
	if base && len(d.Datasets) > 0 {
		d.Datasets = choose(names, d.Datasets, func(x DatasetSpec, name string) bool { return x.Name == name },
			func(name string) DatasetSpec { return DatasetSpec{Name: name} })
	} else if !base {
		d.Datasets = slices.DeleteFunc(d.Datasets, func(x DatasetSpec) bool { return !slices.Contains(names, x.Name) })
	}
	d.Embeddings = restrict(d.Embeddings, names, func(e *EmbeddingSpec) *[]string { return &e.Datasets })
	d.Models = restrict(d.Models, names, func(m *ModelSpec) *[]string { return &m.Datasets })
}

// restrict keeps of each entry's own data sets those that are named, and leaves
// out an entry that had some and has none of them.
func restrict[T any](list []T, names []string, datasets func(*T) *[]string) (kept []T) {
	for _, x := range list {
		own := datasets(&x)
		left := slices.DeleteFunc(slices.Clone(*own), func(d string) bool { return !slices.Contains(names, d) })
		if restricted := len(*own) > 0; !restricted || len(left) > 0 {
			*own = left
			kept = append(kept, x)
		}
	}
	return kept
}

func (d *Design) chooseDimensions(dimensions []int) error {
	var kept []EmbeddingSpec
	for _, e := range d.Embeddings {
		if e.File != "" {
			e.Dimensions = slices.DeleteFunc(slices.Clone(e.Dimensions),
				func(x int) bool { return !slices.Contains(dimensions, x) })
		} else {
			e.Dimensions = dimensions
		}
		if len(e.Dimensions) > 0 {
			kept = append(kept, e)
		}
	}
	if d.Embeddings = kept; len(kept) == 0 {
		return fmt.Errorf("dimensions = %v: no embedding file has one of them", dimensions)
	}
	return nil
}

// causalPerplexity is what a causal model measures.
const causalPerplexity = "causal_perplexity"

// choosePanels keeps the scenes that are named, and of the others the attackers,
// utility, language and, in a study of attacks, metrics that are.
func (s *Study) choosePanels(panels []string) error {
	named := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(panels, n) })
	}
	parts := s.Parts()
	valid := []string{}
	var kept []Scene
	for i, c := range parts {
		names := AttackerNames(c.Attackers)
		if c.Name != "" {
			names = append(names, c.Name, c.Section+"/"+c.Name)
		}
		if c.Section != "" {
			names = append(names, c.Section)
		}
		if c.Utility != nil {
			names = append(names, "utility")
		}
		if c.Language {
			names = append(names, "language")
		}
		if s.Protocol == Attacks {
			names = slices.AppendSeq(names, maps.Keys(c.Metrics))
			if c.Causal != "" {
				names = append(names, causalPerplexity)
			}
		}
		valid = append(valid, names...)
		if c.Name != "" && named(c.Name, c.Section, c.Section+"/"+c.Name) {
			kept = append(kept, s.Scenes[i])
			continue
		}
		c.Attackers = slices.DeleteFunc(slices.Clone(c.Attackers), func(a CommandSpec) bool { return !named(a.Name) })
		if !named("utility") {
			c.Utility, c.Probe = nil, false
		}
		c.Language = c.Language && named("language")
		texts := false
		if s.Protocol == Attacks {
			c.Metrics = maps.Clone(c.Metrics)
			maps.DeleteFunc(c.Metrics, func(key string, _ any) bool { return !named(key) })
			if !named(causalPerplexity) {
				c.Causal = ""
			}
			texts = len(c.Metrics) > 0 || c.Causal != ""
		}
		if len(c.Attackers) > 0 || c.Utility != nil || c.Language || texts {
			kept = append(kept, c)
		}
	}
	for _, p := range panels {
		if len(valid) == 0 {
			return check.Wrong("panel = %q: the study has no scenes with names and no attackers", p)
		}
		if !slices.Contains(valid, p) {
			slices.Sort(valid)
			return check.OneOf("panel", p, slices.Compact(valid)...)
		}
	}
	// What a scene lacks it would take from the study again.
	if s.Protocol == Attacks {
		s.Attackers, s.Utility, s.Probe, s.Language, s.Metrics, s.Causal = nil, nil, false, false, nil, ""
	}
	s.Scenes = kept
	return nil
}

// choose returns the entries of the given names in their order; a name that the
// study does not have gets a new entry, which Check validates.
func choose[T any](names []string, from []T, is func(T, string) bool, fresh func(string) T) []T {
	var out []T
	for _, name := range names {
		found := false
		for _, x := range from {
			if is(x, name) {
				out, found = append(out, x), true
			}
		}
		if !found {
			out = append(out, fresh(name))
		}
	}
	return out
}

// dimensions returns those of all embeddings.
func (d *Design) dimensions() []int {
	var all []int
	for _, e := range d.Embeddings {
		all = append(all, e.Dimensions...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// WithMechanisms returns the study with further mechanisms in each list of it or
// of a scene, checked.
func (s *Study) WithMechanisms(more func([]MechanismSpec) ([]MechanismSpec, error)) (*Study, error) {
	c := s.copied()
	for _, d := range c.designs() {
		further, err := more(d.Mechanisms)
		if err != nil {
			return nil, err
		}
		d.Mechanisms = append(d.Mechanisms, further...)
	}
	return c, c.Check()
}
