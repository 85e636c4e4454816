package study

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/models/attack"
	"mldpbench/results"
)

// Design says what is released and what is measured of it: every combination
// of data set, embedding, dimension, mechanism and ε is released in every
// repetition, and every measurement is made of it. keys.txt says what each key
// means.
type Design struct {
	Datasets   []DatasetSpec     `yaml:"datasets,omitempty"`
	Embeddings []EmbeddingSpec   `yaml:"embeddings,omitempty"`
	Mechanisms []MechanismSpec   `yaml:"mechanisms,omitempty"`
	Epsilons   []float64         `yaml:"epsilons,omitempty" limits:">0"`
	Models     []ModelSpec       `yaml:"models,omitempty"`
	Settings   []string          `yaml:"settings,omitempty" limits:"local|train-only|test-only"`
	Policy     mechanisms.Policy `yaml:"policy,omitempty" limits:"random|keep|drop"`
	// Repetitions are texts of each mechanism, BaselineRepetitions trainings on plain
	// text. Trainings is the number of classifiers trained on each text; they count as
	// repetitions, so there is one text only. 0: one for each repetition.
	Repetitions         int     `yaml:"repetitions,omitempty" limits:"1,10000"`
	BaselineRepetitions int     `yaml:"baseline_repetitions,omitempty" limits:"1,10000"`
	Trainings           int     `yaml:"trainings,omitempty" limits:"1,10000"`
	Metrics             Metrics `yaml:"metrics,omitempty"` // what is measured beside accuracy, PP and time

	// Of studies of attacks. Shadow is the number of documents of the training split
	// that no model trains on: the attacker's knowledge of the language. Public names a
	// data set as a pool of text of the same kind: what no split uses, and no document
	// of test nearly repeats, is the attacker's, in addition to the shadow. Masked and
	// Causal name language models.
	Attackers []CommandSpec  `yaml:"attackers,omitempty"` // built-in ones by their names, and commands
	Options   map[string]any `yaml:"options,omitempty"`   // of built-in attackers
	Shadow    int            `yaml:"shadow,omitempty" limits:"0,100000000"`
	Public    string         `yaml:"public,omitempty"`
	Masked    string         `yaml:"masked,omitempty"`
	Causal    string         `yaml:"causal,omitempty"`
}

// Scene is a part of a study with values of its own: each key that it has
// replaces that of the study.
type Scene struct {
	Name   string `yaml:"name,omitempty"`
	Design `yaml:",inline"`
}

// Parts returns the scenes of a study with the keys of the study filled in; a
// study without scenes is one scene without a name.
func (s *Study) Parts() []Scene {
	if len(s.Scenes) == 0 {
		return []Scene{{Design: s.Design}}
	}
	var all []Scene
	base := reflect.ValueOf(s.Design)
	for _, c := range s.Scenes {
		own := reflect.ValueOf(&c.Design).Elem()
		for i := range own.NumField() {
			if own.Field(i).IsZero() {
				own.Field(i).Set(base.Field(i))
			}
		}
		all = append(all, c)
	}
	return all
}

// checkParts validates every scene. A value is checked where it stands, in the
// study or in the scene.
func (s *Study) checkParts() error {
	for _, d := range s.designs() {
		for i := range d.Embeddings {
			if err := d.Embeddings[i].Check(s.root); err != nil {
				return s.at(err, "embeddings")
			}
		}
	}
	s.Policy = cmp.Or(s.Policy, mechanisms.Random)
	s.Repetitions = cmp.Or(s.Repetitions, 1)
	if len(s.Settings) == 0 {
		s.Settings = []string{Local}
	}
	names := map[string]bool{}
	for i, part := range s.Parts() {
		if part.Name != "" && names[part.Name] {
			return s.at(fmt.Errorf("scene %q is given twice", part.Name), "scenes[%d].name", i)
		}
		names[part.Name] = true
		if s.Documents == Redrawn && len(part.Attackers) > 0 {
			return s.at(errors.New("documents = \"redrawn\": attacked documents are one sample"), "documents")
		}
		if err := part.check(s.atScene(i)); err != nil {
			return err
		}
	}
	return nil
}

