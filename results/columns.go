package results

import (
	"fmt"
	"regexp"
	"slices"
)

// Direction is the direction in which a quantity is better.
type Direction int

// More of a quantity is neither better nor worse, better, or worse.
const (
	Neither Direction = iota
	Up
	Down
)

// Column describes a quantity.
type Column struct {
	Name  string // in files
	Title string // in tables and figures; "" is raw material that nobody tabulates
	Unit  string // "%", "×100", "bits" or ""
	// Direction tells whether more is better, in terms of the utility or
	// privacy that the quantity measures.
	Direction Direction
	Digits    int     // printed after the point
	Threshold float64 // the change of a mean, in the column's unit, that is never an alarm; 0: not watched
	Table     string  // shared with other columns; "": a separate table
	Attacker  string  // whose success it is; "": no attacker's
	OfModel   bool    // depends on the classifier, not on the text alone
	Counted   bool    // 100·Part/Whole
	Share     bool    // of right answers, 0–1
	Error     bool    // of an attacker on words, 0–1
	Mean      bool    // of numbers in 0–1, one for each test document
	Derived   bool    // follows from other rows; never stored
	Timing    bool    // differs between two runs of one unit
	OfWords   bool    // measured on words, not on a text
	Explained string  // what readers have misunderstood in the title
	// How says how a value was found, where that is not the same everywhere; may be nil.
	How func(Measured) string
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

// The quantities that tables combine, and those of the source papers. Others
// are registered by the measurement that measures them.
func init() {
	Register(
		Column{Name: "accuracy", Title: "accuracy", Unit: "%", Direction: Up, Digits: 2, Threshold: 1, OfModel: true,
			Counted: true},
		Column{Name: "validation_accuracy", Title: "validation accuracy", Unit: "%", Direction: Up, Digits: 2, OfModel: true},
		Column{Name: "auc", Title: "AUC", Direction: Up, Digits: 3, Threshold: 0.02, OfModel: true},
		Column{Name: "n_w", Title: "N_w", Unit: "%", Direction: Down, Digits: 1, Threshold: 2, Table: "privacy",
			Counted: true, OfWords: true, Explained: "runs that return the word"},
		Column{Name: "s_w", Title: "S_w", Direction: Up, Digits: 1, Threshold: 2, Table: "privacy", OfWords: true,
			Explained: "distinct outputs per word, the word itself included"},
		Column{Name: "n_w_exact", Title: "N_w exact", Unit: "%", Direction: Down, Digits: 1, Table: "exact"},
		Column{Name: "s_w_exact", Title: "S_w exact", Direction: Up, Digits: 1, Table: "exact"},
		Column{Name: "s_w_support", Title: "S_w of mass 0.95", Direction: Up, Digits: 1, Table: "exact"},
		Column{Name: "n_w_worst", Title: "N_w, worst word", Unit: "%", Direction: Down, Digits: 1, Table: "exact"},
		Column{Name: "s_w_worst", Title: "S_w, worst word", Direction: Up, Digits: 1, Table: "exact"},
		Column{Name: "pp", Title: "PP", Unit: "%", Direction: Up, Digits: 1, Threshold: 1, Table: "privacy", Counted: true,
			Explained: "tokens changed"},
		Column{Name: "cs", Title: "CS", Unit: "×100", Direction: Up, Digits: 1, Threshold: 2, Table: "privacy",
			Explained: "cosine similarity of sentences"},
		Column{Name: "low", Title: "LOW", Unit: "%", Direction: Down, Digits: 1, Threshold: 3, Table: "privacy",
			Counted: true, Explained: "of the {whole} rarest words, those that remain anywhere"},
		Column{Name: "low_overlap", Title: "LOW overlap", Unit: "%", Direction: Down, Digits: 1, Threshold: 3,
			Table: "privacy", Counted: true,
			Explained: "of the {whole} rarest words, those that are among as many rarest afterwards too"},
		Column{Name: "english", Title: "English", Unit: "%", Direction: Up, Digits: 2, Threshold: 1, Counted: true},
		Column{Name: "english_as_printed", Title: "English, list as printed", Unit: "%", Direction: Up, Digits: 2,
			Threshold: 1, Counted: true},
		Column{Name: "puc_75", Title: "PUC α=0.75", Direction: Up, Digits: 2, OfModel: true, Derived: true},
		Column{Name: "puc_50", Title: "PUC α=0.5", Direction: Up, Digits: 2, OfModel: true, Derived: true},
		Column{Name: "puc_25", Title: "PUC α=0.25", Direction: Up, Digits: 2, OfModel: true, Derived: true},
		// Of earlier records, among few candidates; not measured any more.
		Column{Name: "e_m_map", Title: "E_M MAP", Direction: Up, Digits: 3, Threshold: 0.03, Table: "adversary",
			How: func(m Measured) string {
				if m.Whole == 0 {
					return fmt.Sprintf("exact, %d candidates", m.Part)
				}
				return fmt.Sprintf("Monte Carlo, %d candidates, %d runs each", m.Part, m.Whole)
			}},
		Column{Name: "e_m_full_uniform", Title: "E_M full vocabulary", Direction: Up, Digits: 3, Threshold: 0.03,
			Table: "adversary", How: func(m Measured) string {
				switch {
				case m.Whole == 0:
					return "exact, all words"
				case m.Note != "":
					return "an attacker who " + m.Note
				}
				return fmt.Sprintf("an attacker that learned from %d draws of each word, measured on as many", m.Whole)
			}},
		Column{Name: "e_m_full_corpus", Title: "E_M full vocabulary, corpus prior", Direction: Up, Digits: 3,
			Threshold: 0.03, Table: "adversary"},
		Column{Name: "mia_auc", Title: "MIA AUC", Direction: Down, Digits: 3, Threshold: 0.05, Table: "adversary",
			OfModel: true},
		Column{Name: "loss", Title: "utility loss", Direction: Down, Digits: 3, Threshold: 0.05},
		Column{Name: "distance", Title: "distance to neighbour k", Digits: 3, Threshold: 0.05},
		Column{Name: "distance_error", Title: "distance error", Direction: Down, Digits: 3, Threshold: 0.05},
		Column{Name: "inner_product_error", Title: "inner product error", Direction: Down, Digits: 3, Threshold: 0.05},
		Column{Name: "privatize_seconds", Timing: true}, Column{Name: "words_per_second", Timing: true},
		Column{Name: "privatize_texts", Timing: true}, Column{Name: "train_seconds", Timing: true},
		Column{Name: "measure_seconds", Timing: true}, Column{Name: "cs_seconds", Timing: true},
		Column{Name: "peak_memory_mib", Timing: true},
		Column{Name: "epochs"}, Column{Name: "tokens_unknown"}, Column{Name: "baseline_accuracy", Derived: true},
	)
	Register(Column{Name: EM, Title: "E_M", Direction: Up, Digits: 3, Error: true, Table: "axis", Derived: true})
}
