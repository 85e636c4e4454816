package main

import (
	"context"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestFlagsMeanTheSameEverywhere checks that flags with the same meaning in
// several commands have one name, one shorthand and one kind of value.
func TestFlagsMeanTheSameEverywhere(t *testing.T) {
	kinds := map[string]string{"words": "string", "count": "int", "mechanism": "string stringSlice", "out": "string",
		"seed": "uint64"}
	seen := map[string]bool{}
	walkCommands(newRoot(), func(c *cobra.Command) {
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
	walkCommands(newRoot(), func(c *cobra.Command) {
		_, rest, _ := strings.Cut(c.UsageString(), "Flags:")
		for line := range strings.Lines(c.Short + "\n" + c.Long + "\n" + rest) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
			}
		}
	})
}

// TestSillyCountsAreRefused gives each flag that counts something a value that
// is too small, in every command that has it, and words where it needs a
// number.
func TestSillyCountsAreRefused(t *testing.T) {
	tried := 0
	walkCommands(newRoot(), func(c *cobra.Command) {
		path := strings.Fields(c.CommandPath())[1:]
		c.Flags().VisitAll(func(f *pflag.Flag) {
			least, counts := atLeast[f.Name]
			if !c.Runnable() || !counts && f.Name != "memory" {
				return
			}
			tried++
			for _, value := range []string{"-1", "many", "0"} {
				if value == "0" && least == 0 && counts {
					continue
				}
				fresh, _, err := newRoot().Find(path)
				if err != nil {
					t.Fatal(err)
				}
				if err = fresh.ParseFlags([]string{"--" + f.Name + "=" + value}); err == nil {
					err = checkCounts(fresh.Flags())
				}
				if err == nil {
					t.Errorf("%s --%s %s is taken", c.CommandPath(), f.Name, value)
				}
				args := append(append([]string{}, path...), "--"+f.Name+"="+value)
				if code := run(context.Background(), args, strings.NewReader(""), io.Discard,
					io.Discard); code != exitUsage {
					t.Errorf("%s --%s %s: exit code %d", c.CommandPath(), f.Name, value, code)
				}
			}
		})
	})
	if tried < 20 {
		t.Errorf("only %d flags count something", tried)
	}
}
