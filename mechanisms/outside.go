package mechanisms

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/internal/params"
)

// Outside describes a mechanism that is not built in: a command that speaks the
// protocol of docs/external.md, or text that was privatised elsewhere. In its
// strings, {epsilon} and the {NAME} of a parameter are replaced by their
// values.
type Outside struct {
	Command []string `yaml:"command,omitempty"` // program and arguments, as in docs/external.md; no shell is run

	Text string `yaml:"text,omitempty"` // a file, or a folder with one file per repetition
	// columns that hold the text, joined by a space; if empty, those of the
	// data set
	Columns []string `yaml:"columns,omitempty"`
	// column with the number of the document; "": the rows are all documents in
	// order
	ID string `yaml:"id,omitempty"`
}

// Is reports whether a command or text is given.
func (o Outside) Is() bool { return len(o.Command) > 0 || o.Text != "" }

// Check validates o for a mechanism with the given name, parameters and number
// of epsilons.
func (o Outside) Check(name string, parameters map[string]any, epsilons int) error {
	if !o.Is() {
		if len(o.Columns) > 0 || o.ID != "" {
			return fmt.Errorf("%s: columns and id describe a text: give one too", name)
		}
		return nil
	}
	if _, err := Find(name); err == nil {
		return fmt.Errorf("name = %q: is that of a built-in mechanism; call this something else, such as my-%s", name,
			name)
	}
	switch {
	case len(o.Command) > 0 && o.Text != "":
		return fmt.Errorf("%s: give command or text, not both", name)
	case o.Text == "" && (len(o.Columns) > 0 || o.ID != ""):
		return fmt.Errorf("%s: columns and id describe a text", name)
	case o.Text == "" && o.Command[0] == "":
		return fmt.Errorf("%s: command: must name a program", name)
	case o.Text != "" && epsilons > 1 && !strings.Contains(o.Text, "{epsilon}"):
		return fmt.Errorf("%s: text = %q: holds the text of one epsilon: give one in epsilons, none where "+
			"nobody knows it, or say {epsilon} in its name", name, o.Text)
	}
	for _, p := range slices.Sorted(maps.Keys(parameters)) {
		if !slices.ContainsFunc(o.places(), func(s string) bool {
			return strings.Contains(s, "{"+p+"}")
		}) {
			return fmt.Errorf("%s: parameter %s: {%s} must stand in the command or the name of the text, or it "+
				"changes nothing", name, p, p)
		}
	}
	return nil
}

// places returns the strings in which parameters may stand.
func (o Outside) places() []string {
	return append(slices.Clone(o.Command), o.Text)
}

// At returns o with the values of settings filled in.
func (o Outside) At(s Settings) Outside {
	pairs := []string{"${epsilon}", "${epsilon}", "{epsilon}", params.FormatValue(s.Epsilon)}
	for name, v := range s.Parameters {
		place := "{" + name + "}"
		variable := "$" + place // of the environment
		pairs = append(pairs, variable, variable, place, params.FormatValue(v))
	}
	put := strings.NewReplacer(pairs...)
	o.Command = list.Map(o.Command, put.Replace)
	o.Text = put.Replace(o.Text)
	return o
}

// Definition returns the definition of the mechanism: the registered one of its
// name or, for an outside one, what is known without opening it.
func (s Settings) Definition() (Definition, error) {
	if s.Outside == nil {
		return Find(s.Mechanism)
	}
	return Definition{
		Name:     s.Mechanism,
		Title:    s.Mechanism,
		Variants: []Variant{External},
		Drawn:    true,
		New: func(env Environment, s Settings) (*Mechanism, error) {
			if env.Outside == nil {
				return nil, errors.New("is not built in, and nothing here opens it")
			}
			return env.Outside(s)
		},
	}, nil
}
