// Package throughput measures the cost of privatising: words per second from
// text to text, and peak memory, per mechanism, space and ε.
//
// A speed is meaningful only together with its conditions, so every row has the
// cores, the SIMD path, the relevant sizes and the share of the machine's
// multiply-add peak that exact search would need at that speed. Only words of
// the space are counted and passed to the mechanism, so words outside it do not
// inflate the figure. Only the text is deterministic here.
package throughput

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/experiments/lab"
	"mldpbench/internal/check"
	"mldpbench/internal/kernel"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/results"
	"mldpbench/stream"
)

// Options choose the grid: every mechanism × embedding × vocabulary × ε ×
// workers.
type Options struct {
	Dataset      string   // whose documents are privatised
	Embeddings   []string // as accepted by lab.OpenSpace
	Dimensions   []int    // of embeddings given by name; 0 uses that of a file
	Vocabularies []int    // the first words of the embedding; 0 means all
	Mechanisms   []string
	Command      *external.Command // an additional mechanism from outside; nil for none
	Epsilons     []float64
	Workers      []int
	Words        int // privatised per repetition
	Repeat       int // repetitions; the median counts
	Seed         uint64
	Root         string // data folder
}

// Row is one measurement.
type Row struct {
	Mechanism  string  `csv:"mechanism"`
	Variant    string  `csv:"variant"`
	Embedding  string  `csv:"embedding"`
	Dimension  int     `csv:"dimension"`
	Vocabulary int     `csv:"vocabulary"`
	Epsilon    float64 `csv:"epsilon"`
	Workers    int     `csv:"workers"`
	Status     string  `csv:"status"` // "ok", or "undefined" with a reason
	Reason     string  `csv:"reason"`
	Words      int     `csv:"words"`   // per repetition
	Repeat     int     `csv:"repeat"`  // repetitions
	Seconds    float64 `csv:"seconds"` // of the median repetition
	// WordsPerSecond is of the median repetition, Slowest and Fastest are of
	// the others. The first repetition fills the tables of mechanisms that
	// keep some, so it is the slowest there.
	WordsPerSecond float64       `csv:"words_per_second"`
	Slowest        float64       `csv:"words_per_second_slowest"`
	Fastest        float64       `csv:"words_per_second_fastest"`
	BuildSeconds   float64       `csv:"build_seconds"` // index and mechanism
	PeakMemoryMiB  results.Float `csv:"peak_memory_mib"`
	// IndexRatio is the memory of index and raw matrix divided by that of the
	// raw matrix.
	IndexRatio float64 `csv:"index_ratio"`
	// PeakShare is 2·words·vocabulary·dimension operations a second over the
	// multiply-add peak of the cores: the share of the peak that exhaustive
	// float32 search would need to be as fast. The 8-bit filter may exceed 1.
	PeakShare  results.Float `csv:"peak_share"`
	PeakGFLOPS float64       `csv:"peak_gflops"` // of one core, measured together with the row
	SIMD       string        `csv:"simd"`
	Cores      int           `csv:"cores"`
	System     string        `csv:"system"`
}

func (o *Options) check() error {
	return errors.Join(
		check.AtLeast("words", o.Words, 1),
		check.AtLeast("repeat", o.Repeat, 1),
		atLeast("workers", o.Workers, 1),
		atLeast("vocabulary", o.Vocabularies, 0),
		atLeast("dimension", o.Dimensions, 0),
	)
}

func atLeast(name string, values []int, lo int) error {
	for _, v := range values {
		if err := check.AtLeast(name, v, lo); err != nil {
			return err
		}
	}
	return nil
}

