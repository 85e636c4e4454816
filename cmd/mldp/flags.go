package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/datasets/table"
	"mldpbench/experiments"
	"mldpbench/experiments/study"
	"mldpbench/experiments/task"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/progress"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/privatize"
	"mldpbench/models"
	"mldpbench/results"
)

// The flags that several commands have are spelled and explained here.

func dataFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "data", "", "data folder (default: MLDP_DATA, else the cache folder)")
}

func outFlag(f *pflag.FlagSet, to *string, byDefault, usage string) {
	f.StringVarP(to, "out", "o", byDefault, usage)
}

func dimensionFlag(f *pflag.FlagSet, to *int) {
	f.IntVar(to, "dimension", 0, "dimension, where --embedding does not determine it")
}

func paramFlag(f *pflag.FlagSet, to *[]string) {
	f.StringArrayVar(to, "param", nil, "name=value of a parameter of --mechanism; may be given more than once")
}

func setFlag(f *pflag.FlagSet, to *[]string) {
	f.StringArrayVar(to, "set", nil, "path=value of a key of the study, as in datasets[0].train=200, models=[svm] or "+
		"scenes[*].epsilons=[1,2]; may be given more than once")
}

func restrictFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "restrict", "", "keep only words of this data set; its documents are SynTF's corpus")
}

func vocabularyFlag(f *pflag.FlagSet, to *int, byDefault int) {
	f.IntVar(to, "vocabulary", byDefault, "keep only this many first words of the embedding; 0 keeps all")
}

// textFlags are those of the files of a table.
func textFlags(f *pflag.FlagSet, delimiter, encoding *string) {
	f.StringVar(delimiter, "delimiter", "", "of CSV and TSV, such as \";\" (default: that of the format)")
	f.StringVar(encoding, "encoding", "", "of the text: "+strings.Join(table.Encodings(), ", ")+" (default: utf-8)")
}

func workersFlag(f *pflag.FlagSet, to *int) {
	f.IntVar(to, "workers", 0, "units at a time (default: number of cores)")
}

func coresFlag(f *pflag.FlagSet, to *int) {
	f.IntVar(to, "workers", runtime.GOMAXPROCS(0), "cores to use; the text does not depend on it")
}

func examplesFlag(f *pflag.FlagSet, to *bool) {
	f.BoolVar(to, "examples", false, "show documents before and after privatising on the page")
}

func policyFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "policy", string(mechanisms.Random), "for words outside the vocabulary: random, keep or drop")
}

// letterCases are the ways in which words are written.
var letterCases = []string{"vocabulary", "keep"}

// wordFlags say how the words of a text are treated.
type wordFlags struct{ policy, letters string }

func (o *wordFlags) addFlags(f *pflag.FlagSet) {
	policyFlag(f, &o.policy)
	f.StringVar(&o.letters, "case", "vocabulary", "vocabulary: words as the vectors spell them; keep: Title and "+
		"UPPER as they were")
}

// options are checked.
func (o *wordFlags) options() (privatize.Options, error) {
	p := privatize.Options{Policy: mechanisms.Policy(o.policy), KeepCase: o.letters == "keep"}
	return p, cmp.Or(mechanisms.CheckPolicy(p.Policy), check.OneOf("case", o.letters, letterCases...))
}

// alignFlag takes levels of a quantity at which mechanisms are compared.
func alignFlag(f *pflag.FlagSet, to *results.Levels) {
	f.Func("align", "compare mechanisms where a quantity is equal: QUANTITY=LEVELS as in em=0.5,0.8; mldp study metrics "+
		"lists the quantities", func(s string) (err error) {
		*to, err = results.ParseLevels(s)
		return err
	})
}

// output writes a file, or standard output where it has no name.
func output(cmd *cobra.Command, path string, fill func(io.Writer) error) error {
	if path == "" {
		return fill(cmd.OutOrStdout())
	}
	return atomicfile.Write(path, 0o644, fill)
}

// finish adds to every command what all have in common: names of flags, and
// completion.
func finish(root *cobra.Command) {
	strictHelp(root)
	walkCommands(root, func(c *cobra.Command) {
		namedArguments(c)
		if out := c.Flags().Lookup("out"); out != nil && !ofFolder(out) && c.Flags().Lookup("force") == nil {
			c.Flags().Bool("force", false, "replace the file that --out names")
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if values, ok := flagValues[f.Name]; ok {
				// It only fails for a second function of one flag.
				_ = c.RegisterFlagCompletionFunc(f.Name,
					func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
						before := typed[:strings.LastIndexByte(typed, ',')+1] // a list is completed at its last value
						return list.Map(values(c), func(v string) string { return before + v }),
							cobra.ShellCompDirectiveNoFileComp
					})
			}
		})
		if values, ok := argumentValues[c.CommandPath()]; ok && c.ValidArgsFunction == nil {
			c.ValidArgsFunction = func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
				return values(c), cobra.ShellCompDirectiveDefault // files as well
			}
		}
	})
}

// mark sets started once a command has begun: an error before that is a usage
// error.
func mark(root *cobra.Command, display *progress.Display, started *bool) {
	walkCommands(root, func(c *cobra.Command) {
		if do := c.RunE; do != nil {
			c.RunE = func(c *cobra.Command, args []string) error {
				if err := checkCounts(c.Flags()); err != nil {
					return err
				}
				if err := silence(root, display, c.Flags()); err != nil {
					return err
				}
				*started = true
				return do(c, args)
			}
		}
	})
}

