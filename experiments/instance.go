package experiments

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/embeddings/sentence"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/mechanisms/privatize"
	"mldpbench/results"
	"mldpbench/stream"
)

// BestMechanism is the one that keeps most at equal E_M, of those that promise something
// between any two words (results/reports/1).
const BestMechanism = "rank-fix"

// BestVectors are those that BestMechanism was measured on.
const BestVectors = "glove.6B.100d"

// Vectors are those of a mechanism, and the other data that it is built from.
type Vectors struct {
	Embedding string // vector file, name in the data folder, or generated
	Restrict  string // data set whose words alone are kept; its documents are SynTF's corpus
	Words     int    // number of first words that are kept, 0 for all
}

// environment opens the data that a mechanism is built from, but for a thesaurus.
func (v Vectors) environment(ctx context.Context, call Call, seed stream.Seed) (mechanisms.Environment, error) {
	env := mechanisms.Environment{Seed: seed.Derive("construction")}
	var keep func(string) bool
	if v.Restrict != "" {
		d, err := datasets.Load(ctx, datasets.Request{Name: v.Restrict, Root: call.Data})
		if err != nil {
			return env, err
		}
		corpus := lab.NewCorpus(d)
		env.Documents = corpus.Documents
		keep = corpus.Has
	}
	space, err := lab.OpenSpace(ctx, v.Embedding, 0, call.Data, embeddings.First(v.Words, keep),
		privatize.WritableWords)
	if err != nil {
		return env, err
	}
	env.Space = space
	env.Tokens = privatize.Tokens(space.Vocabulary)
	l := lab.New(call.Data) // a model that it starts ends with this process
	env.Pool = func(name string) ([]string, error) {
		if name == mechanisms.OwnPool && space.Generated {
			return l.GeneratedTexts(ctx)
		}
		return l.PublicTexts(ctx, name)
	}
	env.Encoder = func(name string) (sentence.Encoder, error) {
		return l.SentenceEncoder(ctx, name)
	}
	sayLeftOut(call, space)
	lab.WarnOneWord(call.Log, env.Space)
	return env, nil
}

// environmentFor opens the data that some mechanisms are built from; the thesaurus only
// where one needs it, because it may be absent.
func (v Vectors) environmentFor(ctx context.Context, call Call, seed stream.Seed,
	settings []mechanisms.Settings) (mechanisms.Environment, error) {
	env, err := v.environment(ctx, call, seed)
	if err != nil || !slices.ContainsFunc(settings, needsThesaurus) {
		return env, err
	}
	thesaurus, err := lab.ThesaurusRef{Generated: env.Space.Generated, Root: call.Data}.Open()
	env.Thesaurus = writableThesaurus{thesaurus}
	return env, err
}

// writableThesaurus has the words of a thesaurus that are read as one word in a text: no
// mechanism returns others.
type writableThesaurus struct{ mechanisms.Thesaurus }

func (t writableThesaurus) Covers(word string) bool {
	return t.Thesaurus.Covers(word) && privatize.Writable(word)
}

func (t writableThesaurus) Lemmas(word string) []string {
	return results.Where(t.Thesaurus.Lemmas(word), privatize.Writable)
}

// sayLeftOut says how many words would not be read again as one word where they are written:
// they are never outputs.
func sayLeftOut(call Call, s *embeddings.Space) {
	left := s.LeftOut
	if left.Words > 0 {
		fmt.Fprintf(call.Log, "%d of the %d words of the vectors, such as %q, would not be read as one word in a "+
			"text: left out\n", left.Words, left.Words+s.Len(), left.First)
	}
}

// Instance is a mechanism at an ε.
type Instance struct {
	Vectors
	Mechanism string // NAME:VARIANT PARAMETER=VALUE…, as parseInstance reads it
	Epsilon   float64
}

// parseInstance reads a mechanism with its variant and parameters.
func parseInstance(text string) (s mechanisms.Settings, err error) {
	name, parameters, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, variant, _ := strings.Cut(name, ":")
	s = mechanisms.Settings{Mechanism: name, Variant: mechanisms.Variant(variant)}
	s.Parameters, err = mechanisms.ParseParameters(name, strings.Fields(parameters))
	return s, err
}

// open checks the instance, and opens what the mechanism needs.
func (i Instance) open(ctx context.Context, call Call, seed stream.Seed) (mechanisms.Settings,
	mechanisms.Environment, error) {
	s, err := parseInstance(i.Mechanism)
	if err != nil {
		return s, mechanisms.Environment{}, Usage(err)
	}
	s.Epsilon = i.Epsilon
	s, err = mechanisms.Complete(s)
	if err != nil {
		return s, mechanisms.Environment{}, Usage(err)
	}
	env, err := i.environmentFor(ctx, call, seed, []mechanisms.Settings{s})
	return s, env, err
}

// needsThesaurus is false of a mechanism that does not exist.
func needsThesaurus(s mechanisms.Settings) bool {
	d, err := mechanisms.Find(s.Mechanism)
	return err == nil && d.Needs.Thesaurus
}

// instanceName returns text such as "tem proved, beta=0.001 gamma=theorem3,
// epsilon 5".
func instanceName(s mechanisms.Settings) string {
	name := fmt.Sprintf("%s %s, ", s.Mechanism, s.Variant)
	if p := s.Parameters.String(); p != "" {
		name += p + ", "
	}
	return fmt.Sprintf("%sepsilon %v", name, s.Epsilon)
}

// commandSettings are those of a command as a mechanism of a study.
func commandSettings(line string) (mechanisms.Settings, error) {
	args, err := external.Split(line)
	return mechanisms.Settings{Mechanism: "command", Outside: &mechanisms.Outside{Command: args}}, Usage(err)
}

// commandEntry is a command as an entry of a study: it is called after its first argument
// that is a file here, or after the program.
func commandEntry(line string) (m study.MechanismSpec, err error) {
	m.Command, err = external.Split(line)
	if err != nil {
		return m, Usage(err)
	}
	isFile := func(argument string) bool {
		info, err := os.Stat(argument)
		return err == nil && info.Mode().IsRegular()
	}
	file := m.Command[max(0, slices.IndexFunc(m.Command, isFile))]
	m.Name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if _, err := mechanisms.Find(m.Name); err == nil {
		m.Name = "my-" + m.Name
	}
	return m, nil
}
