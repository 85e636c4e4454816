package study

import (
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Metric is an entry of a study's metrics: a key with options of its own.
type Metric struct {
	Key string
	// New returns a pointer to empty options; they are a struct with yaml and
	// limits tags, or a type of a number or a word.
	New    func() any
	Limits string // of a type of a number or a word, as the tag has them
	Doc    string // what it means, as mldp study keys says
	// Options says what each key of the options means; below a list a key begins with "[].".
	Options map[string]string
	// Check validates options and fills in their defaults; at adds their
	// position to an error. nil checks nothing.
	Check func(options any, d *Design, at At) error
}

var metrics = map[string]Metric{}

// RegisterMetric adds a key. It is called from init functions only.
func RegisterMetric(m Metric) {
	if _, dup := metrics[m.Key]; dup {
		panic("study: metric " + m.Key + " registered twice")
	}
	metrics[m.Key] = m
}

// Metrics are the options of measurements by key. A metric that is not there is
// not measured.
type Metrics map[string]any

// UnmarshalYAML reads options into the types that their metrics registered.
func (m *Metrics) UnmarshalYAML(node ast.Node) error {
	*m = Metrics{}
	keys, ok := node.(ast.MapNode)
	for v := keys.MapRange(); ok && v.Next(); {
		key := v.Key().GetToken().Value
		options := metrics[key].New() // what is none was refused with its place
		if v.Value().Type() != ast.NullType {
			if err := yaml.NodeToValue(v.Value(), options, yaml.Strict()); err != nil {
				return err
			}
		}
		(*m)[key] = options
	}
	return nil
}
