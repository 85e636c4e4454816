// Package attack measures what an attacker learns from privatised text. Each
// attacker is one file and one line of the registry: he scores candidates for each
// word, for the private label of each document, or for the document itself, and
// the frame of his kind (words.go, labels.go, documents.go) does the rest.
//
// The result of an attack means nothing by itself, so every outcome has an
// interval, the floor that an attacker reaches without seeing the text, and the
// ceiling on text that was not privatised. An attack that does not reach its
// ceiling on unchanged text, or exceeds its floor on random text, is visibly
// broken. Words are compared whole and at their own positions. The package
// sees a mechanism only through its channel and its releases; documents are word
// ids, except for attackers of whole texts as they are written.
//
// An attacker with several forms chooses among them on the validation split, so
// it is not below its own simpler form but by chance. Which attacker of a panel
// is the strongest is chosen on each half of the test documents and reported on
// the other: FindStrongest.
package attack

import (
	"context"
	"slices"
	"sync"

	"mldpbench/internal/registry"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/stream"
)

// Document is one text as ids: those in [0, Known.Words) are words of the
// mechanism, others are words outside its vocabulary.
type Document struct {
	Words   []int32
	Private int    // the private label
	User    string // "" if unknown
	Text    string // as in the source, for attackers of what is written; "" if unknown
}

// Known is what attackers know besides a release. It is the same for all
// mechanisms over one vocabulary.
type Known struct {
	Words                   int // of the mechanism's vocabulary
	Train, Validation, Test []Document
	Privates                int // number of private labels
	// Shadow is public text of the same kind that is in no split: the attacker's
	// knowledge of the language. The more the better; leave out what nearly repeats
	// a document of a split, see Unrelated.
	Shadow    [][]int32
	Public    []Document            // such text with private labels, to train on
	Spelling  func(id int32) string // the word of any id
	Embedding models.Embedding      // with a vector for every id
	Masked    MaskedWords           // a masked language model over the words; nil for none
	Seed      stream.Seed           // of all that does not depend on the mechanism: training on plain text, samples
	// Plain keeps what attackers find in plain text, by their names, for other
	// mechanisms; nil: for those of one RunAll.
	Plain *Memo
}

// Situation is one mechanism at one epsilon, and what attackers know.
type Situation struct {
	Known
	// Release privatises documents with noise from the given seed. The number
	// of documents stays the same and so do their lengths, except for attackers
	// that do not need it.
	Release func(ctx context.Context, documents [][]int32, seed stream.Seed) ([][]int32, error)
	// Single means that Release returns the same text for every seed: text from
	// files, of which there is one release.
	Single bool
	// Write privatises whole texts, with punctuation and case, as `mldp
	// privatize` does; see Written.
	Write func(ctx context.Context, texts []string, seed stream.Seed) ([]string, error)
	// Channel is the exact channel of the mechanism over its vocabulary, inputs
	// and outputs; nil where there is none. Attackers then learn it from
	// Options.LearnDraws draws of every word.
	Channel *metrics.Channel
	Options Options
	Noise   stream.Seed // of this situation
	Workers int         // 0 means one
	Made    *Made       // by earlier attackers of this situation; nil: by those of one RunAll

	own stream.Seed // of the attacker: derived from Noise
	// rows returns after take had every row of the channel, as metrics.Channel.EachRow
	// passes it: one pass for all attackers who wait for it.
	rows func(take taker) error
}

type taker = func(block, x int, row []float64)

// Memo keeps values by name; its zero value is ready to use. It is safe for
// concurrent use.
type Memo struct{ entries sync.Map }

// entry is one value; a failure is not kept.
type entry struct {
	mu    sync.Mutex
	value any // nil until it is made
}

// once returns the value that make returned when it first succeeded. What fails,
// or panics, fails for its caller alone: whoever asks next tries again.
func once[T any](m *Memo, name string, make func() (T, error)) (T, error) {
	found, _ := m.entries.LoadOrStore(name, &entry{})
	e := found.(*entry)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.value == nil {
		v, err := make()
		if err != nil {
			return v, err
		}
		e.value = v
	}
	return e.value.(T), nil
}

// Need is a resource that an attacker requires.
type Need string

const (
	NeedsPrivate Need = "private label"
	NeedsShadow  Need = "shadow"
	NeedsPublic  Need = "public text with private labels"
	NeedsWriter  Need = "texts as they are written"
	NeedsModel   Need = "masked language model"
)

// met says whether a situation has what a need names.
var met = map[Need]func(s *Situation) bool{
	NeedsPrivate: func(s *Situation) bool { return s.Privates >= 2 },
	NeedsShadow:  func(s *Situation) bool { return len(s.Shadow) > 0 },
	NeedsPublic:  func(s *Situation) bool { return len(s.Public) > 0 },
	NeedsWriter: func(s *Situation) bool {
		return s.Write != nil && slices.ContainsFunc(s.Test, func(d Document) bool { return d.Text != "" })
	},
	NeedsModel: func(s *Situation) bool { return s.Masked != nil },
}

// Panel is a kind of item. The share of right answers on it from one release is
// what its attackers are compared by: see FindStrongest.
type Panel string

// Panels in the order of tables.
const (
	OneWord Panel = "words"
	Label   Panel = "label"
	Linked  Panel = "documents"
)

// Column describes one number of an attacker.
type Column struct {
	Name  string // "map-uniform"
	Title string
	Unit  string // "bits" or "tokens"; "" is a share or a ratio
	// HigherIsPrivate means that a larger number is more private. Most columns
	// measure an attacker's success, where smaller is more private.
	HigherIsPrivate bool
	Panel           Panel // where the number is compared with that of other attackers; "" is nowhere
	// Mean is of the mean of a number in 0–1 for each test document.
	Mean bool
	// Alone means that no other attacker answers the same question, so that tables
	// show it beside the strongest of those that are compared.
	Alone bool
}

// Outcome is one number of an attack.
type Outcome struct {
	Column string
	Value  stats.Interval
	// Floor is the attacker's score on text without information about the
	// original, Ceiling the score on the original itself.
	Floor, Ceiling float64
	Count          int    // number of units that the value is a mean over: words, documents, …
	Draws          int    // per word, from which the channel was learned; 0 for an exact one
	Note           string // remark on this number, "" for none
	// Items are the parts that Value is a mean over; nil where Value is no share
	// of right answers. See Strongest.
	Items []Item
}

// Definition registers an attacker.
type Definition struct {
	Name    string // "linkage"
	Version int    // raised whenever its numbers change; 0 means 1
	Needs   []Need
	Columns []Column
	// OneRelease means that the attacker reads one release of the splits and
	// needs nothing else, so it can attack any text, whatever produced it.
	OneRelease bool
	Run        func(ctx context.Context, s *Situation) ([]Outcome, error)
}

var definitions = registry.New[Definition]("attacker")

// Register adds a definition; it is called from init functions only.
func Register(d Definition) { definitions.Add(d.Name, d) }

// Names returns all registered attackers, sorted.
func Names() []string { return definitions.Names() }

// Find returns the definition with the given name.
func Find(name string) (Definition, error) { return definitions.Find(name) }