// Run measures the grid and passes on each row as it is done. A mechanism that
// does not exist at some ε gives a row that states this.
func Run(ctx context.Context, o Options, each func(Row) error) error {
	if err := o.check(); err != nil {
		return err
	}
	for _, s := range o.settings() {
		if _, err := s.Definition(); err != nil {
			return err
		}
	}
	seed := stream.FromUint64(o.Seed)
	data, err := datasets.Load(ctx, datasets.Request{Name: o.Dataset, Root: o.Root, Seed: seed.Derive("dataset")})
	if err != nil {
		return err
	}
	for _, ref := range o.Embeddings {
		for _, dimension := range o.Dimensions {
			full, err := lab.OpenSpace(ctx, ref, dimension, o.Root, nil)
			if err != nil {
				return err
			}
			for _, size := range o.Vocabularies {
				space, err := first(full, size)
				if err != nil {
					return err
				}
				if err := o.space(ctx, space, data, seed, each); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// settings returns those of the mechanisms, without ε.
func (o *Options) settings() []mechanisms.Settings {
	var all []mechanisms.Settings
	for _, name := range o.Mechanisms {
		all = append(all, mechanisms.Settings{Mechanism: name})
	}
	if o.Command != nil {
		all = append(all, mechanisms.Settings{Mechanism: o.Command.Hello().Name, Outside: &mechanisms.Outside{}})
	}
	return all
}

// first returns the space of the first n words, all if n is 0.
func first(s *embeddings.Space, n int) (*embeddings.Space, error) {
	if n == 0 || n == s.Len() {
		return s, nil
	}
	if n > s.Len() {
		return nil, fmt.Errorf("vocabulary = %d: %s has %d words", n, s.Name, s.Len())
	}
	return s.Restrict(func(string) bool { n--; return n >= 0 })
}

func (o *Options) space(ctx context.Context, space *embeddings.Space, data *datasets.Dataset, seed stream.Seed,
	each func(Row) error) error {
	texts, documents, words := o.texts(space, data)
	if words == 0 {
		return fmt.Errorf("data set %s has no word of %s", data.Name, space.Name)
	}
	env := mechanisms.Environment{Space: space, Documents: documents, Seed: seed.Derive("mechanism")}
	env.Outside = func(s mechanisms.Settings) (mechanisms.Mechanism, error) {
		m, err := o.Command.At(s.Epsilon)
		if err != nil {
			return nil, err
		}
		return mechanisms.Rewriting(ctx, m, space)
	}
	for _, s := range o.settings() {
		d, err := s.Definition()
		if err != nil {
			return err
		}
		if d.Needs.Thesaurus && env.Thesaurus == nil {
			if env.Thesaurus, err = lab.OpenThesaurus(data.Generated, o.Root); err != nil {
				return err
			}
		}
		for _, epsilon := range o.Epsilons {
			for _, workers := range o.Workers {
				r := Row{
					Mechanism: s.Mechanism, Embedding: space.Name, Dimension: space.Dimension, Vocabulary: space.Len(),
					Epsilon: epsilon, Workers: workers, Words: words, Repeat: o.Repeat,
					SIMD: kernel.Path(), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH,
				}
				s.Epsilon = epsilon
				err := o.measure(ctx, &r, env, s, texts, seed)
				if u := (*mechanisms.UndefinedError)(nil); errors.As(err, &u) {
					r.Status, r.Reason = results.StatusUndefined, err.Error()
				} else if err != nil {
					return err
				}
				if err := each(r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// texts returns documents with o.Words known words in total (documents repeat
// where the data set has fewer), as text and as tokens.
func (o *Options) texts(space *embeddings.Space, data *datasets.Dataset) (texts []string, documents [][]string,
	words int) {
	var known [][]string
	for _, split := range data.Splits() {
		for _, doc := range split.Documents {
			tokens := slices.Clone(doc.Tokens)
			tokens = slices.DeleteFunc(tokens, func(t string) bool {
				return space.Vocabulary.ID(t) == embeddings.Unknown
			})
			if len(tokens) > 0 {
				known = append(known, tokens)
			}
		}
	}
	for i := 0; len(known) > 0 && words < o.Words; i++ {
		tokens := known[i%len(known)]
		tokens = tokens[:min(len(tokens), o.Words-words)]
		documents = append(documents, tokens)
		texts = append(texts, strings.Join(tokens, " "))
		words += len(tokens)
	}
	return texts, documents, words
}

// measure fills in the measured values.
func (o *Options) measure(ctx context.Context, r *Row, env mechanisms.Environment, s mechanisms.Settings,
	texts []string, seed stream.Seed) error {
	// Workers limits the cores that the row may use, for garbage collection
	// too.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(r.Workers))
	r.PeakGFLOPS = kernel.PeakGFLOPS()
	debug.FreeOSMemory()
	resetPeakMemory()

	start := time.Now()
	m, err := mechanisms.New(env, s)
	if err != nil {
		return err
	}
	r.BuildSeconds = time.Since(start).Seconds()
	r.Status, r.Variant = results.StatusOK, string(m.Settings().Variant)

	var seconds []float64
	for i := range o.Repeat {
		start := time.Now()
		tokens := make([][]string, len(texts))
		for i, t := range texts {
			tokens[i] = strings.Fields(t)
		}
		out, err := mechanisms.Text(ctx, m, mechanisms.Keep, tokens, seed.At(uint64(i)), r.Workers)
		if err != nil {
			return err
		}
		private := make([]string, len(out))
		for i := range out {
			private[i] = strings.Join(out[i], " ")
		}
		runtime.KeepAlive(private)
		seconds = append(seconds, time.Since(start).Seconds())
	}
	slices.Sort(seconds)
	words := float64(r.Words)
	r.Seconds = seconds[len(seconds)/2]
	r.WordsPerSecond = words / r.Seconds
	r.Fastest, r.Slowest = words/seconds[0], words/seconds[len(seconds)-1]
	r.PeakMemoryMiB = peakMemoryMiB()
	matrix := 4 * float64(r.Vocabulary*r.Dimension)
	r.IndexRatio = 1 + float64(nearest.Of(env.Space).Memory())/matrix
	r.PeakShare = results.Missing
	if r.PeakGFLOPS > 0 {
		r.PeakShare = results.Float(2e-9 * r.WordsPerSecond * matrix / 4 / r.PeakGFLOPS / math.Min(float64(r.Workers),
			float64(r.Cores)))
	}
	return nil
}
