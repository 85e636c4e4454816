package attack

import (
	"context"
	"slices"

	"mldpbench/internal/registry"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
)

// Need is a resource that an attacker requires.
type Need string

const (
	NeedsPrivate Need = "private label"
	NeedsUsers   Need = "users"
	NeedsChannel Need = "channel" // exact, or learned from draws
	NeedsEncoder Need = "encoder"
	NeedsShadow  Need = "shadow"
	NeedsVectors Need = "vectors" // Embedding or Nearest
	NeedsPublic  Need = "public text with private labels"
	NeedsWords   Need = "spelling of words"
	NeedsWriter  Need = "texts as they are written"
	NeedsModel   Need = "masked language model"
)

// Panel is a kind of item. The share of right answers on it from one release is
// what its attackers are compared by: see FindStrongest.
type Panel struct{ Name, Title string }

// Panels in the order of tables.
var (
	OneWord = Panel{"words", "words found"}
	Label   = Panel{"label", "private label found"}
	Linked  = Panel{"documents", "documents linked"}
	Panels  = []Panel{OneWord, Label, Linked}
)

// Column describes one number of an attacker.
type Column struct {
	Name  string // "map-uniform"
	Title string
	Unit  string // "bits" or "tokens"; "" is a share or a ratio
	// HigherIsPrivate means that a larger number is more private. Most columns
	// measure an attacker's success, where smaller is more private.
	HigherIsPrivate bool
	// Panel is where the number is compared with that of other attackers; the zero
	// value is nowhere.
	Panel Panel
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
	// original, Ceiling the score on the original itself; NaN where it is not
	// known beforehand.
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
	// Guess, instead of Run, names the words that those of a release stand for, each
	// in its place; floor, ceiling, items and interval of the one column follow.
	Guess func(ctx context.Context, s *Situation, release [][]int32) ([][]int32, error)

	// prepare, if not nil, is the attack on a channel, for attackers that read
	// all its rows. Run is then used where there is no exact channel; it is nil
	// for attackers that work the same on a learned channel.
	prepare func(ctx context.Context, s *Situation, channel metrics.Channel, draws int) (channelAttack, error)
}

// channelAttack is an attack that reads every row of a channel: take is called
// by metrics.Channel.EachRow, finish after it.
type channelAttack struct {
	take   func(block, x int, row []float64)
	finish func(ctx context.Context) ([]Outcome, error)
}

var definitions = registry.New[Definition]("attacker")

// Register adds a definition; it is called from init functions only.
func Register(d Definition) { definitions.Add(d.Name, d) }

// Names returns all registered attackers, sorted.
func Names() []string { return definitions.Names() }

// Find returns the definition with the given name.
func Find(name string) (Definition, error) { return definitions.Find(name) }

// met says whether a situation has what a need names.
var met = map[Need]func(s *Situation) bool{
	NeedsPrivate: func(s *Situation) bool { return s.Privates >= 2 },
	NeedsUsers: func(s *Situation) bool {
		return slices.ContainsFunc(s.Train, func(d Document) bool { return d.User != "" })
	},
	NeedsChannel: func(s *Situation) bool { return s.Channel != nil || s.Release != nil },
	NeedsEncoder: func(s *Situation) bool { return s.Encode != nil },
	NeedsShadow:  func(s *Situation) bool { return len(s.Shadow) > 0 },
	NeedsVectors: func(s *Situation) bool { return s.Nearest != nil || s.Embedding.Len() > 0 },
	NeedsPublic:  func(s *Situation) bool { return len(s.Public) > 0 },
	NeedsWords:   func(s *Situation) bool { return s.Spelling != nil },
	NeedsWriter:  func(s *Situation) bool { return s.Write != nil && len(s.Test) > 0 && s.Test[0].Text != "" },
	NeedsModel:   func(s *Situation) bool { return s.Model != nil && s.Spelling != nil },
}

// Missing returns the needs of the attacker that the situation does not meet.
func (d Definition) Missing(s *Situation) []Need {
	return slices.DeleteFunc(slices.Clone(d.Needs), func(n Need) bool { return met[n](s) })
}
