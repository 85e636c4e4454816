// Package attack measures what an attacker learns from privatised text. Each
// attacker is one file and one registry line.
//
// The result of an attack means nothing by itself, so every outcome has an
// interval, the floor that an attacker reaches without seeing the text, and the
// ceiling on text that was not privatised. An attack that does not reach its
// ceiling on unchanged text, or exceeds its floor on random text, is visibly
// broken. Words are compared whole and at their own positions. The package
// handles word ids and numbers, never text, and sees a mechanism only through
// its channel and its releases.
package attack

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"mldpbench/internal/check"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/models/ngram"
	"mldpbench/results/stats"
	"mldpbench/stream"
)

// Document is one text as ids: those in [0, Situation.Words) are words of the
// mechanism, others are words outside its vocabulary.
type Document struct {
	Words   []int32
	Private int    // the private label
	User    string // "" if unknown
}

// Situation is the target of an attack and the attacker's resources, for one
// mechanism and one epsilon. An attacker's Definition lists the fields it
// needs.
type Situation struct {
	Words                   int // of the mechanism's vocabulary
	Train, Validation, Test []Document
	Privates                int // number of private labels
	// Shadow is public text of the same kind that is in no split: the
	// attacker's knowledge of the language.
	Shadow [][]int32
	// Release privatises documents with noise from the given seed. The number
	// of documents stays the same and so do their lengths, except for attackers
	// that do not need it.
	Release func(ctx context.Context, documents [][]int32, seed stream.Seed) ([][]int32, error)
	// Channel is the exact channel of the mechanism over its vocabulary, inputs
	// and outputs; nil where there is none. Attackers then learn it from
	// Options.LearnDraws draws of every word.
	Channel *metrics.Channel
	// Embedding has a vector for every id of the documents; see models.Options.
	Embedding models.Embedding
	// Nearest returns the k words nearest to each word, the nearest first; a
	// word is its own nearest.
	Nearest func(ctx context.Context, words []int32, k int) ([][]int32, error)
	// Encode gives a vector to each document.
	Encode  func(ctx context.Context, documents [][]int32) ([][]float32, error)
	Options Options
	Seed    stream.Seed // of this situation
	// DataSeed determines everything that does not depend on the mechanism:
	// attackers trained on plain text, and which documents are linked.
	// Situations that share a Memo must share a DataSeed.
	DataSeed stream.Seed
	Workers  int // 0 means one
	// Releases caches the releases of the splits, which are the same for all
	// attackers of this situation; nil caches them for one RunAll only.
	Releases *Memo
	// Memo caches what does not depend on the mechanism, such as an attacker
	// trained on plain text, for other situations over the same documents,
	// shadow and DataSeed; nil caches nothing.
	Memo *Memo

	root *stream.Seed // Seed before derivation for an attacker
}

// Options are the sizes of the attacks. The zero value of a field means its default.
type Options struct {
	Level      float64 `yaml:"level,omitempty"`                         // of all intervals: 0.95
	Candidates int     `yaml:"candidates,omitempty" limits:"0,1000000"` // k of in-context decoding: 50
	Order      int     `yaml:"order,omitempty" limits:"0,10"`           // of the language model: 2
	// of the language model, candidates for the choice: 0, 0.25, …, 1.25
	Weights []float64 `yaml:"weights,omitempty"`
	// largest number decoded in context: 20,000
	Tokens int `yaml:"tokens,omitempty" limits:"0,100000000"`
	// largest number averaged over: 300
	Words      int   `yaml:"words,omitempty" limits:"0,1000000"`
	Releases   []int `yaml:"releases,omitempty" limits:"1,50"`       // r of averaging: 1, 2, 5, 10, 50
	Neighbours []int `yaml:"neighbours,omitempty" limits:"1,100"`    // k of inversion: 1, 5, 10, 100
	Documents  int   `yaml:"documents,omitempty" limits:"0,1000000"` // largest number linked: 1,000
	// of every word, to learn a channel: 100
	LearnDraws int `yaml:"learn_draws,omitempty" limits:"0,1000000"`
	// of every word, to measure what was learned: 25
	MeasureDraws int `yaml:"measure_draws,omitempty" limits:"0,1000000"`
	Resamples    int `yaml:"resamples,omitempty" limits:"0,1000000"` // of a bootstrap: 1,000
	// parameters of the classifiers of attribute inference
	Model map[string]any `yaml:"model,omitempty"`
	Audit AuditOptions   `yaml:"audit,omitempty"`
}

// Complete returns the options with their defaults, checked.
func (o Options) Complete() (Options, error) {
	o = o.withDefaults()
	o.Audit = o.Audit.withDefaults()
	return o, o.check()
}

