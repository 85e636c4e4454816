package study

import (
	"os"
	"path/filepath"
	"strings"

	"mldpbench/datasets"
)

// besideFile makes the paths of a study those of files in its folder, wherever mldp
// is started. A data set, vectors or text that are not there may lie in the data
// folder; an argument of a command, or a model, is a path if it is in the folder.
func (s *Study) besideFile(folder string) {
	if folder == "." {
		return
	}
	s.paths(func(path string, as role) string {
		own := filepath.Join(folder, path)
		if there(own) || as == file && !there(filepath.Join(datasets.Root(s.root), path)) {
			return own
		}
		return path
	})
}

// InFolder is the study for a file in a folder: it names the same files, over a data
// folder, when it is read from there.
func (s *Study) InFolder(folder, root string) (*Study, error) {
	moved, err := set(s, nil)
	if err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	moved.paths(func(path string, as role) string {
		sought := as == program && !strings.ContainsRune(path, filepath.Separator) // where programs are
		if sought || !there(path) && (as != file || there(filepath.Join(datasets.Root(root), path))) {
			return path
		}
		from, err := filepath.Abs(path)
		if err != nil {
			return path
		}
		if relative, err := filepath.Rel(absolute, from); err == nil {
			return relative
		}
		return from // on another volume
	})
	return moved, nil
}

func there(path string) bool { _, err := os.Stat(path); return err == nil }

// A role is what a relative path of a study is: of a file; a word that is a path if a
// file is there, as an argument of a command or a model; or a program.
type role int

const (
	file role = iota
	word
	program
)

// paths replaces every relative path of a study. A program that was named by a path still
// is: a name alone is sought elsewhere.
func (s *Study) paths(replace func(path string, as role) string) {
	change := func(path *string, as role) {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = replace(*path, as)
		}
	}
	for _, d := range s.designs() {
		for i := range d.Datasets {
			change(&d.Datasets[i].File, file)
		}
		for i := range d.Embeddings {
			change(&d.Embeddings[i].File, file)
		}
		for i := range d.Mechanisms {
			change(&d.Mechanisms[i].Text, file)
			inCommand(d.Mechanisms[i].Command, change)
		}
		change(&d.Masked, word)
		change(&d.Causal, word)
		for _, c := range d.Attackers {
			inCommand(c.Command, change)
		}
		if more, ok := d.Metrics["commands"].(*[]CommandSpec); ok {
			for _, c := range *more {
				inCommand(c.Command, change)
			}
		}
	}
}

// inCommand changes the program and the arguments of a command.
func inCommand(words []string, change func(path *string, as role)) {
	if len(words) == 0 {
		return
	}
	before := words[0]
	change(&words[0], program)
	if words[0] != before && !strings.ContainsRune(words[0], filepath.Separator) {
		words[0] = "." + string(filepath.Separator) + words[0]
	}
	for i := range words[1:] {
		change(&words[1+i], word)
	}
}