// atScene gives an error the position of the value in a scene or, if there is none or
// it has no such key, in the study.
func (s *Study) atScene(i int) At {
	return func(err error, format string, args ...any) error {
		path := fmt.Sprintf(format, args...)
		scene := fmt.Sprintf("scenes[%d].", i)
		if key, _, _ := strings.Cut(path, "["); s.node(scene+key) != nil {
			path = scene + path
		}
		return s.at(err, "%s", path)
	}
}

// check validates a part of a study.
func (d *Design) check(at At) error {
	if len(d.Embeddings) == 0 {
		return at(errors.New("embeddings: must not be empty"), "embeddings")
	}
	if len(d.Mechanisms) == 0 && len(d.Models) == 0 && len(d.Metrics) == 0 && len(d.Attackers) == 0 {
		return at(errors.New("mechanisms and models: one of them must not be empty"), "mechanisms")
	}
	if d.Trainings > 0 && max(d.Repetitions, d.BaselineRepetitions) > 1 {
		return at(errors.New("trainings: are the repetitions of one text: repetitions and baseline_repetitions must "+
			"be 1"), "trainings")
	}
	for _, check := range []func(At) error{d.checkData, d.checkEmbeddings, d.checkMechanisms, d.checkModels,
		d.checkAttacks, d.checkMetrics} {
		if err := check(at); err != nil {
			return err
		}
	}
	return nil
}

