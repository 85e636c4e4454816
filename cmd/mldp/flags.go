package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mldpbench/datasets"
	"mldpbench/experiments"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/privatize"
	"mldpbench/results"
)

// The flags that several commands have are spelled and explained here.

// dataFlag gives a command the folder of --data, a flag of all.
func dataFlag(cmd *cobra.Command, to *string) {
	cmd.PreRun = func(cmd *cobra.Command, _ []string) { *to = cmd.Flag("data").Value.String() }
}

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
type wordFlags struct{ policy, letters, layout string }

func (o *wordFlags) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.policy, "policy", string(mechanisms.Random), "for words outside the vocabulary: random, keep or drop")
	f.StringVar(&o.letters, "case", "vocabulary", "vocabulary: words as the vectors spell them; keep: Title and "+
		"UPPER as they were")
	f.StringVar(&o.layout, "layout", "written", "written: spaces and signs as they are; plain: words in lower case, one "+
		"space between them; fixed=N: also cut or filled to N words")
}

// options are checked.
func (o *wordFlags) options() (privatize.Options, error) {
	layout, err := parseLayout(o.layout)
	p := privatize.Options{Policy: mechanisms.Policy(o.policy), KeepCase: o.letters == "keep", Layout: layout}
	if p.KeepCase && layout != privatize.Written {
		err = check.Wrong("case keep and layout %s: a plain layout has no capitals", o.layout)
	}
	return p, cmp.Or(err, mechanisms.CheckPolicy(p.Policy), check.OneOf("case", o.letters, "vocabulary", "keep"))
}

// parseLayout reads written, plain or fixed=N.
func parseLayout(text string) (privatize.Layout, error) {
	words, fixed := strings.CutPrefix(text, "fixed=")
	n, err := strconv.Atoi(words)
	switch {
	case text == "written":
		return privatize.Written, nil
	case text == "plain":
		return privatize.Plain, nil
	case fixed && err == nil && n > 0:
		return privatize.Layout(n), nil
	}
	return 0, check.Wrong("layout = %q: must be written, plain or fixed=N, N >= 1", text)
}

// alignFlag takes levels of a quantity at which mechanisms are compared.
func alignFlag(f *pflag.FlagSet, to *results.Levels) {
	f.Func("align", "compare mechanisms where a quantity is equal: QUANTITY=LEVELS as in em=0.5,0.8; mldp study keys "+
		"lists the quantities", func(s string) (err error) {
		*to, err = results.ParseLevels(s)
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
		return usage(cmd.ValidateFlagGroups())
	}
	example, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	return check.Wrong("missing: %s, as in: %s", strings.Join(missing, ", "), example)
}

// arguments are those of a command in the form of its line of use: NAME is one, [NAME]
// none or one, NAME... one or more, [NAME...] any number.
func arguments(form string) cobra.PositionalArgs {
	names := strings.Fields(form)
	least, most := 0, len(names)
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
			return check.Wrong("argument %q is one too many: %s", args[len(args)-1], strings.TrimSpace(cmd.CommandPath()+
				" "+form))
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
		if err = invalid.Unwrap(); wanted[f.Value.Type()] != "" {
			err = fmt.Errorf("--%s = %q: must be %s", f.Name, invalid.GetValue(), wanted[f.Value.Type()])
		}
	}
	return usage(err)
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
					return list.Map(values(), func(v string) string { return before + v }), cobra.ShellCompDirectiveNoFileComp
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
		return list.Map(study.Keys(), func(k study.Key) string { return strings.ReplaceAll(k.Path, "[]", "[0]") + "=" })
	},
}
