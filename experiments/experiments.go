// Package experiments is what this program does for its users, one function a question: Run, Evaluate, Privatize,
// Calibrate, Audit, Reproduce and so on take a struct of options and return an Outcome (see the example of Run). A
// command has flags and prints the outcome; all that it says stands here.
package experiments

import (
	"cmp"
	"embed"
	"strings"

	"mldpbench/experiments/study"
	"mldpbench/internal/check"
)

//go:embed studies/*.yaml
var studies embed.FS

// Builtin holds the studies of this program.
var Builtin = study.Library{Files: studies}

// Open opens a study of the program, or a file, over a data folder. Several with commas
// between them are one study with the data sets of all; NAME@VERSION/lite is a small
// one: see lite.
func Open(refs, root string) (all *study.Study, err error) {
	library := Builtin
	library.Root = root
	for ref := range strings.SplitSeq(refs, ",") {
		name, small := strings.CutSuffix(ref, "/lite")
		s, err := library.Open(name)
		if err == nil && small {
			err = lite(s)
		}
		switch {
		case err != nil:
			return nil, err
		case all == nil:
			all = s
			continue
		case same(all) != same(s):
			return nil, check.Wrong("%s and %s differ in more than names and data sets: they cannot be run as one",
				all.Name, s.Name)
		}
		all.Name += "-" + s.Name
		all.Title += "; " + s.Title
		all.Task += "," + s.Task
		all.Datasets = append(all.Datasets, s.Datasets...)
	}
	return all, all.Check()
}

// same is what two studies that are run as one have in common: all but names and data
// sets.
func same(s *study.Study) string {
	c := *s
	c.Name = ""
	c.Title = ""
	c.Task = ""
	c.Datasets = nil
	text, _ := c.YAML() // it was read
	return string(text)
}

// lite makes a task small, for an answer in minutes: at most so many documents of each
// split, and what a classifier finds instead of what attackers do, if it has one.
func lite(s *study.Study) error {
	if s.Task == "" {
		return check.Wrong("study = %q: only tasks, NAME@VERSION, have a /lite", s.Name+"/lite")
	}
	for i := range s.Datasets {
		d := &s.Datasets[i]
		for size, most := range map[*int]int{&d.Train: 1600, &d.Validation: 200, &d.Test: 400} {
			*size = min(cmp.Or(*size, most), most)
		}
	}
	if len(s.Models) > 0 {
		s.Attackers = nil
	}
	s.Name += "-lite"
	s.Task = strings.Replace(s.Task, ":", "/lite:", 1)
	return nil
}
