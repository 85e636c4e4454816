package study

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/models/attack"
)

// Design says what is released and what is measured of it: every combination
// of data set, embedding, dimension, mechanism and ε is released in every
// repetition, and every measurement is made of it. The comments in the built-in
// files document it.
type Design struct {
	// none: words of an embedding are measured
	Datasets []DatasetSpec `yaml:"datasets,omitempty"`
	// vectors, of the words of each data set
	Embeddings []EmbeddingSpec `yaml:"embeddings,omitempty"`
	// none: baselines only
	Mechanisms []MechanismSpec `yaml:"mechanisms,omitempty"`
	// per word
	Epsilons []float64 `yaml:"epsilons,omitempty"`
	// classifiers of the label, trained on each text
	Models []ModelSpec `yaml:"models,omitempty"`
	// what is private: local (all, the default), train-only, test-only
	Settings []string `yaml:"settings,omitempty"`
	// of words without a vector: random, keep or drop
	Policy mechanisms.Policy `yaml:"policy,omitempty"`
	// texts of each mechanism, with seeds of their own
	Repetitions int `yaml:"repetitions,omitempty" limits:"1,10000"`
	// trainings on plain text
	BaselineRepetitions int `yaml:"baseline_repetitions,omitempty" limits:"1,10000"`
	// Trainings is the number of classifiers trained on each text; they count as
	// repetitions, so there is one text only. 0: one for each repetition.
	Trainings int     `yaml:"trainings,omitempty" limits:"1,10000"`
	Metrics   Metrics `yaml:"metrics,omitempty"` // what is measured beside accuracy, PP and time, each with its options

	// Of studies of attacks.

	Attackers []CommandSpec  `yaml:"attackers,omitempty"` // built-in ones by their names, and commands
	Encoder   string         `yaml:"encoder,omitempty"`   // used by attackers that compare sentences
	Options   attack.Options `yaml:"options,omitempty"`   // of attackers
	// Shadow is the number of documents of the training split that no model
	// trains on: the attacker's knowledge of the language.
	Shadow int `yaml:"shadow,omitempty" limits:"0,100000000"`
	// Public names a data set as a pool of text of the same kind: what no split uses, and no
	// document of test nearly repeats, is the attacker's, in addition to the shadow.
	Public string `yaml:"public,omitempty"`
	// Masked and Causal name a masked language model, for attackers, and a causal
	// one, whose perplexity of the released text is measured: a folder with
	// model.onnx and tokenizer.json, or a name that transformers knows.
	Masked string `yaml:"masked,omitempty"`
	Causal string `yaml:"causal,omitempty"` // see masked

}

// Scene is a part of a study with values of its own: each key that it has
// replaces that of the study.
type Scene struct {
	Name   string `yaml:"name,omitempty"` // for --panel
	Design `yaml:",inline"`
}

