package results

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml"
)

// Direction is the direction in which a quantity is better.
type Direction int

// More of a quantity is neither better nor worse, better, or worse.
const (
	neither Direction = iota
	Up
	Down
)

// UnmarshalText reads what is better: "higher" or "lower".
func (d *Direction) UnmarshalText(text []byte) error {
	switch string(text) {
	case "higher":
		*d = Up
	case "lower":
		*d = Down
	default:
		return fmt.Errorf("better = %q: must be higher or lower", text)
	}
	return nil
}

// Column describes a quantity.
type Column struct {
	Name string `yaml:"name"` // in files
	// FormerNames are those in files of earlier programs, which are read.
	FormerNames []string `yaml:"former_names"`
	Title       string   `yaml:"title"` // in tables and figures; "" is raw material that nobody tabulates
	Unit        string   `yaml:"unit"`  // "%", "×100", "bits" or ""
	// Direction tells whether more is better, in terms of the utility or
	// privacy that the quantity measures.
	Direction Direction `yaml:"better"`
	Digits    int       `yaml:"digits"`    // printed after the point
	Threshold float64   `yaml:"threshold"` // the change of a mean, in its unit, that is never an alarm; 0: not watched
	Table     string    `yaml:"table"`     // shared with other columns; "": a separate table
	Attacker  string    `yaml:"-"`         // whose success it is; "": no attacker's
	OfModel   bool      `yaml:"of_model"`  // depends on the classifier, not on the text alone
	Counted   bool      `yaml:"counted"`   // 100·Part/Whole
	Share     bool      `yaml:"-"`         // of right answers, 0–1
	Least     float64   `yaml:"-"`         // who knows nothing has it: a level is above
	Error     bool      `yaml:"error"`     // of an attacker on words, 0–1
	Mean      bool      `yaml:"-"`         // of numbers in 0–1, one for each test document
	Derived   bool      `yaml:"derived"`   // follows from other rows; never stored
	Timing    bool      `yaml:"timing"`    // differs between two runs of one unit
	OfWords   bool      `yaml:"of_words"`  // measured on words, not on a text
	// Once tells that it is measured once for a mechanism and ε, in the first repetition, and holds for all others.
	Once bool `yaml:"once"`
	// Exact says how the value was found where it was computed without sampling; "" where that is the same everywhere.
	Exact     string `yaml:"exact"`
	Explained string `yaml:"explained"` // what readers have misunderstood in the title
}

// How says how a value was found, "" where that is the same everywhere.
func (c Column) How(m Measured) string {
	switch {
	case c.Exact == "":
		return ""
	case m.Whole == 0:
		return c.Exact
	case m.Note != "":
		return "an attacker who " + m.Note
	}
	return fmt.Sprintf("an attacker that learned from %d draws of each word, measured on as many", m.Whole)
}

// Heading returns the title with its unit.
func (c Column) Heading() string {
	switch c.Unit {
	case "":
		return c.Title
	case "%":
		return c.Title + " in %"
	}
	return c.Title + " " + c.Unit
}

// Subscripted is a quantity such as N_w in a text, with its letter and its
// subscript, which tables and figures set as usual in the literature.
var Subscripted = regexp.MustCompile(`\b([A-Z])_([A-Za-z]+)\b`)

var columns []Column

// Register adds quantities. A measurement registers its own in an init
// function; the order of registration is that of tables.
func Register(list ...Column) {
	for _, c := range list {
		if slices.ContainsFunc(columns, func(o Column) bool { return o.Name == c.Name }) {
			panic(fmt.Sprintf("results: quantity %q is registered twice", c.Name))
		}
		columns = append(columns, c)
	}
}

// Columns lists every quantity.
func Columns() []Column { return slices.Clone(columns) }

// NameNow returns the name of a quantity that files of earlier programs may call otherwise.
func NameNow(name string) string {
	for _, c := range columns {
		if slices.Contains(c.FormerNames, name) {
			return c.Name
		}
	}
	return name
}

// FindColumn returns a quantity by its name.
func FindColumn(name string) (Column, error) {
	for _, c := range columns {
		if c.Name == name {
			return c, nil
		}
	}
	if c, ok := ofCommand(name); ok {
		return c, nil
	}
	if now := NameNow(name); now != name {
		return Column{}, fmt.Errorf("metric = %q: it is called %s now", name, now)
	}
	return Column{}, fmt.Errorf("metric = %q: no such column; mldp study keys lists them", name)
}

// MustColumn is FindColumn for names that are constants of the program.
func MustColumn(name string) Column {
	c, err := FindColumn(name)
	if err != nil {
		panic("results: " + err.Error())
	}
	return c
}

// columnsYAML has the quantities that tables combine, and those of the source papers.
//
//go:embed columns.yaml
var columnsYAML []byte

func init() {
	var all []Column
	if err := yaml.UnmarshalWithOptions(columnsYAML, &all, yaml.Strict()); err != nil {
		panic("columns.yaml: " + err.Error()) // embedded, and tested
	}
	Register(all...)
}
