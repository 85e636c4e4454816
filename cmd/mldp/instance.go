package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/mechanisms/privatize"
	"mldpbench/results"
	"mldpbench/stream"
)

const embeddingHelp = "vector file, name in the data folder, or generated"

// spaceOptions are the flags of the embedding and other data of a mechanism.
type spaceOptions struct {
	embedding string
	data      string
	restrict  string
	words     int // number of first words, 0 for all
	stderr    func() io.Writer
}

func (o *spaceOptions) addFlags(cmd *cobra.Command, embedding string, vocabulary int) {
	o.stderr = cmd.ErrOrStderr
	f := cmd.Flags()
	f.StringVar(&o.embedding, "embedding", embedding, embeddingHelp)
	dataFlag(cmd, &o.data)
	f.StringVar(&o.restrict, "restrict", "", "keep only words of this data set; its documents are SynTF's corpus")
	countFlag(f, &o.words, "vocabulary", vocabulary, 0, "keep only this many first words of the embedding; 0 keeps all")
}

// environment opens the data a mechanism is built from; the thesaurus only
// where it is needed, because it may be absent.
func (o *spaceOptions) environment(ctx context.Context, needThesaurus bool, seed stream.Seed) (mechanisms.Environment,
	error) {
	env := mechanisms.Environment{Seed: seed.Derive("construction")}
	var keep func(string) bool
	if o.restrict != "" {
		d, err := datasets.Load(ctx, datasets.Request{Name: o.restrict, Root: o.data})
		if err != nil {
			return env, err
		}
		corpus := lab.NewCorpus(d)
		env.Documents, keep = corpus.Documents, corpus.Has
	}
	var err error
	env.Space, err = lab.OpenSpace(ctx, o.embedding, 0, o.data, embeddings.First(o.words, keep),
		privatize.WritableWords)
	if err != nil {
		return env, err
	}
	o.sayLeftOut(env.Space)
	lab.WarnOneWord(o.stderr(), env.Space)
	if needThesaurus {
		var t mechanisms.Thesaurus
		t, err = lab.OpenThesaurus(env.Space.Generated, o.data)
		env.Thesaurus = writableThesaurus{t}
	}
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
func (o *spaceOptions) sayLeftOut(s *embeddings.Space) {
	left := s.LeftOut
	if left.Words > 0 {
		fmt.Fprintf(o.stderr(), "%d of the %d words of the vectors, such as %q, would not be read as one word in a "+
			"text: left out\n", left.Words, left.Words+s.Len(), left.First)
	}
}

// instanceOptions are the flags of one mechanism instance.
type instanceOptions struct {
	space     spaceOptions
	mechanism string
	epsilon   float64
}

func (o *instanceOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.mechanism, "mechanism", "", mechanismHelp)
	f.Float64Var(&o.epsilon, "epsilon", 0, "privacy parameter per word, in units of 1/distance")
	o.space.addFlags(cmd, "", 0) // no text is privatised with toy vectors by accident
}

const mechanismHelp = "NAME or NAME:VARIANT, with parameters as in \"tem:released beta=0.01\"; see mldp mechanisms"

// parseInstance reads a mechanism with its variant and parameters.
func parseInstance(text string) (s mechanisms.Settings, err error) {
	name, parameters, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, variant, _ := strings.Cut(name, ":")
	s = mechanisms.Settings{Mechanism: name, Variant: mechanisms.Variant(variant)}
	s.Parameters, err = mechanisms.ParseParameters(name, strings.Fields(parameters))
	return s, err
}

// environment checks the flags, and opens what the mechanism needs.
func (o *instanceOptions) environment(ctx context.Context, seed stream.Seed) (s mechanisms.Settings,
	env mechanisms.Environment, err error) {
	if s, err = parseInstance(o.mechanism); err != nil {
		return s, env, usage(err)
	}
	s.Epsilon = o.epsilon
	if s, err = mechanisms.Complete(s); err != nil {
		return s, env, usage(err)
	}
	env, err = o.space.environment(ctx, needsThesaurus(s), seed)
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

// commandOptions are the flags of a mechanism that is a command.
type commandOptions struct{ line string }

func (o *commandOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.line, "command", "", "a mechanism that is a command speaking the protocol of docs/external.md; "+
		"no shell is run")
}

// settings are those of the command as a mechanism of a study.
func (o *commandOptions) settings() ([]mechanisms.Settings, error) {
	args, err := external.Split(o.line)
	return []mechanisms.Settings{{Mechanism: "command", Outside: &mechanisms.Outside{Command: args}}}, usage(err)
}

// entry is the command as an entry of a study: it is called after its first argument
// that is a file here, or after the program.
func (o *commandOptions) entry() (m study.MechanismSpec, err error) {
	if m.Command, err = external.Split(o.line); err != nil {
		return m, usage(err)
	}
	isFile := func(a string) bool { i, err := os.Stat(a); return err == nil && i.Mode().IsRegular() }
	file := m.Command[max(0, slices.IndexFunc(m.Command, isFile))]
	m.Name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if _, err := mechanisms.Find(m.Name); err == nil {
		m.Name = "my-" + m.Name
	}
	return m, nil
}
