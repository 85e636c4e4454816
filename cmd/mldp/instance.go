package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/embeddings"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// spaceOptions are the flags of the embedding and other data of a mechanism.
type spaceOptions struct {
	embedding string
	dimension int
	data      string
	restrict  string
	words     int // number of first words, 0 for all
	stderr    func() io.Writer
}

func (o *spaceOptions) addFlags(cmd *cobra.Command) {
	o.stderr = cmd.ErrOrStderr
	f := cmd.Flags()
	f.StringVar(&o.embedding, "embedding", study.GeneratedEmbedding,
		"vector file, name in the data folder, or generated")
	f.IntVar(&o.dimension, "dimension", 0, "dimension, where --embedding does not determine it")
	f.StringVar(&o.data, "data", "", "data folder (default: MLDP_DATA, else the cache folder)")
	f.StringVar(&o.restrict, "restrict", "", "keep only words of this data set; its documents are SynTF's corpus")
	f.IntVar(&o.words, "vocabulary", 0, "keep only this many first words of the embedding; 0 keeps all")
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
		words := map[string]struct{}{}
		for _, part := range [][]datasets.Document{d.Train, d.Validation, d.Test} {
			for _, tokens := range datasets.Tokens(part) {
				env.Documents = append(env.Documents, tokens)
				for _, w := range tokens {
					words[w] = struct{}{}
				}
			}
		}
		keep = func(w string) bool { _, ok := words[w]; return ok }
	}
	if err := check.AtLeast("vocabulary", o.words, 0); err != nil {
		return env, &exitError{exitUsage, err}
	}
	keep = embeddings.First(o.words, keep)
	var err error
	if o.embedding == "" {
		if o.embedding, err = soleEmbedding(o.data); err != nil {
			return env, &exitError{exitUsage, err}
		}
	}
	if env.Space, err = lab.OpenSpace(ctx, o.embedding, o.dimension, o.data, keep); err != nil {
		return env, err
	}
	lab.WarnOneWord(o.stderr(), env.Space)
	if needThesaurus {
		env.Thesaurus, err = lab.OpenThesaurus(env.Space.Generated, o.data)
	}
	return env, err
}

// instanceOptions are the flags of one mechanism instance.
type instanceOptions struct {
	space      spaceOptions
	mechanism  string
	variant    string
	epsilon    float64
	parameters []string
}

func (o *instanceOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.mechanism, "mechanism", "", "mechanism, see mldp mechanisms")
	f.StringVar(&o.variant, "variant", "", "proved, printed or released (default proved)")
	f.Float64Var(&o.epsilon, "epsilon", 0, "privacy parameter per word, in units of 1/distance")
	f.StringArrayVar(&o.parameters, "param", nil, "name=value of a parameter; may be given more than once")
	o.space.addFlags(cmd)
	// Generated vectors are never the default, so no text is privatised with
	// toy vectors by accident.
	e := f.Lookup("embedding")
	e.DefValue, o.space.embedding = "", ""
	e.Usage += " (default: the one embedding of the data folder)"
}

// settings checks the flags before anything is loaded.
func (o *instanceOptions) settings() (mechanisms.Settings, error) {
	p, err := mechanisms.ParseParameters(o.mechanism, o.parameters)
	if err == nil {
		var s mechanisms.Settings
		s, err = mechanisms.Complete(mechanisms.Settings{
			Mechanism: o.mechanism, Variant: mechanisms.Variant(o.variant), Epsilon: o.epsilon, Parameters: p,
		})
		if err == nil {
			return s, nil
		}
	}
	return mechanisms.Settings{}, &exitError{exitUsage, err}
}

// open builds the instance.
func (o *instanceOptions) open(ctx context.Context, seed stream.Seed) (mechanisms.Mechanism, error) {
	s, err := o.settings()
	if err != nil {
		return nil, err
	}
	d, err := mechanisms.Find(s.Mechanism)
	if err != nil {
		return nil, err
	}
	env, err := o.space.environment(ctx, d.Needs.Thesaurus, seed)
	if err != nil {
		return nil, err
	}
	return mechanisms.New(env, s)
}

// soleEmbedding returns the vector file of a data folder that has exactly one.
func soleEmbedding(root string) (string, error) {
	folder := fetch.Root(root)
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var found []string
	for _, e := range entries {
		if vectorName.MatchString(e.Name()) {
			found = append(found, e.Name())
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("required flag \"embedding\" not set: a vector file, a name of mldp data list, or "+
			"generated (there are no vectors in %s)", folder)
	}
	return "", fmt.Errorf("required flag \"embedding\" not set: the data folder has %s", strings.Join(found, ", "))
}

// vectorName distinguishes vector files from other text.
var vectorName = regexp.MustCompile(`(\.\d+d(\.subset)?\.txt|\.vec|\.bin)(\.gz)?$`)

// instanceName returns text such as "tem proved, beta=0.001 gamma=theorem3,
// epsilon 5".
func instanceName(s mechanisms.Settings) string {
	parts := []string{fmt.Sprintf("%s %s", s.Mechanism, s.Variant)}
	if p := s.Parameters.String(); p != "" {
		parts = append(parts, p)
	}
	return strings.Join(append(parts, fmt.Sprintf("epsilon %v", s.Epsilon)), ", ")
}
