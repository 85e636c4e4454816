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

var tmpl = template.Must(template.New("job").Funcs(template.FuncMap{"quote": Quote}).Parse(script))

// Others are the options for a job that is no array.
func (s *Slurm) Others() []string {
	return slices.DeleteFunc(slices.Clone(s.Options), func(o string) bool {
		return strings.HasPrefix(o, "--array=")
	})
}

// Script writes a shell script that submits the jobs.
func (s *Slurm) Script(w io.Writer) error {
	if err := check.AtLeast("shards", s.Shards, 1); err != nil {
		return err
	}
	for _, o := range s.Options {
		if !strings.HasPrefix(o, "-") {
			return fmt.Errorf("%q: must be an option of sbatch such as --time=4h", o)
		}
	}
	for _, text := range append(append([]string{s.Name, s.WorkDir, s.Out, s.Study, s.Program}, s.Flags...), s.Options...) {
		if strings.ContainsFunc(text, unicode.IsControl) { // a line end would begin a line of the script
			return fmt.Errorf("%q: must be one line", text)
		}
	}
	return tmpl.Execute(w, s)
}

// Quote quotes any text as one shell word.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("%+,-./:=@_", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
