package study

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"mldpbench/internal/check"
	"mldpbench/results"
)

// Overrides change a study from the command line. They give a new study value,
// which keys and manifest reflect; empty ones change nothing.
type Overrides struct {
	Set         []string        // path=value, as Study.Set takes them; before all others
	Datasets    []string        // only these, and of all that is for some data sets what is for them
	Mechanisms  []string        // only these, as name or name:variant; one that the study lacks is added
	Own         []MechanismSpec // as well
	Epsilons    []float64
	Repetitions int // baselines keep their proportion
}

// taskKeys are the keys of a task that its users may choose.
var taskKeys = []string{"mechanisms", "epsilons", "repetitions", "seed"}

// Override returns the study changed by flags, checked.
func (s *Study) Override(o Overrides) (*Study, error) {
	if reflect.ValueOf(o).IsZero() {
		return s, nil
	}
	for _, a := range o.Set {
		if key := a[:max(0, strings.IndexAny(a, ".[="))]; s.Task != "" && !slices.Contains(taskKeys, key) {
			return nil, check.Wrong("--set %s: a task fixes all but %s", a, strings.Join(taskKeys, ", "))
		}
	}
	if s.Task != "" && o.Datasets != nil {
		return nil, check.Wrong("--dataset: a task fixes all but %s", strings.Join(taskKeys, ", "))
	}
	c, err := set(s, o.Set)
	if err != nil {
		return nil, err
	}
	changes := overriding{Overrides: o, grows: true}
	for _, d := range c.designs() {
		changes.override(d)
		changes.grows = false
	}
	if len(o.Datasets) > 0 && len(s.Scenes) > 0 {
		c.Scenes = slices.DeleteFunc(c.Scenes, func(x Scene) bool {
			return x.Datasets != nil && len(x.Datasets) == 0
		})
		if len(c.Scenes) == 0 {
			return nil, fmt.Errorf("datasets = %q: the study has none of them", o.Datasets)
		}
	}
	if c, err = set(c, nil); err != nil { // numbers of flags have the limits of keys
		return nil, err
	}
	c.root = s.root
	return c, c.Check()
}

// set returns a copy with values at paths replaced; what has no key is not copied.
func set[T any](x *T, assignments []string) (*T, error) {
	for i, a := range append([]string{""}, assignments...) { // it is copied as it is first
		said := ""
		text, err := yaml.MarshalWithOptions(x, yaml.IndentSequence(true))
		if err == nil && i > 0 {
			said = "--set " + a + ": "
			text, err = assign(text, a)
		}
		x = new(T)
		if err == nil {
			_, err = decode("set", text, x)
		}
		if err != nil {
			return nil, check.Wrong("%s%s", said, place.ReplaceAllString(err.Error(), ""))
		}
	}
	return x, nil
}

// Set returns the data set with values of its keys replaced, checked.
func (d DatasetSpec) Set(assignments []string) (DatasetSpec, error) {
	c, err := set(&d, assignments)
	if err != nil {
		return d, err
	}
	return *c, c.Check()
}

var (
	place = regexp.MustCompile(`^set:(\d+:\d+:)? `)
	steps = regexp.MustCompile(`^([A-Za-z_]\w*|\[[^\]]+\])`)
)

// assign sets one value of a study: path=value, such as datasets[0].train=200,
// datasets[imdb].train=200, scenes[*].epsilons=[1, 2] or models=[svm].
func assign(text []byte, assignment string) ([]byte, error) {
	path, value, ok := strings.Cut(assignment, "=")
	if !ok {
		return nil, errors.New("must be path=value, as in datasets[0].train=200")
	}
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	v, err := valueOf(value)
	if err != nil {
		return nil, errors.New("the value is not YAML")
	}
	var way []string
	for rest := path; rest != ""; rest = strings.TrimPrefix(rest, ".") {
		step := steps.FindString(rest)
		if step == "" {
			return nil, fmt.Errorf("path %q: must be keys, each with [number], [name] or [*] where it is a list", path)
		}
		way = append(way, step)
		rest = rest[len(step):]
	}
	tree, err = put(tree, way, "", v)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(tree)
}

// written is a number as it was written, which a key that takes text keeps.
type written string

// MarshalYAML returns the number.
func (w written) MarshalYAML() ([]byte, error) { return []byte(w), nil }

// valueOf reads the value of an assignment, where numbers stay as they are written.
func valueOf(text string) (any, error) {
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, nil
	}
	return valueAt(file.Docs[0].Body)
}

// valueAt is valueOf for a node.
func valueAt(node ast.Node) (any, error) {
	switch n := node.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return written(n.GetToken().Value), nil
	case *ast.SequenceNode:
		list := []any{}
		for _, entry := range n.Values {
			v, err := valueAt(entry)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case ast.MapNode:
		keys := map[string]any{}
		for entry := n.MapRange(); entry.Next(); {
			v, err := valueAt(entry.Value())
			if err != nil {
				return nil, err
			}
			keys[entry.Key().GetToken().Value] = v
		}
		return keys, nil
	}
	var v any
	err := yaml.NodeToValue(node, &v)
	return v, err
}

