package study

import (
	"os"
	"path/filepath"

	"mldpbench/datasets"
)

// besideFile makes the paths of a study those of files in its folder, wherever mldp
// is started: data sets, vectors and texts. What is not there may lie in the data
// folder. An argument of a command, or a model, is a path if it is in the folder.
func (s *Study) besideFile(folder string) {
	if folder == "." {
		return
	}
	there := func(path string) bool { _, err := os.Stat(path); return err == nil }
	path := func(p *string) {
		if *p == "" || filepath.IsAbs(*p) {
			return
		}
		if own := filepath.Join(folder, *p); there(own) || !there(filepath.Join(datasets.Root(s.root), *p)) {
			*p = own
		}
	}
	arguments := func(list []string) {
		for i, a := range list {
			if own := filepath.Join(folder, a); !filepath.IsAbs(a) && a != "" && there(own) {
				list[i] = own
			}
		}
	}
	for _, d := range s.designs() {
		for i := range d.Datasets {
			path(&d.Datasets[i].File)
		}
		for i := range d.Embeddings {
			path(&d.Embeddings[i].File)
		}
		for i := range d.Mechanisms {
			path(&d.Mechanisms[i].Text)
			arguments(d.Mechanisms[i].Command)
		}
		for _, model := range []*string{&d.Masked, &d.Causal} {
			one := []string{*model}
			arguments(one)
			*model = one[0]
		}
		for _, a := range d.Attackers {
			arguments(a.Command)
		}
		if list, ok := d.Metrics["commands"].(*[]CommandSpec); ok {
			for _, c := range *list {
				arguments(c.Command)
			}
		}
	}
}
