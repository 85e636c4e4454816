package study

import (
	"fmt"

	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
)

// CommandSpec names an attacker or a measurement: a built-in attacker by its
// name alone, others with the command that speaks protocol 2 of
// docs/external.md.
type CommandSpec struct {
	Name    string   `yaml:"name"`              // in rows and tables; of a built-in attacker, its own
	Command []string `yaml:"command,omitempty"` // program and arguments; no shell is run
}

// plainCommand is CommandSpec without its methods.
type plainCommand CommandSpec

// UnmarshalYAML reads a name alone too.
func (c *CommandSpec) UnmarshalYAML(decode func(any) error) error {
	var name string
	if decode(&name) == nil {
		*c = CommandSpec{Name: name}
		return nil
	}
	return decode((*plainCommand)(c))
}

// MarshalYAML writes a built-in attacker as its name.
func (c CommandSpec) MarshalYAML() (any, error) {
	if len(c.Command) == 0 {
		return c.Name, nil
	}
	return plainCommand(c), nil
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

// Outside returns the command as lab opens it.
func (c CommandSpec) Outside() mechanisms.Outside {
	return mechanisms.Outside{Command: c.Command}
}

// AttackerNames returns the names of attackers.
func AttackerNames(all []CommandSpec) []string {
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = a.Name
	}
	return names
}