// put returns a node with a value at the end of a way; where is the node's own path.
func put(node any, way []string, where string, v any) (any, error) {
	if len(way) == 0 {
		return named(node, v), nil
	}
	step := way[0]
	list, isList := node.([]any)
	keys, isMap := node.(map[string]any)
	switch entry, of := strings.CutPrefix(step, "["); {
	case of && !isList && node != nil:
		return nil, fmt.Errorf("%s is no list", where)
	case of:
		entry := strings.TrimSuffix(entry, "]")
		found := false
		for i, x := range list {
			if entry == "*" || entry == strconv.Itoa(i) || called(x, entry) {
				var err error
				if list[i], err = put(x, way[1:], where+step, v); err != nil {
					return nil, err
				}
				found = true
			}
		}
		if !found {
			return nil, fmt.Errorf("%s has %d entries, none of them %s", where, len(list), step)
		}
		return list, nil
	case !isMap && node != nil:
		return nil, fmt.Errorf("%s has no keys", where)
	case !isMap:
		keys = map[string]any{}
	}
	var err error
	keys[step], err = put(keys[step], way[1:], strings.TrimPrefix(where+"."+step, "."), v)
	return keys, err
}

// named is a value in whose list a word stands for the entries of that name that
// the old list has.
func named(old, v any) any {
	had, _ := old.([]any)
	list, ok := v.([]any)
	if !ok {
		return v
	}
	out := []any{}
	for _, x := range list {
		same := results.Where(had, func(h any) bool { return called(h, x) })
		if len(same) == 0 {
			same = []any{x}
		}
		out = append(out, same...)
	}
	return out
}

// called reports whether an entry of a list has a name.
func called(x, name any) bool {
	keys, _ := x.(map[string]any)
	if number, ok := name.(written); ok {
		name = string(number)
	}
	word, ok := name.(string)
	return ok && keys["name"] == word
}

// designs are that of the study and those of its scenes.
func (s *Study) designs() []*Design {
	all := []*Design{&s.Design}
	for i := range s.Scenes {
		all = append(all, &s.Scenes[i].Design)
	}
	return all
}

// overriding are overrides of the design of a study, which grows, or of a scene. A scene has
// only the keys of its own: what it leaves to the study stays empty, and nothing is added to it.
type overriding struct {
	Overrides
	grows bool
}

// override changes a design.
func (o overriding) override(d *Design) {
	if len(o.Datasets) > 0 {
		o.overrideDatasets(d)
	}
	if len(o.Mechanisms) > 0 && (o.grows || len(d.Mechanisms) > 0) {
		is := func(m MechanismSpec, ref string) bool {
			return m.Name == ref || m.Name+":"+string(m.Variant) == ref
		}
		d.Mechanisms = choose(o.Mechanisms, d.Mechanisms, NamedMechanism, is)
	}
	if o.grows || len(d.Mechanisms) > 0 {
		d.Mechanisms = append(d.Mechanisms, o.Own...)
	}
	if len(o.Epsilons) > 0 {
		if o.grows || len(d.Epsilons) > 0 {
			d.Epsilons = o.Epsilons
		}
		for i := range d.Mechanisms {
			d.Mechanisms[i].Epsilons = nil
		}
	}
	if o.Repetitions != 0 && (o.grows || d.Repetitions > 0) {
		if d.BaselineRepetitions > 0 && d.Repetitions > 0 {
			d.BaselineRepetitions = max(1, d.BaselineRepetitions*o.Repetitions/d.Repetitions)
		}
		d.Repetitions = o.Repetitions
	}
}

// overrideDatasets keeps the named data sets, and of all that is for some data sets what is for them.
func (o overriding) overrideDatasets(d *Design) {
	add := func(name string) DatasetSpec { return DatasetSpec{Name: name} }
	if !o.grows {
		add = nil
	}
	is := func(x DatasetSpec, name string) bool { return x.Name == name }
	d.Datasets = choose(o.Datasets, d.Datasets, add, is)
	d.Embeddings = restrict(d.Embeddings, o.Datasets, func(e *EmbeddingSpec) *[]string {
		return &e.Datasets
	})
	d.Mechanisms = restrict(d.Mechanisms, o.Datasets, func(m *MechanismSpec) *[]string {
		return &m.Datasets
	})
	d.Models = restrict(d.Models, o.Datasets, func(m *ModelSpec) *[]string {
		return &m.Datasets
	})
}

// restrict keeps of each entry's own data sets those that are named, and leaves
// out an entry that had some and has none of them.
func restrict[T any](entries []T, names []string, datasets func(*T) *[]string) (kept []T) {
	for _, x := range entries {
		own := datasets(&x)
		left := slices.DeleteFunc(slices.Clone(*own), func(d string) bool {
			return !slices.Contains(names, d)
		})
		if len(*own) == 0 || len(left) > 0 {
			*own = left
			kept = append(kept, x)
		}
	}
	return kept
}

// choose returns the entries of the given names in their order. With add, a name that the
// list does not have gets a new entry, which Check validates.
func choose[T any](names []string, from []T, add func(string) T, is func(T, string) bool) (out []T) {
	if len(from) == 0 && add == nil {
		return from
	}
	out = []T{}
	for _, name := range names {
		found := slices.DeleteFunc(slices.Clone(from), func(x T) bool { return !is(x, name) })
		if len(found) == 0 && add != nil {
			found = []T{add(name)}
		}
		out = append(out, found...)
	}
	return out
}
