package study

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

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
	Epsilons   []float64          `yaml:"epsilons,omitempty" limits:">0"` // instead of the study's
	// KeepWords are published unchanged, so epsilon is infinite on them: those that
	// occur more often in the data set, as ">100".
	KeepWords string `yaml:"keep_words,omitempty"`
	// Repetitions is smaller than the study's where fewer repetitions exist; 0
	// means the study's.
	Repetitions int `yaml:"repetitions,omitempty" limits:"1,10000"`
}

// KeptWords returns the words whose counts are greater than the number of ">N".
func KeptWords(list string, counts map[string]int) (kept []string) {
	n, err := moreThan(list)
	if err != nil || list == "" {
		return nil
	}
	for word, count := range counts {
		if count > n {
			kept = append(kept, word)
		}
	}
	slices.Sort(kept)
	return kept
}

func moreThan(list string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(list, ">"))
	if list != "" && (err != nil || n < 0 || !strings.HasPrefix(list, ">")) {
		return 0, check.Wrong("keep_words = %q: must be a number of occurrences such as \">100\"", list)
	}
	return n, nil
}

// Check validates a mechanism's entry.
func (m MechanismSpec) Check(at At, where string) error {
	_, kept := moreThan(m.KeepWords)
	if err := cmp.Or(
		at(m.checkName(), "%s.name", where), at(check.Name("label", m.Label), "%s.label", where),
		at(m.Outside.Check(m.Name, m.Parameters, len(m.Epsilons)), "%s", where), at(kept, "%s.keep_words", where),
	); err != nil {
		return err
	}
	settings, err := m.Expand()
	for _, s := range settings {
		if d, err := s.Definition(); err == nil && d.NewVector != nil && m.KeepWords != "" {
			return at(fmt.Errorf("%s releases vectors: it keeps no words", d.Name), "%s", where)
		}
	}
	return at(err, "%s", where)
}

// checkName validates the name of an entry, and what cannot stand beside it.
func (m MechanismSpec) checkName() error {
	switch many := Many(m.Name); {
	case !m.Is() && !many:
		_, err := mechanisms.Find(m.Name)
		return err
	case !m.Is() && (m.Variant != "" || len(m.Parameters) > 0):
		return fmt.Errorf("mechanism %s: takes no variant and no parameters; name the mechanism", m.Name)
	case !m.Is():
		return nil
	case many || m.Name == results.BaselineMechanism:
		return fmt.Errorf("name = %q: has a meaning of its own; give what is not built in another", m.Name)
	case m.Variant != "" || m.KeepWords != "":
		return fmt.Errorf("%s: variant and keep_words are those of built-in mechanisms", m.Name)
	}
	return checkName("name", m.Name)
}

// checkTwice validates that records can distinguish mechanisms from outside;
// epsilons are those of entries without their own.
func checkTwice(at At, list []MechanismSpec, epsilons []float64) error {
	met := map[string]bool{}
	for i, m := range list {
		settings, _ := m.Expand() // checked
		own := m.Epsilons
		if len(own) == 0 {
			own = epsilons
		}
		if len(own) == 0 {
			own = []float64{0} // nobody knows it
		}
		for _, s := range settings {
			for _, s.Epsilon = range own {
				key := strings.Join(Labels(s), " ")
				if m.Is() && met[key] {
					which := m.Name
					if s.Epsilon > 0 {
						which = fmt.Sprintf("%s at epsilon %v", m.Name, s.Epsilon)
					}
					return at(check.Wrong("%s is given twice: give one of them another name", which), "mechanisms[%d].name", i)
				}
				met[key] = true
			}
		}
	}
	return nil
}

// Expand returns the settings of a mechanism entry, one for each combination of
// listed parameters, without epsilon.
func (m MechanismSpec) Expand() (out []mechanisms.Settings, err error) {
	if Many(m.Name) {
		for _, d := range mechanisms.Definitions() {
			if m.Name == AllProved && d.Variants[0] != mechanisms.Proved {
				continue
			}
			one, err := MechanismSpec{Name: d.Name, Epsilons: m.Epsilons}.Expand()
			if err != nil {
				return nil, err
			}
			out = append(out, one...)
		}
		return out, nil
	}
	// Epsilon 1 is a placeholder: parameters are checked without it.
	start := mechanisms.Settings{Mechanism: m.Name, Variant: m.Variant, Epsilon: 1}
	if m.Is() {
		start.Outside = &m.Outside
	}
	d, err := start.Definition()
	if err != nil {
		return nil, err
	}
	sets := []mechanisms.Parameters{{}}
	for _, name := range slices.Sorted(maps.Keys(m.Parameters)) {
		values, err := parameterValues(d, name, m.Parameters[name])
		if err != nil {
			return nil, err
		}
		var next []mechanisms.Parameters
		for _, set := range sets {
			for _, v := range values {
				p := maps.Clone(set)
				p[name] = v
				next = append(next, p)
			}
		}
		sets = next
	}
	for _, start.Parameters = range sets {
		c, err := mechanisms.Complete(start)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// Expand returns the settings of a mechanism entry in a design, and the reasons for
// those that it leaves out, as attackers and others cannot read what they release:
// of an entry that names one this is an error.
func (d *Design) Expand(m MechanismSpec) (in []mechanisms.Settings, unread []error, err error) {
	all, err := m.Expand()
	for _, x := range all {
		if t, err := x.Definition(); err == nil && t.New == nil && len(d.Attackers) > 0 {
			unread = append(unread, fmt.Errorf("%s releases vectors: attackers read words", x.Mechanism))
		} else {
			in = append(in, x)
		}
	}
	return in, unread, err
}

// parameterValues reads a parameter: a value, or a list of values. Where the
// parameter itself is a list of numbers, a flat list is one value.
func parameterValues(d mechanisms.Definition, name string, v any) ([]any, error) {
	v, err := plainValue(v)
	if err != nil {
		return nil, fmt.Errorf("%s: parameter %s: %w", d.Name, name, err)
	}
	values, ok := v.([]any)
	if !ok {
		return []any{v}, nil
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("%s: parameter %s: the list is empty", d.Name, name)
	}
	for _, p := range d.Parameters {
		_, takesList := p.Default.([]float64)
		if _, nested := values[0].([]any); p.Name == name && takesList && !nested {
			return []any{values}, nil
		}
	}
	return values, nil
}

// plainValue converts numbers from YAML to float64; those of mechanisms from
// outside are converted nowhere else.
func plainValue(v any) (any, error) {
	if f, ok := params.Convert(v, 0.0); ok {
		return f, nil
	}
	switch v := v.(type) {
	case string, bool, []float64:
		return v, nil
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			var err error
			if out[i], err = plainValue(x); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("%v: must be a number, a word or a list of them", v)
}