func (o Options) withDefaults() Options {
	number := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	number(&o.Candidates, 50)
	number(&o.Order, 2)
	number(&o.Tokens, 20_000)
	number(&o.Words, 300)
	number(&o.Documents, 1000)
	number(&o.LearnDraws, 100)
	number(&o.MeasureDraws, 25)
	number(&o.Resamples, 1000)
	if o.Level == 0 {
		o.Level = 0.95
	}
	if o.Weights == nil {
		o.Weights = []float64{0, 0.25, 0.5, 0.75, 1, 1.25}
	}
	if o.Releases == nil {
		o.Releases = []int{1, 2, 5, 10, 50}
	}
	if o.Neighbours == nil {
		o.Neighbours = []int{1, 5, 10, 100}
	}
	return o
}

func (o Options) check() error {
	for _, e := range []error{
		check.Inside("level", o.Level, 0, 1), check.AtLeast("candidates", o.Candidates, 1), check.AtLeast("order",
			o.Order, 2),
		check.AtLeast("tokens", o.Tokens, 1), check.AtLeast("words", o.Words, 1), check.AtLeast("documents",
			o.Documents, 2),
		check.AtLeast("learn draws", o.LearnDraws, 1), check.AtLeast("measure draws", o.MeasureDraws, 1),
		check.AtLeast("resamples", o.Resamples, 1), check.AtLeast("weights", len(o.Weights), 1),
	} {
		if e != nil {
			return e
		}
	}
	for _, w := range o.Weights {
		if err := check.NonNegative("weight", w); err != nil {
			return err
		}
	}
	for _, list := range [][]int{o.Releases, o.Neighbours} {
		for i, n := range list {
			if n < 1 || i > 0 && n <= list[i-1] {
				return fmt.Errorf("releases and neighbours = %d: must be >= 1 and increasing", list)
			}
		}
	}
	return nil
}

// Memo caches values by name; its zero value is ready to use. It is safe for
// concurrent use.
type Memo struct {
	mutex  sync.Mutex
	values map[string]func() (any, error)
}

// once returns the value that make returned on the first call for a name.
func once[T any](m *Memo, name string, make func() (T, error)) (T, error) {
	if m == nil {
		return make()
	}
	m.mutex.Lock()
	if m.values == nil {
		m.values = map[string]func() (any, error){}
	}
	f := m.values[name]
	if f == nil {
		f = sync.OnceValues(func() (any, error) { return make() })
		m.values[name] = f
	}
	m.mutex.Unlock()
	v, err := f()
	if err != nil {
		m.mutex.Lock()
		delete(m.values, name) // do not keep the result of a cancelled attempt
		m.mutex.Unlock()
		var zero T
		return zero, err
	}
	return v.(T), nil
}

// Need is a resource that an attacker requires.
type Need string

const (
	NeedsPrivate Need = "private label"
	NeedsUsers   Need = "users"
	NeedsChannel Need = "channel" // exact, or learned from draws
	NeedsEncoder Need = "encoder"
	NeedsShadow  Need = "shadow"
	NeedsVectors Need = "vectors" // Embedding or Nearest
)

// Column describes one number of an attacker.
type Column struct {
	Name  string // "map-uniform"
	Title string
	Unit  string // "share", "bits", "tokens", "ratio"
	Doc   string
	// HigherIsPrivate means that a larger number is more private. Most columns
	// measure an attacker's success, where smaller is more private.
	HigherIsPrivate bool
}

// Outcome is one number of an attack.
type Outcome struct {
	Column string
	Value  metrics.Interval
	// Floor is the attacker's score on text without information about the
	// original, Ceiling the score on the original itself; NaN where it is not
	// known beforehand.
	Floor, Ceiling float64
	Count          int    // number of units that the value is a mean over: words, documents, …
	Draws          int    // per word, from which the channel was learned; 0 for an exact one
	Note           string // remark on this number, "" for none
}

