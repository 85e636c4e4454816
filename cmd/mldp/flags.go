package main

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"mldpbench/results/quantity"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mldpbench/datasets"
	"mldpbench/experiments"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
)

// The flags that several commands have are spelled and explained here.

func outFlag(f *pflag.FlagSet, to *string, byDefault, usage string) {
	f.StringVarP(to, "out", "o", byDefault, usage)
}

func setFlag(f *pflag.FlagSet, to *[]string) {
	f.StringArrayVar(to, "set", nil, "path=value of a key of the study, as in datasets[0].train=200, models=[svm] or "+
		"scenes[*].epsilons=[1,2]; may be given more than once")
}

// textFlags are those of the files of a table.
func textFlags(f *pflag.FlagSet, delimiter, encoding *string) {
	f.StringVar(delimiter, "delimiter", "", "of CSV and TSV, such as \";\" (default: that of the format)")
	f.StringVar(encoding, "encoding", "", "of the text, as latin1, windows-1252 or utf-16 (default: utf-8)")
}

func coresFlag(f *pflag.FlagSet, to *int) {
	countFlag(f, to, "workers", runtime.GOMAXPROCS(0), 1, "cores to use; the text does not depend on it")
}

// wordFlags say how the words of a text are treated.
func wordFlags(f *pflag.FlagSet, to *experiments.TextWords) {
	f.StringVar(&to.Policy, "policy", string(mechanisms.Random),
		"for words outside the vocabulary: random, keep or drop")
	f.StringVar(&to.Case, "case", "vocabulary", "vocabulary: words as the vectors spell them; keep: Title and "+
		"UPPER as they were")
	f.StringVar(&to.Layout, "layout", "written", "written: spaces and signs as they are; plain: words in lower case, "+
		"one space between them; fixed=N: also cut or filled to N words")
}

const embeddingHelp = "vector file, name in the data folder, or generated"

// vectorFlags are those of the embedding and other data of a mechanism, with their defaults.
func vectorFlags(cmd *cobra.Command, to *experiments.Vectors, embedding string, words int) {
	f := cmd.Flags()
	f.StringVar(&to.Embedding, "embedding", embedding, embeddingHelp)
	f.StringVar(&to.Restrict, "restrict", "", "keep only words of this data set; its documents are SynTF's corpus")
	countFlag(f, &to.Words, "vocabulary", words, 0, "keep only this many first words of the embedding; 0 keeps all")
}

// instanceFlags are those of a mechanism at an ε.
func instanceFlags(cmd *cobra.Command, to *experiments.Instance) {
	f := cmd.Flags()
	f.StringVar(&to.Mechanism, "mechanism", "", "NAME or NAME:VARIANT, with parameters as in \"tem:released "+
		"beta=0.01\"; see mldp mechanisms")
	f.Float64Var(&to.Epsilon, "epsilon", 0, "privacy parameter per word, in units of 1/distance")
	vectorFlags(cmd, &to.Vectors, "", 0) // no text is privatised with toy vectors by accident
}

// programFlag is of a mechanism that is a command.
func programFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "command", "", "a mechanism that is a command speaking the protocol of docs/external.md"+
		"; no shell is run")
}

// alignFlag takes levels of a quantity at which mechanisms are compared.
func alignFlag(f *pflag.FlagSet, to *quantity.Levels) {
	f.Func("align", "compare mechanisms where a quantity is equal: QUANTITY=LEVELS as in em=0.5,0.8; mldp study keys "+
		"lists the quantities", func(s string) (err error) {
		*to, err = quantity.ParseAlign(s)
		return err
	})
}

// countFlag is of a number that counts something; its default may be 0, with a meaning of its own.
func countFlag(f *pflag.FlagSet, to *int, name string, byDefault, least int, usage string) {
	*to = byDefault
	f.Var(&count{to, name, least}, name, usage)
}

type count struct {
	to    *int
	name  string
	least int
}

func (c *count) Type() string   { return "int" }
func (c *count) String() string { return strconv.Itoa(*c.to) }
func (c *count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("--%s = %q: must be a whole number", c.name, text)
	}
	*c.to = n
	return check.AtLeast(c.name, n, c.least)
}

// needed annotates a command with its require.
const needed = "needed"