// silence hides progress, notes and warnings with --quiet. Errors are printed by
// run, which has the standard error of its own.
func silence(root *cobra.Command, display *progress.Display, flags *pflag.FlagSet) error {
	if quiet, err := flags.GetBool("quiet"); err != nil || !quiet {
		return nil
	}
	yes := flags.Lookup("yes")
	if fetch := flags.Lookup("fetch"); yes != nil && !yes.Changed && (fetch == nil || fetch.Changed) {
		return errors.New("--quiet asks no questions: give --yes as well")
	}
	root.SetErr(io.Discard)
	display.Silence()
	return nil
}

// atLeast holds the smallest values of flags that count something. A default of
// 0 with a special meaning is not checked.
var atLeast = map[string]int{
	"workers": 1, "samples": 1, "repetitions": 1, "runs": 1, "count": 1,
	"concurrent": 1, "cpus": 1, "tasks": 1, "dimension": 1, "top": 1,
}

// checkCounts returns an error for given numbers that make no sense.
func checkCounts(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if f.Name == "out" && err == nil {
			if ofFolder(f) {
				err = checkFolder(f.Value.String())
			} else {
				err = mayReplace(flags, f.Value.String())
			}
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, text := range values {
			n, notNumber := strconv.ParseFloat(text, 64)
			if err != nil || notNumber != nil {
				continue
			}
			if least, ok := atLeast[f.Name]; ok {
				err = check.AtLeast(f.Name, int(n), least)
			} else if f.Name == "memory" {
				err = check.Positive(f.Name, n)
			}
		}
	})
	return err
}

// ofFolder reports whether an --out names a folder, by its usage.
func ofFolder(out *pflag.Flag) bool { return strings.Contains(out.Usage, "folder of ") }

// mayReplace returns an error where a file of the user is in the way and there is
// no --force. What is no file, and an empty one, may be written.
func mayReplace(flags *pflag.FlagSet, path string) error {
	if force, err := flags.GetBool("force"); err != nil || force {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return check.Wrong("%s is there already: choose another --out, or say --force", path)
	}
	return nil
}

// checkFolder refuses a name for a folder that looks like that of a file.
func checkFolder(name string) error {
	switch ext := strings.ToLower(filepath.Ext(strings.TrimRight(name, "/"))); ext {
	case ".csv", ".gz", ".html", ".yaml", ".yml", ".json", ".md", ".tex", ".svg", ".pdf", ".png":
		return check.Wrong("out = %q: is a folder, and %s looks like a file", name, ext)
	}
	return nil
}

// flagError describes in words what value a flag needs.
func flagError(cmd *cobra.Command, err error) error {
	err = unknownFlag(cmd, err)
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		if err = invalid.Unwrap(); wanted[f.Value.Type()] != "" {
			err = fmt.Errorf("--%s = %q: must be %s", f.Name, invalid.GetValue(), wanted[f.Value.Type()])
		}
	}
	return &exitError{exitUsage, err}
}

// wanted describes the kinds of values in words.
var wanted = map[string]string{
	"int": "a whole number", "uint64": "a whole number >= 0", "float64": "a number", "bool": "true or false",
	"duration": "a time such as 90m", "intSlice": "whole numbers, separated by commas",
	"float64Slice": "numbers, separated by commas",
}

func walkCommands(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		walkCommands(sub, visit)
	}
}

// flagValues holds the values that shell completion offers for a flag.
var flagValues = map[string]func(*cobra.Command) []string{
	"mechanism": func(*cobra.Command) []string {
		return list.Map(mechanisms.Definitions(), func(d mechanisms.Definition) string { return d.Name })
	},
	"variant": func(c *cobra.Command) (names []string) {
		chosen := c.Flag("mechanism")
		for _, d := range mechanisms.Definitions() {
			for _, v := range d.Variants {
				if (chosen == nil || !chosen.Changed || chosen.Value.String() == d.Name) &&
					!slices.Contains(names, string(v)) {
					names = append(names, string(v))
				}
			}
		}
		return names
	},
	"dataset":  func(*cobra.Command) []string { return datasets.Names() },
	"restrict": func(*cobra.Command) []string { return datasets.Names() },
	"model":    func(*cobra.Command) []string { return models.Names() },
	"metric": func(*cobra.Command) []string {
		return list.Map(results.Columns(), func(c results.Column) string { return c.Name })
	},
	"embedding": func(c *cobra.Command) []string {
		root := ""
		if f := c.Flag("data"); f != nil {
			root = f.Value.String()
		}
		names, _ := vectorFiles(root) // without a folder there are no names
		return append(names, study.GeneratedEmbedding)
	},
	"policy": func(*cobra.Command) []string {
		return list.Map(mechanisms.Policies, func(p mechanisms.Policy) string { return string(p) })
	},
	"encoding": func(*cobra.Command) []string { return table.Encodings() },
	"case":     func(*cobra.Command) []string { return letterCases },
	"set": func(*cobra.Command) []string {
		return list.Map(study.Keys(), func(k study.Key) string { return strings.ReplaceAll(k.Path, "[]", "[0]") + "=" })
	},
}

func studies(*cobra.Command) []string { return append(experiments.Builtin.Names(), task.Refs()...) }

// argumentValues holds the values that shell completion offers for the
// arguments of a command.
var argumentValues = map[string]func(*cobra.Command) []string{
	"mldp run":           studies,
	"mldp slurm":         studies,
	"mldp study show":    studies,
	"mldp mechanisms":    func(*cobra.Command) []string { return flagValues["mechanism"](nil) },
	"mldp data fetch":    func(c *cobra.Command) []string { return append(entryNames(c), studies(c)...) },
	"mldp data path":     entryNames,
	"mldp data describe": func(*cobra.Command) []string { return datasets.Names() },
}

func entryNames(*cobra.Command) []string {
	return list.Map(fetch.Catalogue(), func(e fetch.Entry) string { return e.Name })
}