// Definition registers an attacker.
type Definition struct {
	Name    string // "linkage"
	Title   string
	Doc     string
	Source  string
	Needs   []Need
	Columns []Column
	// OneRelease means that the attacker reads one release of the splits and
	// needs nothing else, so it can attack any text, whatever produced it.
	OneRelease bool
	Run        func(ctx context.Context, s *Situation) ([]Outcome, error)

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

var registry = map[string]Definition{}

// Register adds a definition; it is called from init functions only.
func Register(d Definition) {
	if _, dup := registry[d.Name]; dup {
		panic("attack: " + d.Name + " registered twice")
	}
	registry[d.Name] = d
}

// Names returns all registered attackers, sorted.
func Names() []string { return slices.Sorted(maps.Keys(registry)) }

// Find returns the definition with the given name.
func Find(name string) (Definition, error) {
	if d, ok := registry[name]; ok {
		return d, nil
	}
	return Definition{}, fmt.Errorf("attacker = %q: must be one of %q", name, Names())
}

// Missing returns the needs of the attacker that the situation does not meet.
func (d Definition) Missing(s *Situation) []Need {
	var missing []Need
	for _, n := range d.Needs {
		met := true
		switch n {
		case NeedsPrivate:
			met = s.Privates >= 2
		case NeedsUsers:
			met = slices.ContainsFunc(s.Train, func(d Document) bool { return d.User != "" })
		case NeedsChannel:
			met = s.Channel != nil || s.Release != nil
		case NeedsEncoder:
			met = s.Encode != nil
		case NeedsShadow:
			met = len(s.Shadow) > 0
		case NeedsVectors:
			met = s.Nearest != nil || s.Embedding.Len() > 0
		}
		if !met {
			missing = append(missing, n)
		}
	}
	return missing
}

// Run attacks the situation. The outcomes come in the order of the columns and
// depend on the situation's seed alone, not on the number of workers.
func Run(ctx context.Context, name string, s Situation) ([]Outcome, error) {
	return RunAll(ctx, []string{name}, s)
}

// RunAll runs several attackers one after the other, with the same outcomes as
// Run. The rows of an exact channel, the most expensive part, are computed once
// for all of them.
func RunAll(ctx context.Context, names []string, s Situation) ([]Outcome, error) {
	outcomes := make([][]Outcome, len(names))
	prepared := make([]channelAttack, len(names))
	wrap := func(i int, err error) error { return fmt.Errorf("attacker %s: %w", names[i], err) }
	s.Options = s.Options.withDefaults()
	s.Workers = max(1, s.Workers)
	if s.root == nil {
		root := s.Seed
		s.root = &root
	}
	if s.Releases == nil {
		s.Releases = &Memo{}
	}
	shared := false
	for i, name := range names {
		d, err := Find(name)
		if err != nil {
			return nil, err
		}
		if missing := d.Missing(&s); len(missing) > 0 {
			return nil, fmt.Errorf("attacker %s: no %s", name, missing[0])
		}
		if err := s.Options.check(); err != nil {
			return nil, wrap(i, err)
		}
		own := s
		own.Seed = s.Seed.Derive("attack", name)
		switch {
		case d.prepare != nil && s.Channel != nil:
			shared = true
			prepared[i], err = d.prepare(ctx, &own, *s.Channel, 0)
		case d.Run != nil:
			outcomes[i], err = d.Run(ctx, &own)
		default:
			outcomes[i], err = own.learnAndAttack(ctx, d)
		}
		if err != nil {
			return nil, wrap(i, err)
		}
	}
	if shared {
		err := s.Channel.EachRow(ctx, s.Workers, func(block, x int, row []float64) {
			for _, p := range prepared {
				if p.take != nil {
					p.take(block, x, row)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	var all []Outcome
	for i, p := range prepared {
		if p.finish != nil {
			var err error
			if outcomes[i], err = p.finish(ctx); err != nil {
				return nil, wrap(i, err)
			}
		}
		for _, o := range outcomes[i] {
			if !slices.ContainsFunc(registry[names[i]].Columns, func(c Column) bool { return c.Name == o.Column }) {
				return nil, fmt.Errorf("attacker %s: outcome %q is no column of it", names[i], o.Column)
			}
		}
		all = append(all, outcomes[i]...)
	}
	return all, nil
}

// learnAndAttack learns the channel from draws and attacks it.
func (s *Situation) learnAndAttack(ctx context.Context, d Definition) ([]Outcome, error) {
	learned, err := s.learn(ctx)
	if err != nil {
		return nil, err
	}
	channel, err := metrics.LearnChannel(learned, s.Words, s.Words)
	if err != nil {
		return nil, err
	}
	p, err := d.prepare(ctx, s, channel, s.Options.LearnDraws)
	if err != nil {
		return nil, err
	}
	if err := channel.EachRow(ctx, s.Workers, p.take); err != nil {
		return nil, err
	}
	return p.finish(ctx)
}

// wordsOf returns the words of documents, without copying.
func wordsOf(documents []Document) [][]int32 {
	out := make([][]int32, len(documents))
	for i, d := range documents {
		out[i] = d.Words
	}
	return out
}

// aligned releases documents and checks that every word keeps its position.
func (s *Situation) aligned(ctx context.Context, documents [][]int32, seed stream.Seed) ([][]int32, error) {
	out, err := s.Release(ctx, documents, seed)
	if err != nil {
		return nil, err
	}
	if len(out) != len(documents) {
		return nil, fmt.Errorf("%d documents were released as %d", len(documents), len(out))
	}
	return out, inPlace(documents, out)
}

// inPlace returns an error where documents changed their length.
func inPlace(before, after [][]int32) error {
	for i := range after {
		if len(after[i]) != len(before[i]) {
			return fmt.Errorf("document %d: %d words were released as %d: words must keep their places, so use a "+
				"policy for unknown words that does not drop them", i, len(before[i]), len(after[i]))
		}
	}
	return nil
}

// Splits of a situation.
const (
	Train      = "train"
	Validation = "validation"
	Test       = "test"
)

// Released is one release of a split. It is the same for all attackers and for
// measures of utility, so all are compared on one text.
func (s *Situation) Released(ctx context.Context, split string) ([][]int32, error) {
	documents, ok := map[string][]Document{Train: s.Train, Validation: s.Validation, Test: s.Test}[split]
	if !ok {
		return nil, fmt.Errorf("split = %q: must be %q, %q or %q", split, Train, Validation, Test)
	}
	return once(s.Releases, "release "+split, func() ([][]int32, error) {
		plain := wordsOf(documents)
		noisy, err := s.Release(ctx, plain, s.rootSeed().Derive("release", split))
		if err == nil && len(noisy) != len(plain) {
			err = fmt.Errorf("%d documents were released as %d", len(plain), len(noisy))
		}
		return noisy, err
	})
}

// prefix returns the release of the first n documents of a split, every word in
// its place.
func (s *Situation) prefix(ctx context.Context, split string, plain [][]int32) ([][]int32, error) {
	noisy, err := s.Released(ctx, split)
	if err != nil {
		return nil, err
	}
	return noisy[:len(plain)], inPlace(plain, noisy[:len(plain)])
}

func (s *Situation) rootSeed() stream.Seed {
	if s.root != nil {
		return *s.root
	}
	return s.Seed
}

// learn draws the sample from which a channel is learned, once for all
// attackers.
func (s *Situation) learn(ctx context.Context) (metrics.Draws, error) {
	return once(s.Releases, "learn", func() (metrics.Draws, error) {
		return s.draws(ctx, s.Options.LearnDraws, s.rootSeed().Derive("learn"))
	})
}

// draws returns n independent outputs of every word of the mechanism.
func (s *Situation) draws(ctx context.Context, n int, seed stream.Seed) (metrics.Draws, error) {
	documents := make([][]int32, s.Words)
	for w := range documents {
		documents[w] = slices.Repeat([]int32{int32(w)}, n)
	}
	out, err := s.aligned(ctx, documents, seed)
	if err != nil {
		return metrics.Draws{}, err
	}
	return metrics.Draws{PerInput: n, Outputs: slices.Concat(out...)}, nil
}

// Language is an n-gram model of the shadow text: what an attacker, and whoever
// judges a release, knows of the language.
func (s *Situation) Language() (*ngram.Model, error) {
	order := s.Options.withDefaults().Order
	return once(s.Memo, fmt.Sprintf("language model %d", order), func() (*ngram.Model, error) {
		return ngram.Train(s.Shadow, s.Words, order)
	})
}

// prior returns the word frequencies of the shadow text with one added to every
// count; uniform without a shadow.
func (s *Situation) prior() ([]float64, error) {
	return metrics.ShadowPrior(s.shadowCounts())
}

func (s *Situation) shadowCounts() []int {
	counts := make([]int, s.Words)
	for _, document := range s.Shadow {
		for _, w := range document {
			if s.knows(w) {
				counts[w]++
			}
		}
	}
	return counts
}

// knows reports whether an id is a word of the mechanism.
func (s *Situation) knows(w int32) bool { return w >= 0 && int(w) < s.Words }

// proportion returns the exact interval for k successes in n independent
// trials.
func proportion(k, n int, level float64) (metrics.Interval, error) {
	if n == 0 {
		return metrics.Interval{Estimate: math.NaN(), Low: math.NaN(), High: math.NaN()}, nil
	}
	return stats.ClopperPearson(k, n, level)
}

// grouped returns the share of hits among trials that are grouped in documents.
// Its interval is the wider of the one over documents and the exact one over
// trials, because the first is too narrow where nothing varies.
func grouped(hits, trials []int, level float64) (metrics.Interval, error) {
	over, err := metrics.RatioInterval(hits, trials, level)
	if err != nil {
		return over, err
	}
	k, n := 0, 0
	for i := range hits {
		k, n = k+hits[i], n+trials[i]
	}
	exact, err := proportion(k, n, level)
	exact.Low, exact.High = min(exact.Low, max(0, over.Low)), max(exact.High, min(1, over.High))
	return exact, err
}