// require names flags without which a command is not run, each as a or a|b.
func require(cmd *cobra.Command, flags ...string) { annotate(cmd, needed, strings.Join(flags, ",")) }

func annotate(cmd *cobra.Command, key, value string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[key] = value
}

// checkFlags names all flags that a command lacks, with a command that has them, or those
// that exclude each other.
func checkFlags(cmd *cobra.Command) error {
	var missing []string
	for need := range strings.SplitSeq(cmd.Annotations[needed], ",") {
		names := strings.Split(need, "|")
		if need != "" && !slices.ContainsFunc(names, cmd.Flags().Changed) {
			missing = append(missing, "--"+strings.Join(names, " or --"))
		}
	}
	if len(missing) == 0 {
		return experiments.Usage(cmd.ValidateFlagGroups())
	}
	example, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	return check.Wrong("missing: %s, as in: %s", strings.Join(missing, ", "), example)
}

// arguments are those of a command in the form of its line of use: NAME is one, [NAME]
// none or one, NAME... one or more, [NAME...] any number.
func arguments(form string) cobra.PositionalArgs {
	names := strings.Fields(form)
	least := 0
	most := len(names)
	for _, name := range names {
		if !strings.HasPrefix(name, "[") {
			least++
		}
		if strings.Contains(name, "...") {
			most = math.MaxInt
		}
	}
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return check.Wrong("%s is missing: %s %s", names[len(args)], cmd.CommandPath(), form)
		case len(args) > most && cmd.HasSubCommands():
			return unknownCommand(cmd, args[0])
		case len(args) > most:
			use := strings.TrimSpace(cmd.CommandPath() + " " + form)
			return check.Wrong("argument %q is one too many: %s", args[len(args)-1], use)
		}
		return nil
	}
}

// unknownCommand is the error of a command that a group does not have.
func unknownCommand(group *cobra.Command, name string) error {
	names := list.Map(group.Commands(), func(c *cobra.Command) string { return c.Name() })
	return check.Wrong("unknown command %q%s; %s --help lists all", name, check.Meant(name, names), group.CommandPath())
}

// flagError says what flag was probably meant, or what value a flag needs.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		err = fmt.Errorf("%w%s", err, check.Meant("--"+unknown.GetSpecifiedName(), names))
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		err = invalid.Unwrap()
		if wanted[f.Value.Type()] != "" {
			err = fmt.Errorf("--%s = %q: must be %s", f.Name, invalid.GetValue(), wanted[f.Value.Type()])
		}
	}
	return experiments.Usage(err)
}

// wanted describes the kinds of values in words; a count says more itself.
var wanted = map[string]string{
	"uint64": "a whole number >= 0", "float64": "a number", "bool": "true or false",
	"float64Slice": "numbers, separated by commas",
}

// complete lets the shell complete values of flags: a list at its last value.
func complete(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if values, ok := flagValues[f.Name]; ok {
			// It only fails for a second function of one flag.
			_ = cmd.RegisterFlagCompletionFunc(f.Name,
				func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
					before := typed[:strings.LastIndexByte(typed, ',')+1]
					all := list.Map(values(), func(v string) string { return before + v })
					return all, cobra.ShellCompDirectiveNoFileComp
				})
		}
	})
}

// completes offers names for the arguments of a command, beside files.
func completes(cmd *cobra.Command, names func() []string) *cobra.Command {
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return names(), cobra.ShellCompDirectiveDefault
	}
	return cmd
}

func studies() []string { return experiments.Builtin.Names() }

func walkCommands(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		walkCommands(sub, visit)
	}
}

// flagValues holds the values that shell completion offers for a flag, beside files.
var flagValues = map[string]func() []string{
	"mechanism": func() (names []string) {
		for _, d := range mechanisms.Definitions() {
			names = append(names, d.Name)
			for _, v := range d.Variants[1:] {
				names = append(names, d.Name+":"+string(v))
			}
		}
		return names
	},
	"dataset": datasets.Names, "restrict": datasets.Names,
	"set": func() []string {
		return list.Map(study.Keys(), func(k study.Key) string {
			return strings.ReplaceAll(k.Path, "[]", "[0]") + "="
		})
	},
}
