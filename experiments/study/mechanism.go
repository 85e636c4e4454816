package study

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets"
	"mldpbench/internal/check"
	"mldpbench/internal/params"
	"mldpbench/mechanisms"
	"mldpbench/results"
)

// MechanismSpec names a mechanism with its variant and parameters, or names
// one from outside. A parameter given as a list is a further axis of the grid.
type MechanismSpec struct {
	mechanisms.Outside `yaml:",inline"`

	Name       string             `yaml:"name"`
	Label      string             `yaml:"label,omitempty"`
	Variant    mechanisms.Variant `yaml:"variant,omitempty"`
	Parameters map[string]any     `yaml:"parameters,omitempty"`
	Epsilons   []float64          `yaml:"epsilons,omitempty" limits:">0"`     // instead of the study's
	Datasets   []string           `yaml:"datasets,omitempty"`                 // only on these; empty means all
	Budget     string             `yaml:"budget,omitempty" limits:"document"` // of a document instead of a word
	// KeepWords are published unchanged, so epsilon is infinite on them: stopwords, or
	// those that occur more often in the data set, as ">100".
	KeepWords string `yaml:"keep_words,omitempty"`
	// Repetitions is smaller than the study's where fewer repetitions exist; 0
	// means the study's.
	Repetitions int `yaml:"repetitions,omitempty" limits:"1,10000"`
}

// NamedMechanism is one of a word: vickrey:released is that variant of vickrey.
func NamedMechanism(ref string) MechanismSpec {
	name, variant, _ := strings.Cut(ref, ":")
	return MechanismSpec{Name: name, Variant: mechanisms.Variant(variant)}
}

// UnmarshalYAML reads what NamedMechanism takes, too.
func (m *MechanismSpec) UnmarshalYAML(decode func(any) error) error {
	type plain MechanismSpec
	return orNamed(decode, (*plain)(m), func(ref string) plain {
		return plain(NamedMechanism(ref))
	})
}

// moreThan is the form of keep_words: a number of occurrences.
var moreThan = regexp.MustCompile(`^>[0-9]{1,9}$`)

// stopWords names the function words of English in keep_words.
const stopWords = "stopwords"

// KeptWords returns stop words, or the words whose counts are greater than the number
// of ">N".
func KeptWords(list string, counts map[string]int) (kept []string) {
	if list == stopWords {
		return datasets.StopWords()
	}
	n, err := strconv.Atoi(strings.TrimPrefix(list, ">"))
	for word, count := range counts {
		if err == nil && count > n {
			kept = append(kept, word)
		}
	}
	slices.Sort(kept)
	return kept
}

// Check validates a mechanism's entry.
func (m MechanismSpec) Check(at At, where string) error {
	if err := m.checkName(); err != nil {
		return at(err, "%s.name", where)
	}
	if err := check.Name("label", m.Label); err != nil {
		return at(err, "%s.label", where)
	}
	if err := m.Outside.Check(m.Name, m.Parameters, len(m.Epsilons)); err != nil {
		return at(err, "%s", where)
	}
	if m.KeepWords != "" && m.KeepWords != stopWords && !moreThan.MatchString(m.KeepWords) {
		return at(check.Wrong("keep_words = %q: must be %s, or a number of occurrences such as \">100\"", m.KeepWords,
			stopWords), "%s.keep_words", where)
	}
	settings, err := m.Expand()
	for _, s := range settings {
		if d, err := s.Definition(); err == nil && d.NewVector != nil && m.KeepWords+m.Budget != "" {
			return at(fmt.Errorf("%s releases vectors: it keeps no words and shares no budget", d.Name), "%s", where)
		}
		if d, err := s.Definition(); err == nil && d.Documents && m.KeepWords+m.Budget != "" {
			return at(fmt.Errorf("%s rewrites whole texts, and its epsilon is of one: it keeps no words and shares no "+
				"budget", d.Name), "%s", where)
		}
	}
	return at(err, "%s", where)
}

