package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mldpbench/results"
)

// TestFlagsMeanTheSameEverywhere checks that flags with the same meaning in
// several commands have one name, one shorthand and one kind of value.
func TestFlagsMeanTheSameEverywhere(t *testing.T) {
	kinds := map[string]string{"words": "string", "count": "int", "mechanism": "string stringSlice", "out": "string",
		"seed": "uint64"}
	seen := map[string]bool{}
	walkCommands(newRoot(nil), func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			seen[f.Name] = true
			if (f.Name == "out") != (f.Shorthand == "o") {
				t.Errorf("%s: --%s has the shorthand %q", c.CommandPath(), f.Name, f.Shorthand)
			}
			if want, ok := kinds[f.Name]; ok && !strings.Contains(want, f.Value.Type()) {
				t.Errorf("%s: --%s is a %s, want %s", c.CommandPath(), f.Name, f.Value.Type(), want)
			}
		})
	})
	for name := range kinds {
		if !seen[name] {
			t.Errorf("no command has --%s", name)
		}
	}
}

// TestHelpFitsATerminal: only examples, which are to be copied, may be wider than 80
// columns.
func TestHelpFitsATerminal(t *testing.T) {
	walkCommands(newRoot(nil), func(c *cobra.Command) {
		_, rest, _ := strings.Cut(c.UsageString(), "Flags:")
		for line := range strings.Lines(c.Short + "\n" + c.Long + "\n" + rest) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
			}
		}
	})
}

// TestSillyCountsAreRefused gives each flag that counts something a value that
// is too small, in every command that has it, and words where it needs a number.
func TestSillyCountsAreRefused(t *testing.T) {
	tried := 0
	walkCommands(newRoot(nil), func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if _, counts := f.Value.(*count); !counts {
				return
			}
			tried++
			for _, value := range []string{"-2", "many", "1.5"} {
				args := append(strings.Fields(c.CommandPath())[1:], "--"+f.Name+"="+value)
				if code, out := mldp(t, args...); code != exitUsage || !strings.Contains(out, f.Name+" = ") {
					t.Errorf("%s --%s %s: exit code %d: %s", c.CommandPath(), f.Name, value, code, out)
				}
			}
		})
	})
	if tried < 15 {
		t.Errorf("only %d flags count something", tried)
	}
}

// All flags that are missing are named at once, with a command that has them.
func TestMissingFlagsAreNamedAtOnce(t *testing.T) {
	t.Setenv("MLDP_DATA", t.TempDir())
	for line, wants := range map[string][]string{
		"privatize": {"--mechanism or --command or --target, --epsilon or --document-epsilon or --target, --embedding",
			"as in: mldp privatize --"},
		"explain --epsilon 1":                 {"--words, --embedding"},
		"evaluate --text x":                   {"--original, --privatised"},
		"check x":                             {"missing: --baseline, as in: mldp check --baseline "},
		"run mini --align em=0.5 --shard 1/2": {"[align shard] were all set"},
		"run":                                 {"STUDY|FILE.yaml is missing: mldp run STUDY|FILE.yaml"},
		"run mini more":                       {`argument "more" is one too many: mldp run STUDY|FILE.yaml`},
		"study shw":                           {`unknown command "shw"; did you mean "show"?`},
		"serve --json --mechanism cmp --embedding x": {"--json: mldp serve has no result in JSON"},
	} {
		code, out := mldp(t, strings.Fields(line)...)
		for _, want := range wants {
			if code != exitUsage || !strings.Contains(out, want) || strings.Count(out, "\n") != 1 {
				t.Errorf("%s: exit code %d: %swant %s", line, code, out, want)
			}
		}
	}
}

// A row as JSON has the columns of its file, and no other.
func TestRowsHaveColumns(t *testing.T) {
	row := structObjects([]results.Row{{}})[0]
	if row["quantity"] == "" || len(row) < 20 {
		t.Errorf("%v", row)
	} else if _, found := row["-"]; found {
		t.Error("a column -")
	}
}

// TestSize: the program has no more commands and flags than a user can look through.
func TestSize(t *testing.T) {
	leaves, flags := 0, 0
	walk(newRoot(nil), func(c *cobra.Command) {
		if c.HasSubCommands() {
			return
		}
		leaves++
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" {
				flags++
			}
		})
	})
	if leaves > 26 || flags > 150 {
		t.Errorf("%d leaf commands, at most 26; %d flags, at most 150", leaves, flags)
	}
	t.Logf("%d leaf commands, %d flags", leaves, flags)
}