// Parts returns the scenes of a study with the keys of the study filled in; a
// study without scenes is one scene without a name.
func (s *Study) Parts() []Scene {
	if len(s.Scenes) == 0 {
		return []Scene{{Design: s.Design}}
	}
	var all []Scene
	for _, c := range s.Scenes {
		own, base := reflect.ValueOf(&c.Design).Elem(), reflect.ValueOf(s.Design)
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
	for i := range s.Scenes {
		if err := s.Scenes[i].fill(s.root); err != nil {
			return s.at(err, "scenes[%d]", i)
		}
	}
	if err := s.fill(s.root); err != nil {
		return s.at(err, "embeddings")
	}
	s.Policy, s.Repetitions = cmp.Or(s.Policy, mechanisms.Random), cmp.Or(s.Repetitions, 1)
	if len(s.Settings) == 0 {
		s.Settings = []string{Local}
	}
	names := map[string]bool{}
	for i, part := range s.Parts() {
		at := s.at
		if len(s.Scenes) > 0 {
			own := reflect.ValueOf(s.Scenes[i].Design)
			at = func(err error, format string, args ...any) error {
				path := fmt.Sprintf(format, args...)
				key := path[:strings.IndexAny(path+".", ".[")]
				for j := range own.NumField() {
					name, _, _ := strings.Cut(own.Type().Field(j).Tag.Get("yaml"), ",")
					if name == key && own.Field(j).IsZero() {
						return s.at(err, "%s", path)
					}
				}
				return s.at(err, "scenes[%d].%s", i, path)
			}
			if part.Name != "" && names[part.Name] {
				return s.at(fmt.Errorf("scene %q is given twice", part.Name), "scenes[%d].name", i)
			}
			names[part.Name] = true
		}
		if s.Documents == Redrawn && len(part.Attackers) > 0 {
			return s.at(errors.New("documents = \"redrawn\": attacked documents are one sample"), "documents")
		}
		if err := part.check(at); err != nil {
			return err
		}
	}
	return nil
}

// fill completes what a study may leave out of lists.
func (d *Design) fill(root string) error {
	for i := range d.Embeddings {
		if err := d.Embeddings[i].Check(root); err != nil {
			return err
		}
	}
	return nil
}

func (d *Design) check(at At) error {
	if len(d.Embeddings) == 0 {
		return at(errors.New("embeddings: must not be empty"), "embeddings")
	}
	if len(d.Mechanisms) == 0 && len(d.Models) == 0 && len(d.Metrics) == 0 && len(d.Attackers) == 0 {
		return at(errors.New("mechanisms and models: one of them must not be empty"), "mechanisms")
	}
	if err := cmp.Or(d.checkData(at), d.checkEmbeddings(at), d.checkMechanisms(at), d.checkModels(at),
		d.checkAttacks(at)); err != nil {
		return err
	}
	for i, v := range d.Settings {
		if err := check.OneOf("setting", v, Local, TrainOnly, TestOnly); err != nil {
			return at(err, "settings[%d]", i)
		}
	}
	if err := cmp.Or(at(mechanisms.CheckPolicy(d.Policy), "policy"), at(check.AtLeast("repetitions", d.Repetitions, 1), "repetitions"),
		at(check.AtLeast("baseline_repetitions", d.BaselineRepetitions, 0), "baseline_repetitions"),
		at(check.AtLeast("shadow", d.Shadow, 0), "shadow"),
		at(check.AtLeast("trainings", d.Trainings, 0), "trainings")); err != nil {
		return err
	}
	if d.Trainings > 0 && max(d.Repetitions, d.BaselineRepetitions) > 1 {
		return at(errors.New("trainings: are the repetitions of one text: repetitions and baseline_repetitions must be 1"),
			"trainings")
	}
	for _, key := range slices.Sorted(maps.Keys(d.Metrics)) {
		m, ok := metrics[key]
		if !ok {
			return at(noMetric(key), "metrics")
		}
		if m.Check == nil {
			continue
		}
		if err := m.Check(d.Metrics[key], d, func(err error, format string, args ...any) error {
			return at(err, "%s", strings.TrimSuffix(strings.ReplaceAll("metrics."+key+"."+fmt.Sprintf(format, args...), ".[",
				"["), "."))
		}); err != nil {
			return err
		}
	}
	return nil
}

func (d *Design) checkData(at At) error {
	for i, x := range d.Datasets {
		if err := x.Check(); err != nil {
			return at(err, "datasets[%d].name", i)
		}
		if slices.ContainsFunc(d.Datasets[:i], func(o DatasetSpec) bool { return o.Name == x.Name }) {
			return at(fmt.Errorf("data set %q is given twice", x.Name), "datasets[%d].name", i)
		}
	}
	if p := d.Pool(); p != nil {
		if err := p.Check(); err != nil {
			return at(err, "public")
		}
		pool, _ := p.Traits() // checked
		for _, x := range d.Datasets {
			if t, _ := x.Traits(); t.Generated != pool.Generated {
				return at(fmt.Errorf("public = %q for data set %q: generated and real data are never mixed", p.Name,
					x.Name), "public")
			}
		}
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

// known returns an error for a data set that is not in the list of the study.
func (d *Design) known(at At, names []string, format string, args ...any) error {
	for j, name := range names {
		if !slices.ContainsFunc(d.Datasets, func(x DatasetSpec) bool { return x.Name == name }) {
			return at(fmt.Errorf("data set %q is not in the study", name),
				fmt.Sprintf(format, args...)+".datasets[%d]", j)
		}
	}
	return nil
}

func (d *Design) checkEmbeddings(at At) error {
	for i, e := range d.Embeddings {
		if err := d.known(at, e.Datasets, "embeddings[%d]", i); err != nil {
			return err
		}
		if slices.ContainsFunc(d.Embeddings[:i], e.repeats) { // rows tell them apart by name and dimension
			return at(fmt.Errorf("embedding %q is given twice: two files need names of their own", e.Name), "embeddings[%d]",
				i)
		}
		for _, x := range d.Datasets {
			if len(e.Datasets) > 0 && !slices.Contains(e.Datasets, x.Name) || e.Name == NoVectors {
				continue
			}
			t, err := x.Traits()
			if err != nil {
				return at(err, "datasets")
			}
			if (e.Name == GeneratedEmbedding) != t.Generated {
				return at(fmt.Errorf("data set %q with embedding %q: generated and real data are never mixed; real texts "+
					"take glove.6B, or vectors of your own: {name: mine, file: vectors.txt}; with several data sets, restrict "+
					"the embedding with its list of datasets", x.Name, e.Name), "embeddings[%d]", i)
			}
		}
	}
	return nil
}

func (d *Design) checkMechanisms(at At) error {
	if err := checkEpsilons(at, "epsilons", d.Epsilons); err != nil {
		return err
	}
	for i, m := range d.Mechanisms {
		if err := m.Check(at, fmt.Sprintf("mechanisms[%d]", i)); err != nil {
			return err
		}
		settings, _ := m.Expand() // checked
		for _, x := range settings {
			// A metric may find the ε itself.
			needed := len(d.Models) > 0 || len(d.Attackers) > 0
			if t, err := x.Definition(); err == nil && needed && !t.Constant && m.Text == "" && len(m.Epsilons) == 0 &&
				len(d.Epsilons) == 0 {
				return at(fmt.Errorf("%s: no epsilons, neither here nor in the study", m.Name), "mechanisms[%d]", i)
			}
		}
	}
	return checkTwice(at, d.Mechanisms, d.Epsilons)
}

func (d *Design) checkModels(at At) error {
	for i, m := range d.Models {
		if _, err := models.Find(m.Name); err != nil {
			return at(err, "models[%d].name", i)
		}
		if _, err := m.Resolve(); err != nil {
			return at(err, "models[%d]", i)
		}
		if err := d.known(at, m.Datasets, "models[%d]", i); err != nil {
			return err
		}
		for _, x := range d.Datasets {
			if len(m.Datasets) > 0 && !slices.Contains(m.Datasets, x.Name) {
				continue
			}
			if err := x.Predicts(); err != nil {
				return at(err, "models[%d]", i)
			}
		}
	}
	return nil
}

func (d *Design) checkAttacks(at At) error {
	for i, c := range d.Attackers {
		name := c.Name
		a, err := attack.Find(name)
		if len(c.Command) > 0 {
			if err == nil {
				err = fmt.Errorf("name = %q: is that of a built-in attacker; give the command another", name)
			} else {
				err = c.Check()
			}
		} else if err == nil && (len(c.Files) > 0 || len(c.Env) > 0 || c.Timeout != 0) {
			err = errors.New("files, env and timeout describe a command: give one too")
		}
		if err != nil {
			return at(err, "attackers[%d]", i)
		}
		if slices.Contains(AttackerNames(d.Attackers[:i]), name) {
			return at(fmt.Errorf("attacker %q is given twice", name), "attackers[%d]", i)
		}
		for need, missing := range map[attack.Need]string{
			attack.NeedsShadow: "knows the language from other text: shadow must be > 0, or public must be there",
			attack.NeedsPublic: "trains on public text with private labels: public must be there",
			attack.NeedsModel:  "asks a masked language model: masked must be there",
		} {
			lacks := d.Public == "" && (need == attack.NeedsPublic || need == attack.NeedsShadow && d.Shadow == 0) ||
				need == attack.NeedsModel && d.Masked == ""
			if lacks && slices.Contains(a.Needs, need) {
				return at(fmt.Errorf("attacker %s %s", name, missing), "attackers[%d]", i)
			}
		}
	}
	if len(d.Attackers) == 0 {
		return nil
	}
	for i, m := range d.Mechanisms {
		if _, unread, _ := d.Expand(m); len(unread) > 0 && !Many(m.Name) {
			return at(unread[0], "mechanisms[%d].name", i)
		}
	}
	_, err := d.Options.Complete()
	return at(err, "options")
}
