// Package attacks plans studies of empirical privacy: what attackers learn from
// released text, together with the utility of that text.
//
// An attacker's success means nothing alone. Unchanged text and random words
// are therefore attacked in addition to every mechanism, each number has its
// interval, chance level and ceiling, and utility is measured on the same
// release that was attacked. A unit is one attacker against one mechanism at
// one ε, so adding an attacker or an ε repeats no measurement. Attackers of one
// release are run together, because they share its text and the rows of its
// channel.
package attacks

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/models/attack"
	"mldpbench/results"
)

// Protocol is the name of these studies.
const Protocol = "attacks"

// Utility is the panel of utility: the accuracy of a classifier of the utility
// label, trained and tested on released text.
const Utility = results.UtilityPanel

// Language is the panel of what the released text is like as a text: how
// probable it is, and how many of its words keep their part of speech.
const Language = "language"

// Quantities beside accuracy that say what a text is good for.
const (
	probeAccuracy = "probe-accuracy"
	logPerplexity = "log-perplexity"
	speechKept    = "parts-of-speech-kept"
)

func init() {
	study.Register(Protocol, func() study.Body { return &Study{} })
	for _, c := range []results.Column{
		{Name: probeAccuracy, Title: "accuracy of a linear probe", Unit: "%", Direction: results.Up, Digits: 1,
			Threshold: 2, Table: Utility},
		{Name: logPerplexity, Title: "log-perplexity, median", Unit: "nats", Direction: results.Down, Digits: 2,
			Threshold: 0.1, Table: Language},
		{Name: speechKept, Title: "parts of speech kept", Unit: "%", Direction: results.Up, Digits: 1, Threshold: 2,
			Table: Language},
	} {
		results.RegisterQuantity(c)
	}
}

// Study is the body of a study of this protocol. The comments in the built-in
// files document it.
type Study struct {
	study.Header `yaml:",inline"`
	Scenes       []Scene               `yaml:"scenes"`
	Mechanisms   []study.MechanismSpec `yaml:"mechanisms"`
	Epsilons     []float64             `yaml:"epsilons,omitempty"`
	Attackers    []string              `yaml:"attackers,omitempty"` // for scenes that name none
	Policy       mechanisms.Policy     `yaml:"policy,omitempty"`
	Repetitions  int                   `yaml:"repetitions,omitempty" limits:"1,10000"`
	Encoder      string                `yaml:"encoder,omitempty"` // used by attackers that compare sentences
	Options      attack.Options        `yaml:"options,omitempty"`
}

// Scene is a data set with its vectors and attackers.
type Scene struct {
	Dataset   study.DatasetSpec   `yaml:"dataset"`
	Embedding study.EmbeddingSpec `yaml:"embedding"`
	// Shadow is the number of documents of the training split that no model
	// trains on: the attacker's knowledge of the language.
	Shadow    int              `yaml:"shadow,omitempty" limits:"0,100000000"`
	Attackers []string         `yaml:"attackers,omitempty"`
	Utility   *study.ModelSpec `yaml:"utility,omitempty"` // classifier of the utility label
	// Probe adds a linear classifier of the utility label on sentence encodings.
	Probe bool `yaml:"probe,omitempty"`
	// Language adds the perplexity of the released text under a model of the
	// shadow text, and on real data the share of words that keep their part of
	// speech in WordNet.
	Language bool `yaml:"language,omitempty"`
}

// references are attacked in every study in addition to its mechanisms: the
// unchanged text and random words.
var references = []string{"identity", "uniform"}

// Check validates every value and fills in defaults. It is idempotent.
func (s *Study) Check(at study.At) error {
	if s.Documents == study.Redrawn {
		return at(errors.New("documents = \"redrawn\": attacked documents are one sample"), "documents")
	}
	if len(s.Scenes) == 0 {
		return at(errors.New("scenes: must not be empty"), "scenes")
	}
	if err := study.Epsilons(at, "epsilons", s.Epsilons); err != nil {
		return err
	}
	for i, m := range s.Mechanisms {
		if err := s.checkMechanism(at, i, m); err != nil {
			return err
		}
	}
	if err := study.CheckTwice(at, s.Mechanisms, s.Epsilons); err != nil {
		return err
	}
	if err := checkAttackers(at, "attackers", s.Attackers); err != nil {
		return err
	}
	for i := range s.Scenes {
		if err := s.checkScene(at, i); err != nil {
			return err
		}
	}
	if s.Policy == "" {
		s.Policy = mechanisms.Random
	}
	if err := check.OneOf("policy", string(s.Policy), string(mechanisms.Keep), string(mechanisms.Random)); err != nil {
		return at(err, "policy")
	}
	if s.Repetitions == 0 {
		s.Repetitions = 1
	}
	if err := check.AtLeast("repetitions", s.Repetitions, 1); err != nil {
		return at(err, "repetitions")
	}
	if s.Encoder == "" {
		s.Encoder = lab.SIFEncoder
	}
	_, err := s.Options.Complete()
	return at(err, "options")
}

