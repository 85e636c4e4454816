package published

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"mldpbench/results"
)

// Paper is what a paper prints, and what of it this program makes: see papers.yaml.
type Paper struct {
	Name  string `yaml:"paper"`
	Title string `yaml:"title"`
	Items []Item `yaml:"items"`
}

// Item is a table or a figure, of one data set where there are several.
type Item struct {
	Name      string   `yaml:"item"`
	What      string   `yaml:"what"`
	Dataset   string   `yaml:"dataset"`
	Runs      []string `yaml:"runs"` // of results.FindRecord
	Published []string `yaml:"published"`
	Tables    []string `yaml:"tables"`
	Figures   []string `yaml:"figures"`
	Otherwise string   `yaml:"otherwise"`
}

//go:embed papers.yaml
var papersYAML []byte

// Papers are the five papers.
var Papers = sync.OnceValue(func() (all []Paper) {
	if err := yaml.UnmarshalWithOptions(papersYAML, &all, yaml.Strict()); err != nil {
		panic("papers.yaml: " + err.Error()) // embedded, and tested
	}
	return all
})

// Wanted are the items of these names, all of none, on a data set.
func (p Paper) Wanted(names []string, dataset string) []Item {
	return results.Where(p.Items, func(i Item) bool {
		return (len(names) == 0 || slices.Contains(names, i.Name)) &&
			(dataset == "" || i.Dataset == "" || i.Dataset == dataset)
	})
}

// Makes is the command that makes an item, with its minutes.
func (p Paper) Makes(i Item) (command string, minutes float64) {
	kind, number, _ := strings.Cut(strings.ToLower(i.Name), " ")
	command = "mldp reproduce " + p.Name + " --" + kind + " " + number
	if i.Dataset != "" {
		command += " --dataset " + i.Dataset
	}
	for _, name := range i.Runs {
		minutes += Run(name).Time()
	}
	return command, minutes
}

// Run is the record, or the scene of one, that an item needs.
func Run(name string) results.Record {
	r, err := results.FindRecord(name)
	if err != nil {
		panic("papers.yaml: " + err.Error()) // embedded, and tested
	}
	return r
}
