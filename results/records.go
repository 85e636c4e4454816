package results

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

// unknownProgram stands for a program that did not know its version.
const unknownProgram = "unknown"

// Record is a run whose rows are kept under results/reference, or that mldp reproduce makes:
// see records.yaml.
type Record struct {
	Name    string   `yaml:"name"`
	File    string   `yaml:"file"`    // in results/reference; "" where rows are not kept
	Command string   `yaml:"command"` // "audit"; "" is run
	Study   string   `yaml:"study"`   // "" where it is not made anew
	Scenes  Scenes   `yaml:"scenes"`
	Flags   string   `yaml:"flags"`
	Minutes float64  `yaml:"minutes"` // of two idle cores, if it has no scenes; 0 is unknown
	Answers bool     `yaml:"answers"`
	Reads   []string `yaml:"reads"` // files of the repository
	Made    []Part   `yaml:"made"`
	Note    string   `yaml:"note"`
}

// Part is the rows of a record that one program made.
type Part struct {
	Program string `yaml:"program"` // a version, or unknownProgram
	Rows    int    `yaml:"rows"`
	Note    string `yaml:"note"`
}

// Scene is a part of a study.
type Scene struct {
	Name    string
	Minutes float64 // of two idle cores
}

// Scenes are in the order in which they are run.
type Scenes []Scene

// UnmarshalYAML reads a mapping of names to minutes, which has an order.
func (s *Scenes) UnmarshalYAML(text []byte) error {
	var all yaml.MapSlice
	if err := yaml.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, item := range all {
		name, ok := item.Key.(string)
		if !ok {
			return fmt.Errorf("scene %v: must be a name", item.Key)
		}
		var minutes float64
		if _, err := fmt.Sscan(fmt.Sprint(item.Value), &minutes); err != nil {
			return fmt.Errorf("minutes of scene %s = %v: must be a number", name, item.Value)
		}
		*s = append(*s, Scene{Name: name, Minutes: minutes})
	}
	return nil
}

//go:embed records.yaml
var recordsYAML []byte

// Records are all that records.yaml lists, in its order.
var Records = sync.OnceValue(func() []Record {
	var all []Record
	if err := yaml.UnmarshalWithOptions(recordsYAML, &all, yaml.Strict()); err != nil {
		panic("records.yaml: " + err.Error()) // embedded, and tested
	}
	return all
})

// FindRecord returns a record by its name, or one scene of it as a record of its own by "name/scene".
func FindRecord(name string) (Record, error) {
	name, scene, ofScene := strings.Cut(name, "/")
	for _, r := range Records() {
		if r.Name != name {
			continue
		}
		if !ofScene {
			return r, nil
		}
		for _, s := range r.Scenes {
			if s.Name == scene {
				r.File = ""
				r.Scenes = Scenes{s}
				return r, nil
			}
		}
		return Record{}, fmt.Errorf("the record %s has no scene %q", name, scene)
	}
	return Record{}, fmt.Errorf("there is no record %q", name)
}

// Arguments are those of mldp that make the record; none where it is not made anew.
func (r Record) Arguments() []string {
	flags := strings.Fields(r.Flags) // which hold no spaces
	if r.Command != "" {
		return append([]string{r.Command}, flags...)
	}
	if r.Study == "" {
		return nil
	}
	arguments := []string{"run", r.Study}
	if len(r.Scenes) > 0 {
		var names []string
		for _, s := range r.Scenes {
			names = append(names, s.Name)
		}
		// First, as flags name scenes by their position.
		arguments = append(arguments, "--set", "scenes=["+strings.Join(names, ",")+"]")
	}
	return append(arguments, flags...)
}

// Time is the minutes of two idle cores that it takes, 0 where they are not known.
func (r Record) Time() float64 {
	minutes := r.Minutes
	for _, s := range r.Scenes {
		minutes += s.Minutes
	}
	return minutes
}

// Parts are the programs that made rows, those of most rows first.
func Parts(rows []Row) []Part {
	var parts []Part
	for _, r := range rows {
		program := r.Version
		if program == "(devel)" {
			program = unknownProgram
		}
		i := slices.IndexFunc(parts, func(p Part) bool { return p.Program == program })
		if i < 0 {
			i = len(parts)
			parts = append(parts, Part{Program: program})
		}
		parts[i].Rows++
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return b.Rows - a.Rows })
	return parts
}

// Same reports whether a program made as many rows in both.
func (p Part) Same(q Part) bool { return p.Program == q.Program && p.Rows == q.Rows }