// checkMetrics validates the options of measurements.
func (d *Design) checkMetrics(at At) error {
	for _, key := range slices.Sorted(maps.Keys(d.Metrics)) {
		inMetric := func(err error, format string, args ...any) error {
			path := "metrics." + key + "." + fmt.Sprintf(format, args...)
			return at(err, "%s", strings.TrimSuffix(strings.ReplaceAll(path, ".[", "["), "."))
		}
		if check := metrics[key].Check; check != nil {
			if err := check(d.Metrics[key], d, inMetric); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkData validates the data sets, and that of public text.
func (d *Design) checkData(at At) error {
	for i, x := range d.Datasets {
		err := x.Check()
		if err == nil &&
			slices.ContainsFunc(d.Datasets[:i], func(o DatasetSpec) bool {
				return o.Name == x.Name
			}) {
			err = fmt.Errorf("data set %q is given twice", x.Name)
		}
		if err != nil {
			return at(err, "datasets[%d].name", i)
		}
	}
	if p := d.Pool(); p != nil {
		pool, err := p.Definition()
		for _, x := range d.Datasets {
			if t, _ := x.Definition(); err == nil && t.Generated != pool.Generated {
				err = fmt.Errorf("public = %q for data set %q: generated and real data are never mixed", p.Name, x.Name)
			}
		}
		return at(err, "public")
	}
	return nil
}

// Pool is the data set of public text, cut like the design's own; nil for none.
func (d *Design) Pool() *DatasetSpec {
	if d.Public == "" {
		return nil
	}
	p := &DatasetSpec{Name: d.Public}
	if len(d.Datasets) > 0 {
		p.MaxTokens = d.Datasets[0].MaxTokens
	}
	return p
}

// On reports whether an entry that is only for some data sets, for all if there are
// none, is for one.
func On(only []string, dataset string) bool { return len(only) == 0 || slices.Contains(only, dataset) }

// of are the data sets of a list of names, all for none; at returns an error for a
// name that is not in the study.
func (d *Design) of(names []string, at At, format string, args ...any) ([]DatasetSpec, error) {
	for j, name := range names {
		if !slices.ContainsFunc(d.Datasets, func(x DatasetSpec) bool {
			return x.Name == name
		}) {
			path := fmt.Sprintf(format, args...)
			return nil, at(fmt.Errorf("data set %q is not in the study", name), "%s.datasets[%d]", path, j)
		}
	}
	return results.Where(d.Datasets, func(x DatasetSpec) bool {
		return On(names, x.Name)
	}), nil
}

// checkEmbeddings validates the embeddings, and that none is mixed with data of another kind.
func (d *Design) checkEmbeddings(at At) error {
	for i, e := range d.Embeddings {
		own, err := d.of(e.Datasets, at, "embeddings[%d]", i)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(d.Embeddings[:i], e.repeats) { // rows tell them apart by name and dimension
			return at(fmt.Errorf("embedding %q is given twice: two files need names of their own", e.Name),
				"embeddings[%d]", i)
		}
		for _, x := range own {
			if t, _ := x.Definition(); e.Name != NoVectors && (e.Name == GeneratedEmbedding) != t.Generated {
				return at(fmt.Errorf("data set %q with embedding %q: generated and real data are never mixed; "+
					"real texts take glove.6B, or vectors of your own: {name: mine, file: vectors.txt}; with several "+
					"data sets, restrict the embedding with its list of datasets", x.Name, e.Name), "embeddings[%d]", i)
			}
		}
	}
	return nil
}

// checkMechanisms validates the mechanisms, and that each has ε.
func (d *Design) checkMechanisms(at At) error {
	for i, m := range d.Mechanisms {
		if err := m.Check(at, fmt.Sprintf("mechanisms[%d]", i)); err != nil {
			return err
		}
		if _, err := d.of(m.Datasets, at, "mechanisms[%d]", i); err != nil {
			return err
		}
		_, unread := d.Expand(m)
		if len(unread) > 0 && m.Name != All {
			return at(unread[0], "mechanisms[%d].name", i)
		}
		if len(m.Over(d.Epsilons)) == 0 {
			return at(fmt.Errorf("%s: no epsilons, neither here nor in the study", m.Name), "mechanisms[%d]", i)
		}
	}
	return d.checkTwice(at)
}

// checkModels validates the classifiers, and that there is a label for each.
func (d *Design) checkModels(at At) error {
	for i, m := range d.Models {
		if _, err := models.Find(m.Name); err != nil {
			return at(err, "models[%d].name", i)
		}
		own, err := d.of(m.Datasets, at, "models[%d]", i)
		if err != nil {
			return err
		}
		_, err = m.Resolve()
		for _, x := range own {
			if err == nil && x.File != "" && x.Label == "" {
				err = fmt.Errorf("data set %q: has no label column: a model needs one to predict", x.Name)
			}
		}
		if err != nil {
			return at(err, "models[%d]", i)
		}
	}
	return nil
}

// checkAttacks validates attackers: their names, and what they need.
func (d *Design) checkAttacks(at At) error {
	needs := []struct {
		need    attack.Need
		there   bool
		missing string
	}{
		{attack.NeedsPublic, d.Public != "", "trains on public text with private labels: public must be there"},
		{attack.NeedsShadow, d.Public != "" || d.Shadow > 0,
			"knows the language from other text: shadow must be > 0, or public must be there"},
		{attack.NeedsModel, d.Masked != "", "asks a masked language model: masked must be there"},
	}
	for i, c := range d.Attackers {
		a, err := attack.Find(c.Name)
		switch {
		case len(c.Command) > 0 && err == nil:
			err = fmt.Errorf("name = %q: is that of a built-in attacker; give the command another", c.Name)
		case len(c.Command) > 0:
			err = c.Check()
		}
		if err == nil && slices.Contains(AttackerNames(d.Attackers[:i]), c.Name) {
			err = fmt.Errorf("attacker %q is given twice", c.Name)
		}
		for _, n := range needs {
			if err == nil && !n.there && slices.Contains(a.Needs, n.need) {
				err = fmt.Errorf("attacker %s %s", c.Name, n.missing)
			}
		}
		if err != nil {
			return at(err, "attackers[%d]", i)
		}
	}
	_, err := attack.Resolve(d.Options)
	return at(err, "options")
}
