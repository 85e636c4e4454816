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

// UnmarshalYAML reads a name alone too.
func (c *CommandSpec) UnmarshalYAML(decode func(any) error) error {
	var name string
	if decode(&name) == nil {
		*c = CommandSpec{Name: name}
		return nil
	}
	type plain CommandSpec // without methods
	return decode((*plain)(c))
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
