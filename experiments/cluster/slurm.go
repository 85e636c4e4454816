// Package cluster writes the script with which Slurm runs a study in shards. It
// relies on the scheduler that a research group already has: there is no server,
// no lock file and no state except the results folder.
package cluster

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"mldpbench/internal/check"
)

// Slurm describes one job array and the merge after it.
type Slurm struct {
	Name    string   // of the jobs
	Program string   // path of mldp on the nodes
	Study   string   // name or file
	Flags   []string // of mldp run, which select what is run
	Out     string   // shared folder of the results
	WorkDir string   // where mldp is started
	Shards  int
	Options []string // of sbatch, each as one word
}

//go:embed job.sh
var script string

var tmpl = template.Must(template.New("job").Funcs(template.FuncMap{"quote": quote}).Parse(script))

// MostShards is the largest task number of an array on a Slurm that nobody configured
// otherwise: its MaxArraySize is 1001.
const MostShards = 1000

// Log is the results folder in the name of a log, where Slurm reads a percent sign as
// the beginning of a pattern and two as one percent sign.
func (s *Slurm) Log() string { return strings.ReplaceAll(s.Out, "%", "%%") }

// Others are the options for a job that is no array.
func (s *Slurm) Others() []string {
	return slices.DeleteFunc(slices.Clone(s.Options), func(o string) bool {
		return is(o, "array", "a", len("ar"))
	})
}

// flags are the letters of sbatch that take no value, so that another may follow.
const flags = "HOQWv"

// is reports whether an option is the one of a name and a letter, which is "" for none.
// As for sbatch, the first characters of a name, at least some of them, stand for it.
func is(option, name, letter string, least int) bool {
	if long, ok := strings.CutPrefix(option, "--"); ok {
		given, _, _ := strings.Cut(long, "=")
		return len(given) >= least && strings.HasPrefix(name, given)
	}
	short := strings.TrimLeft(strings.TrimPrefix(option, "-"), flags)
	return letter != "" && strings.HasPrefix(short, letter)
}

// checkOption refuses what is no option, and options with which sbatch would submit no
// job, or another one.
func checkOption(o string) error {
	switch {
	case !strings.HasPrefix(o, "-"):
		return fmt.Errorf("%q: must be an option of sbatch such as --time=4h", o)
	case is(o, "wrap", "", len("wr")):
		return fmt.Errorf("%q: would run another command than mldp", o)
	case is(o, "test-only", "", len("te")):
		return fmt.Errorf("%q: submits no job, and the merge waits for one: give it to sbatch by hand", o)
	}
	return nil
}

// Script writes a shell script that submits the jobs.
func (s *Slurm) Script(w io.Writer) error {
	if err := check.AtLeast("shards", s.Shards, 1); err != nil {
		return err
	}
	for _, o := range s.Options {
		if err := checkOption(o); err != nil {
			return err
		}
	}
	texts := append([]string{s.Name, s.WorkDir, s.Out, s.Study, s.Program}, s.Flags...)
	for _, text := range append(texts, s.Options...) {
		if strings.ContainsFunc(text, unicode.IsControl) { // a line end would begin a line of the script
			return fmt.Errorf("%q: must be one line", text)
		}
	}
	if strings.Contains(s.Out, `\`) {
		return fmt.Errorf("out = %q: must hold no backslash: Slurm takes it out of the names of logs", s.Out)
	}
	return tmpl.Execute(w, s)
}

// quote quotes any text as one shell word.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' ||
			r >= 'A' && r <= 'Z' ||
			r >= '0' && r <= '9' ||
			strings.ContainsRune("%+,-./:=@_", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
