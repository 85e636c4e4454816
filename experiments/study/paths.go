package study

import (
	"os"
	"path/filepath"

	"mldpbench/datasets"
)

// besideFile makes the paths of a study those of files in its folder, wherever mldp
// is started. A data set, vectors or text that are not there may lie in the data
// folder; an argument of a command, or a model, is a path if it is in the folder.
func (s *Study) besideFile(folder string) {
	if folder == "." {
		return
	}
	there := func(path string) bool { _, err := os.Stat(path); return err == nil }
	beside := func(p *string, always bool) {
		own := filepath.Join(folder, *p)
		if *p != "" && !filepath.IsAbs(*p) && (there(own) || always && !there(filepath.Join(datasets.Root(s.root), *p))) {
			*p = own
		}
	}
	arguments := func(list []string) {
		for i := range list {
			beside(&list[i], false)
		}
	}
	for _, d := range s.designs() {
		for i := range d.Datasets {
			beside(&d.Datasets[i].File, true)
		}
		for i := range d.Embeddings {
			beside(&d.Embeddings[i].File, true)
		}
		for i := range d.Mechanisms {
			beside(&d.Mechanisms[i].Text, true)
			arguments(d.Mechanisms[i].Command)
		}
		beside(&d.Masked, false)
		beside(&d.Causal, false)
		commands := d.Attackers
		if more, ok := d.Metrics["commands"].(*[]CommandSpec); ok {
			commands = append(commands[:len(commands):len(commands)], *more...)
		}
		for _, c := range commands {
			arguments(c.Command)
		}
	}
}
