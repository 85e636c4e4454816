package study

import (
	"fmt"

	"mldpbench/internal/list"
	"mldpbench/mechanisms/external"
)

// CommandSpec names an attacker or a measurement: a built-in attacker by its
// name alone, others with the command that speaks protocol 2 of
// docs/external.md.
type CommandSpec struct {
	Name    string   `yaml:"name"`              // in rows and tables; of a built-in attacker, its own
	Command []string `yaml:"command,omitempty"` // program and arguments; no shell is run
}

// UnmarshalYAML reads a name alone too, and so do those of other entries of a study.
func (c *CommandSpec) UnmarshalYAML(decode func(any) error) error {
	type plain CommandSpec // without methods
	return orNamed(decode, (*plain)(c), func(name string) plain { return plain{Name: name} })
}

// orNamed reads an entry, or one word that stands for it.
func orNamed[T any](decode func(any) error, entry *T, named func(string) T) error {
	var word string
	if decode(&word) == nil {
		*entry = named(word)
		return nil
	}
	return decode(entry)
}

// Check validates a command.
func (c CommandSpec) Check() error {
	if err := checkName("name", c.Name); err != nil {
		return err
	}
	if len(c.Command) == 0 || c.Command[0] == "" {
		return fmt.Errorf("%s: command: must name a program", c.Name)
	}
	if external.NamesVectors(c.Command) {
		return fmt.Errorf("%s: command: {vectors} are those of a mechanism", c.Name)
	}
	return nil
}

// AttackerNames returns the names of attackers.
func AttackerNames(all []CommandSpec) []string {
	return list.Map(all, func(c CommandSpec) string { return c.Name })
}