func (s *Study) checkMechanism(at study.At, i int, m study.MechanismSpec) error {
	if err := m.Check(at, fmt.Sprintf("mechanisms[%d]", i)); err != nil {
		return err
	}
	settings, err := m.Expand()
	if err != nil {
		return at(err, "mechanisms[%d]", i)
	}
	for _, x := range settings {
		d, err := x.Definition()
		if err != nil {
			return at(err, "mechanisms[%d].name", i)
		}
		if d.New == nil {
			return at(fmt.Errorf("%s releases vectors: attackers read words", x.Mechanism), "mechanisms[%d].name", i)
		}
		if m.Repetitions != 0 {
			return at(errors.New("repetitions: those of a single mechanism are for grid studies"),
				"mechanisms[%d].repetitions", i)
		}
		if !d.Constant && len(m.Epsilons) == 0 && len(s.Epsilons) == 0 {
			return at(fmt.Errorf("%s: no epsilons, neither here nor in the study", m.Name), "mechanisms[%d]", i)
		}
	}
	return nil
}

func checkAttackers(at study.At, where string, names []string) error {
	for i, name := range names {
		if _, err := attack.Find(name); err != nil {
			return at(err, "%s[%d]", where, i)
		}
		if slices.Contains(names[:i], name) {
			return at(fmt.Errorf("attacker %q is given twice", name), "%s[%d]", where, i)
		}
	}
	return nil
}

func (s *Study) checkScene(at study.At, i int) error {
	c, where := &s.Scenes[i], fmt.Sprintf("scenes[%d]", i)
	if err := c.Dataset.Check(); err != nil {
		return at(err, "%s.dataset", where)
	}
	for _, other := range s.Scenes[:i] {
		if other.Dataset.Name == c.Dataset.Name {
			return at(fmt.Errorf("data set %q is given twice", c.Dataset.Name), "%s.dataset.name", where)
		}
	}
	t, err := c.Dataset.Traits()
	if err != nil {
		return at(err, "%s.dataset", where)
	}
	if err := c.Embedding.Check(); err != nil {
		return at(err, "%s.embedding", where)
	}
	if len(c.Embedding.Dimensions) != 1 {
		return at(fmt.Errorf("dimensions = %v: a scene has one", c.Embedding.Dimensions), "%s.embedding.dimensions",
			where)
	}
	if (c.Embedding.Name == study.GeneratedEmbedding) != t.Generated {
		return at(fmt.Errorf("data set %q with embedding %q: generated and real data are never mixed", c.Dataset.Name,
			c.Embedding.Name), "%s.embedding", where)
	}
	if err := check.AtLeast("shadow", c.Shadow, 0); err != nil {
		return at(err, "%s.shadow", where)
	}
	if err := checkAttackers(at, where+".attackers", c.Attackers); err != nil {
		return err
	}
	if len(s.attackers(*c)) == 0 && c.Utility == nil && !c.Language {
		return at(errors.New("attackers: none, neither here nor in the study"), "%s", where)
	}
	for _, name := range s.attackers(*c) {
		d, _ := attack.Find(name) // checked
		if slices.Contains(d.Needs, attack.NeedsShadow) && c.Shadow == 0 {
			return at(fmt.Errorf("attacker %s knows the language from a shadow text: shadow must be > 0", name), "%s",
				where)
		}
	}
	if c.Language && c.Shadow == 0 {
		return at(errors.New("language: needs a shadow text to know the language from: shadow must be > 0"),
			"%s.language", where)
	}
	if c.Probe && c.Utility == nil {
		return at(errors.New("probe: is of the utility label: utility must be there"), "%s.probe", where)
	}
	if c.Utility != nil {
		if err := c.Dataset.Predicts(); err != nil {
			return at(err, "%s.utility", where)
		}
		if _, err := models.Find(c.Utility.Name); err != nil {
			return at(err, "%s.utility.name", where)
		}
		if _, err := c.Utility.Resolve(); err != nil {
			return at(err, "%s.utility", where)
		}
	}
	return nil
}

// attackers returns the attackers of a scene.
func (s *Study) attackers(c Scene) []string {
	if len(c.Attackers) > 0 {
		return c.Attackers
	}
	return s.Attackers
}

// encodes says whether a scene needs the sentence encoder.
func (s *Study) encodes(c Scene) bool {
	return c.Probe || slices.ContainsFunc(s.attackers(c), func(name string) bool {
		d, _ := attack.Find(name) // checked
		return slices.Contains(d.Needs, attack.NeedsEncoder)
	})
}

// panels are what is measured of a mechanism in a scene: utility, and the
// attackers. Of one from outside nobody knows the channel: it is attacked by
// those who read what it released.
func (s *Study) panels(c Scene, x mechanisms.Settings) []string {
	var all []string
	if c.Utility != nil {
		all = append(all, Utility)
	}
	if c.Language {
		all = append(all, Language)
	}
	for _, name := range s.attackers(c) {
		if d, _ := attack.Find(name); x.Outside == nil || d.OneRelease { // checked
			all = append(all, name)
		}
	}
	return all
}

