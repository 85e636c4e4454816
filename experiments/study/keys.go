package study

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/token"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// Key is a key of study files. What its values may be is said by its type and its
// tag limits: "1,100" for integers, ">0" for numbers, "a|b" for words.
type Key struct {
	Path      string // such as datasets[].name; a scene has the keys of a study
	Doc       string // what it means
	Low, High int    // of an integer; equal for no limits

	typ      reflect.Type
	alone    bool // one word may stand for the list or the struct
	limits   string
	positive bool
	words    []string
}

// Meanings of keys, one a line; those of metrics are said where they are registered.
// After a hyphen stands a key of earlier versions, with what replaces it.
//
//go:embed keys.txt
var lines string

var meanings = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(lines) {
		path, text, _ := strings.Cut(line, " ")
		all[path] = strings.TrimSpace(text)
	}
	return all
})

// Keys lists the keys of a study in the order of its file, each entry of a list
// after the list.
func Keys() (all []Key) {
	var visit func(Key)
	visit = func(of Key) {
		for of.kind() == reflect.Slice {
			of = of.element()
		}
		if of.free() || of.kind() != reflect.Struct && of.kind() != reflect.Map {
			return
		}
		for _, k := range fieldsOf(of) {
			again := strings.HasPrefix(k.Path, "scenes[].") && k.Path != "scenes[].name"
			if k.Path == "task" || again { // written by mldp; those of a study
				continue
			}
			k.Doc = meaning(k.Path)
			all = append(all, k)
			visit(k)
		}
	}
	visit(Key{typ: reflect.TypeFor[Study]()})
	return all
}

// meaning is that of a key: of a metric or of one of its options, what it was registered with.
func meaning(path string) string {
	key, isOfMetric := strings.CutPrefix(path, "metrics.")
	if !isOfMetric {
		return meanings()[path]
	}
	end := strings.IndexAny(key, ".[")
	if end < 0 {
		return metrics[key].Doc
	}
	return metrics[key[:end]].Options[strings.TrimPrefix(key[end:], ".")]
}

// key is that of a path and a type, with the limits of its values.
func key(path string, t reflect.Type, limits string) Key {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	k := Key{
		Path:     path,
		typ:      t,
		limits:   limits,
		positive: limits == ">0",
		alone:    reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.InterfaceUnmarshaler]()),
	}
	if n, _ := fmt.Sscanf(limits, "%d,%d", &k.Low, &k.High); n < 2 && limits != "" && !k.positive {
		k.words = strings.Split(limits, "|")
	}
	return k
}

// element is the key of an entry of a list, with its limits.
func (k Key) element() Key { return key(k.Path+"[]", k.typ.Elem(), k.limits) }

// fieldsOf are the keys below one that has keys, in the order of its type.
func fieldsOf(of Key) (all []Key) {
	path := func(name string) string { return strings.TrimPrefix(of.Path+"."+name, ".") }
	if of.typ == reflect.TypeFor[Metrics]() {
		for _, m := range slices.Sorted(maps.Keys(metrics)) {
			all = append(all, key(path(m), reflect.TypeOf(metrics[m].New()), metrics[m].Limits))
		}
		return all
	}
	for i := range of.typ.NumField() {
		f := of.typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			all = append(all, fieldsOf(Key{Path: of.Path, typ: f.Type})...)
		case name != "" && name != "-":
			all = append(all, key(path(name), f.Type, f.Tag.Get("limits")))
		}
	}
	return all
}

func (k Key) kind() reflect.Kind { return k.typ.Kind() }

// entry reports whether it is that of an entry of a list.
func (k Key) entry() bool { return strings.HasSuffix(k.Path, "[]") }

// name is the last part of the path, of an entry of a list in the singular.
func (k Key) name() string {
	name := k.Path[strings.LastIndexByte(k.Path, '.')+1:]
	if one, entry := strings.CutSuffix(name, "[]"); entry {
		return strings.TrimSuffix(one, "s")
	}
	return name
}

// free reports whether what stands below is not the schema's.
func (k Key) free() bool {
	return k.kind() == reflect.Interface || k.kind() == reflect.Map && k.typ != reflect.TypeFor[Metrics]()
}

// kinds say in words what a value is.
var kinds = map[reflect.Kind]string{reflect.Bool: "true or false", reflect.Int: "integer", reflect.Uint64: "integer",
	reflect.Float64: "number", reflect.String: "text", reflect.Interface: "text", reflect.Slice: "list of entries",
	reflect.Map: "keys", reflect.Struct: "keys"}

// Kind says in words what the value of a key is.
func (k Key) Kind() string {
	words := kinds[k.kind()]
	if k.kind() == reflect.Slice && kinds[k.typ.Elem().Kind()] != "keys" {
		words = "list of " + kinds[k.typ.Elem().Kind()] + "s"
	}
	if k.alone {
		words = "text, or " + words
	}
	switch {
	case k.Low < k.High:
		words += fmt.Sprintf(", %d to %d", k.Low, k.High)
	case k.positive:
		words += ", > 0"
	case len(k.words) > 0:
		words += ", " + strings.Join(k.words, ", ")
	}
	return words
}

// unknown is the error of a key that is not among those of its place.
func (src *source) unknown(t *token.Token, of Key, fields []Key) error {
	path := strings.TrimPrefix(strings.TrimPrefix(of.Path+"."+t.Value, "."), "scenes[].")
	if now := meanings()["-"+path]; now != "" {
		return src.wrong(t, "%s is gone; now: %s", t.Value, now)
	}
	names := list.Map(fields, Key.name)
	slices.Sort(names)
	hint := cmp.Or(check.Meant(t.Value, names), "; mldp study keys lists all")
	return src.wrong(t, "unknown field %q%s", t.Value, hint)
}
