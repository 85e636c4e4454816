// Package attack measures what an attacker learns from privatised text. It has what all
// attackers share: their registry, the Target that they attack, their outcomes, and Run.
// Each kind of attacker is a package, with a frame that needs no more than a scorer of
// candidates: of the words (words), of the private label of each document (labels), of
// the originals of each document (documents). Package users has an auditor of models.
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

	"mldpbench/internal/registry"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms/channel"
)

// Need is a resource that an attacker requires.
type Need string

// What an attacker may need; Target.Has says whether it is there.
const (
	NeedsPrivate Need = "private label"
	NeedsShadow  Need = "shadow"
	NeedsPublic  Need = "public text with private labels"
	NeedsWriter  Need = "texts as they are written"
	NeedsModel   Need = "masked language model"
)

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
	Name string // "map-uniform"
	// FormerName is its name in results of earlier programs, which are read; "" for none.
	FormerName string
	Title      string
	Unit       string // "bits" or "tokens"; "" is a share or a ratio
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
	// of right answers. See FindStrongest.
	Items []Item
}

// Item is one part of what was attacked: a document, or a word of one.
type Item struct {
	Document int     // of the test split
	Position int     // of the word, Whole for a document
	Right    float64 // share of right answers, over releases where there are several
}

// Whole is the Position of an item that is a whole document.
const Whole = -1

// Definition registers an attacker.
type Definition struct {
	Name    string // "linkage-tfidf"
	Version int    // raised whenever its numbers change; 0 means 1
	Needs   []Need
	Columns []Column
	// OneRelease means that the attacker reads one release of the splits and
	// needs nothing else, so it can attack any text, whatever produced it.
	OneRelease bool
	// Start does what comes before the rows of the channel; an attacker who reads none
	// may leave all to Attack.Finish: see AtOnce.
	Start func(ctx context.Context, t *Target) (Attack, error)
}

// Attack is one that was started. The rows of the channel, the most expensive part, are
// made once for all that were started together.
type Attack struct {
	Take   channel.TakeRow           // gets every row of the channel; nil: it reads none
	Finish func() ([]Outcome, error) // after the last row: one outcome of each column
}

// AtOnce is the start of an attacker who reads no rows of the channel.
func AtOnce(run func(context.Context, *Target) ([]Outcome, error)) func(context.Context, *Target) (Attack, error) {
	return func(ctx context.Context, t *Target) (Attack, error) {
		return Attack{Finish: func() ([]Outcome, error) { return run(ctx, t) }}, nil
	}
}

var (
	definitions = registry.New[Definition]("attacker")
	listeners   []func(Definition)
)

// Register adds a definition; it is called from init functions only. Those of the frames
// (words.Register, labels.Register, documents.Register) need less.
func Register(d Definition) {
	definitions.Add(d.Name, d)
	for _, take := range listeners {
		take(d)
	}
}

// Each calls take with every attacker: those registered so far, by name, and then each that
// another module's init function registers later. It is called from init functions only.
func Each(take func(Definition)) {
	for _, d := range definitions.All() {
		take(d)
	}
	listeners = append(listeners, take)
}

// Names returns all registered attackers, sorted.
func Names() []string { return definitions.Names() }

// Find returns the definition with the given name.
func Find(name string) (Definition, error) { return definitions.Find(name) }
