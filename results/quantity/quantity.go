// Package quantity describes what is measured: names, scales, directions, and the levels
// at which mechanisms are compared. Whoever treats all quantities reads these fields and
// knows no quantity by its name: what is special of one is a field of it, or its formula.
package quantity

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

// Quantity is one quantity.
type Quantity struct {
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
	Table     string    `yaml:"table"`     // shared with other quantities; "": a separate table
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
	// Usual says of what it is the usual measure: "utility" or "privacy".
	Usual string `yaml:"usual"`
	// Axis is its title on the axis of a figure, where it is not the heading.
	Axis string `yaml:"axis"`
	// Meaning says what a level means, with {percent} for it.
	Meaning string `yaml:"meaning"`
	// WidestGap is the largest step of its fit between two ε across which a line is drawn; 0: any.
	WidestGap float64 `yaml:"widest_gap"`
	// YesNo tells that it is printed as no for 0 and yes for 1.
	YesNo bool `yaml:"yes_no"`
	// ShowsDetail tells that the detail of a value names whose it is, and stands beside it.
	ShowsDetail bool `yaml:"-"`
	// OfEncoder tells that it rests on a sentence encoder, which its detail names where it was measured.
	OfEncoder bool `yaml:"of_encoder"`
	// RunsOf is the quantity whose Whole are the runs that its Part counts the outcomes of; "" for none.
	RunsOf string `yaml:"runs_of"`
	// Sampled tells that it may be measured in some repetitions only: PUC of the others uses the mean.
	Sampled bool `yaml:"sampled"`
}

// Heading returns the title with its unit.
func (q Quantity) Heading() string {
	switch q.Unit {
	case "":
		return q.Title
	case "%":
		return q.Title + " in %"
	}
	return q.Title + " " + q.Unit
}

// Subscripted is a quantity such as N_w in a text, with its letter and its
// subscript, which tables and figures set as usual in the literature.
var Subscripted = regexp.MustCompile(`\b([A-Z])_([A-Za-z]+)\b`)

var registered []Quantity

// Register adds quantities. A measurement registers its own in an init
// function; the order of registration is that of tables.
func Register(list ...Quantity) {
	for _, c := range list {
		if slices.ContainsFunc(registered, func(o Quantity) bool { return o.Name == c.Name }) {
			panic(fmt.Sprintf("quantity: quantity %q is registered twice", c.Name))
		}
		registered = append(registered, c)
	}
}

// All lists every quantity.
func All() []Quantity { return slices.Clone(registered) }

// NameNow returns the name of a quantity that files of earlier programs may call otherwise.
func NameNow(name string) string {
	for _, c := range registered {
		if slices.Contains(c.FormerNames, name) {
			return c.Name
		}
	}
	return name
}

// Find returns a quantity by its name.
func Find(name string) (Quantity, error) {
	for _, c := range registered {
		if c.Name == name {
			return c, nil
		}
	}
	if c, ok := ofCommand(name); ok {
		return c, nil
	}
	if now := NameNow(name); now != name {
		return Quantity{}, fmt.Errorf("metric = %q: it is called %s now", name, now)
	}
	return Quantity{}, fmt.Errorf("metric = %q: no such column; mldp study keys lists them", name)
}

// Must is Find for names that are constants of the program.
func Must(name string) Quantity {
	c, err := Find(name)
	if err != nil {
		panic("quantity: " + err.Error())
	}
	return c
}

// quantitiesYAML has the quantities that tables combine, and those of the source papers.
//
//go:embed quantities.yaml
var quantitiesYAML []byte

// UsualUtility is the quantity by which mechanisms are compared unless another is asked for.
func UsualUtility() string { return usual("utility") }

// UsualPrivacy is the quantity whose levels they are compared at unless another is asked for: E_M over all
// words, how often the best guess of a word is wrong.
func UsualPrivacy() string { return usual("privacy") }

// usual is the quantity that is the usual measure of something.
func usual(of string) string {
	i := slices.IndexFunc(registered, func(q Quantity) bool { return q.Usual == of })
	return registered[i].Name
}

// Percent reports whether it is in 0–100, as is what counts outcomes of 100 runs.
func (q Quantity) Percent() bool { return q.Unit == "%" || q.Unit == "×100" || q.RunsOf != "" }

// Succeeds reports whether it is what an attacker finds.
func (q Quantity) Succeeds() bool { return q.Attacker != "" && q.Direction == Down }

func init() {
	var all []Quantity
	if err := yaml.UnmarshalWithOptions(quantitiesYAML, &all, yaml.Strict()); err != nil {
		panic("quantities.yaml: " + err.Error()) // embedded, and tested
	}
	Register(all...)
}