// checkName validates the name of an entry, and what cannot stand beside it.
func (m MechanismSpec) checkName() error {
	switch all := m.Name == All; {
	case !m.Is() && !all:
		_, err := mechanisms.Find(m.Name)
		return err
	case !m.Is() && (m.Variant != "" || len(m.Parameters) > 0):
		return fmt.Errorf("mechanism %s: takes no variant and no parameters; name the mechanism", m.Name)
	case !m.Is():
		return nil
	case all || m.Name == results.BaselineMechanism:
		return fmt.Errorf("name = %q: has a meaning of its own; give what is not built in another", m.Name)
	case m.Variant != "" || m.KeepWords != "" || m.Budget != "":
		return fmt.Errorf("%s: variant, keep_words and budget are those of built-in mechanisms", m.Name)
	}
	return checkName("name", m.Name)
}

// Over are the ε of an entry: its own or those of the study. One of 0 is that of
// text of which nobody knows it.
func (m MechanismSpec) Over(study []float64) []float64 {
	switch {
	case len(m.Epsilons) > 0:
		return m.Epsilons
	case m.Text != "" && !strings.Contains(m.Text, "{epsilon}"):
		return []float64{0}
	}
	return study
}

// checkTwice validates that records can distinguish mechanisms from outside.
func (d *Design) checkTwice(at At) error {
	met := map[string]bool{}
	for i, m := range d.Mechanisms {
		settings, _ := m.Expand() // checked
		for _, s := range settings {
			for _, s.Epsilon = range m.Over(d.Epsilons) {
				key := fmt.Sprint(Labels(s), m.Datasets)
				if m.Is() && met[key] {
					return at(check.Wrong("%s is given twice: give one of them another name", m.Name),
						"mechanisms[%d].name", i)
				}
				met[key] = true
			}
		}
	}
	return nil
}

// Expand returns the settings of a mechanism entry, one for each combination of
// listed parameters, without epsilon.
func (m MechanismSpec) Expand() ([]mechanisms.Settings, error) {
	all := []mechanisms.Settings{{Mechanism: m.Name, Variant: m.Variant, Parameters: mechanisms.Parameters{}}}
	if m.Is() {
		all[0].Outside = &m.Outside
	}
	if m.Name == All {
		all = nil
		for _, d := range mechanisms.Definitions() {
			if !d.Documents {
				all = append(all, mechanisms.Settings{Mechanism: d.Name})
			}
		}
	}
	d, err := all[0].Definition()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(m.Parameters)) {
		values, err := parameterValues(d, name, m.Parameters[name])
		if err != nil {
			return nil, err
		}
		var next []mechanisms.Settings
		for _, s := range all {
			others := s.Parameters
			for _, v := range values {
				s.Parameters = mechanisms.Parameters{name: v}
				maps.Copy(s.Parameters, others)
				next = append(next, s)
			}
		}
		all = next
	}
	for i, s := range all {
		s.Epsilon = 1 // a placeholder: parameters are checked without it
		if all[i], err = mechanisms.Complete(s); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Expand returns the settings of a mechanism entry in a design, and the reasons for
// those that it leaves out, as attackers and others cannot read what they release:
// of an entry that names one this is an error.
func (d *Design) Expand(m MechanismSpec) (in []mechanisms.Settings, unread []error) {
	all, _ := m.Expand() // checked
	for _, x := range all {
		if t, err := x.Definition(); err == nil && t.New == nil && len(d.Attackers) > 0 {
			unread = append(unread, fmt.Errorf("%s releases vectors: attackers read words", x.Mechanism))
		} else {
			in = append(in, x)
		}
	}
	return in, unread
}

// parameterValues reads a parameter: a value, or a list of values. Where the
// parameter itself is a list of numbers, a flat list is one value.
func parameterValues(d mechanisms.Definition, name string, v any) ([]any, error) {
	values, several := v.([]any)
	if !several {
		values = []any{v}
	} else if len(values) == 0 {
		return nil, fmt.Errorf("%s: parameter %s: the list is empty", d.Name, name)
	}
	takesList := slices.ContainsFunc(d.Parameters, func(p params.Parameter) bool {
		_, list := p.Default.([]float64)
		return list && p.Name == name
	})
	if _, nested := values[0].([]any); several && !nested && takesList {
		return []any{values}, nil
	}
	values = slices.Clone(values)
	for i, v := range values { // those of mechanisms from outside are converted nowhere else
		if f, number := params.Convert(v, 0.0); number {
			values[i] = f
		} else if kind := reflect.ValueOf(v).Kind(); kind == reflect.Map || !reflect.ValueOf(v).IsValid() {
			return nil, fmt.Errorf("%s: parameter %s: %v: must be a number, a word or a list of them", d.Name, name, v)
		}
	}
	return values, nil
}