// mechanisms returns those of the study and the references, each at its ε.
func (s *Study) mechanisms() ([]mechanisms.Settings, error) {
	var list []study.MechanismSpec
	for _, name := range references {
		if !slices.ContainsFunc(s.Mechanisms, func(m study.MechanismSpec) bool {
			return m.Name == name || m.Name == study.All
		}) {
			list = append(list, study.MechanismSpec{Name: name})
		}
	}
	list = append(list, s.Mechanisms...)
	var all []mechanisms.Settings
	for _, m := range list {
		settings, err := m.Expand()
		if err != nil {
			return nil, err
		}
		for _, x := range settings {
			d, err := x.Definition()
			if err != nil {
				return nil, err
			}
			epsilons := m.Epsilons
			if len(epsilons) == 0 {
				epsilons = s.Epsilons
			}
			if d.Constant {
				epsilons = []float64{1} // any
			}
			for _, e := range epsilons {
				x.Epsilon = e
				all = append(all, x)
			}
		}
	}
	return all, nil
}

// options returns those of the study with their defaults, as part of an ID.
func (s *Study) options() (attack.Options, json.RawMessage, error) {
	o, err := s.Options.Complete()
	if err != nil {
		return o, nil, err
	}
	text, err := json.Marshal(o)
	return o, text, err
}

// Override returns the study changed by flags; --panel chooses attackers.
func (s *Study) Override(o study.Overrides) (study.Body, error) {
	if err := o.Refuse("attacks", "embedding", "dimensions", "models", "settings", "baseline-repetitions",
		"sample"); err != nil {
		return nil, err
	}
	c := *s
	c.Scenes, c.Mechanisms = slices.Clone(s.Scenes), slices.Clone(s.Mechanisms)
	if len(o.Datasets) > 0 {
		c.Scenes = slices.DeleteFunc(c.Scenes, func(x Scene) bool {
			return !slices.Contains(o.Datasets, x.Dataset.Name)
		})
		if len(c.Scenes) == 0 {
			return nil, fmt.Errorf("datasets = %q: the study has none of them", o.Datasets)
		}
	}
	if len(o.Mechanisms) > 0 {
		c.Mechanisms = nil
		for _, ref := range o.Mechanisms {
			name, variant, _ := strings.Cut(ref, ":")
			i := slices.IndexFunc(s.Mechanisms, func(m study.MechanismSpec) bool { return m.Name == name })
			m := study.MechanismSpec{Name: name}
			if i >= 0 {
				m = s.Mechanisms[i]
			}
			if variant != "" {
				m.Variant, m.Variants = mechanisms.Variant(variant), nil
			}
			c.Mechanisms = append(c.Mechanisms, m)
		}
	}
	if len(o.Epsilons) > 0 {
		c.Epsilons = o.Epsilons
		for i := range c.Mechanisms {
			c.Mechanisms[i].Epsilons = nil
		}
	}
	if o.Repetitions != 0 {
		c.Repetitions = o.Repetitions
	}
	if len(o.Panels) > 0 {
		return &c, c.choosePanels(o.Panels)
	}
	return &c, nil
}

// choosePanels keeps the attackers named, and utility and language if they are.
func (s *Study) choosePanels(panels []string) error {
	if err := check.OneOf("panel", panels[0], append([]string{Utility, Language}, attack.Names()...)...); err != nil {
		return err
	}
	unnamed := func(name string) bool { return !slices.Contains(panels, name) }
	var kept []Scene
	for _, c := range s.Scenes {
		c.Attackers = slices.DeleteFunc(slices.Clone(s.attackers(c)), unnamed)
		if unnamed(Utility) {
			c.Utility, c.Probe = nil, false
		}
		c.Language = c.Language && !unnamed(Language)
		if len(c.Attackers) > 0 || c.Utility != nil || c.Language {
			kept = append(kept, c)
		}
	}
	if s.Scenes = kept; len(kept) == 0 {
		return fmt.Errorf("panel = %q: no scene of the study has it", panels)
	}
	s.Attackers = nil
	return nil
}

// Wants returns the resources that the study uses.
func (s *Study) Wants() lab.Wants {
	var w lab.Wants
	for _, c := range s.Scenes {
		w.Datasets, w.Embeddings = append(w.Datasets, c.Dataset), append(w.Embeddings, c.Embedding)
		if s.encodes(c) {
			w.Encoder = s.Encoder
		}
		w.Thesaurus = w.Thesaurus || c.Language // WordNet, for its parts of speech
	}
	all, _ := s.mechanisms() // checked
	for _, x := range all {
		d, err := x.Definition()
		w.Thesaurus = w.Thesaurus || err == nil && d.Needs.Thesaurus
	}
	return w
}
