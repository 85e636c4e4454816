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
)

// Key is a key of study files.
type Key struct {
	Path      string // such as datasets[].name; a scene has the keys of a study
	Doc       string // what it means
	Low, High int    // of an integer; equal for no limits

	typ   reflect.Type
	alone bool // one word may stand for the list or the struct
	order int
}

// Meanings of keys, one a line; those of metrics are said where they are registered.
//
//go:embed keys.txt
var meanings string

// Keys lists the keys of a study in the order of its file, each entry of a list
// after the list.
func Keys() []Key {
	docs := meaningsByKey()
	var all []Key
	study := schemaOf(reflect.TypeFor[Study]())
	for path, k := range study {
		rest, ofScene := strings.CutPrefix(path, "scenes[].")
		_, again := study[rest]
		if strings.HasSuffix(path, "[]") || path == "" || ofScene && again {
			continue
		}
		k.Path, k.Doc = path, cmp.Or(docs[path], metrics[strings.TrimPrefix(path, "metrics.")].Doc)
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b Key) int { return a.order - b.order })
	return all
}

func meaningsByKey() map[string]string {
	docs := map[string]string{}
	for line := range strings.Lines(meanings) {
		path, doc, _ := strings.Cut(line, " ")
		docs[path] = strings.TrimSpace(doc)
	}
	return docs
}

// Meanings lists the keys whose meaning is written down.
func Meanings() []string { return slices.Sorted(maps.Keys(meaningsByKey())) }

var schemas sync.Map // of reflect.Type

// schemaOf are all keys and elements of lists of a type by their paths; "" is the whole.
func schemaOf(t reflect.Type) map[string]Key {
	once, _ := schemas.LoadOrStore(t, sync.OnceValue(func() map[string]Key {
		s := map[string]Key{}
		add(s, "", t, "")
		return s
	}))
	return once.(func() map[string]Key)()
}

func add(s map[string]Key, path string, t reflect.Type, limits string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	k := Key{typ: t, order: len(s), alone: reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.InterfaceUnmarshaler]())}
	if limits != "" {
		if _, err := fmt.Sscanf(limits, "%d,%d", &k.Low, &k.High); err != nil {
			panic(err) // tags are constants of this program
		}
	}
	s[path] = k
	switch {
	case t == reflect.TypeFor[Metrics]():
		for _, m := range slices.Sorted(maps.Keys(metrics)) {
			add(s, path+"."+m, reflect.TypeOf(metrics[m].New()), "")
		}
	case t.Kind() == reflect.Struct:
		addFields(s, path, t)
	case t.Kind() == reflect.Slice:
		add(s, path+"[]", t.Elem(), limits)
	}
}

func addFields(s map[string]Key, path string, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			addFields(s, path, f.Type)
		case name != "" && name != "-":
			add(s, strings.TrimPrefix(path+"."+name, "."), f.Type, f.Tag.Get("limits"))
		}
	}
}

func (k Key) kind() reflect.Kind { return k.typ.Kind() }

// free reports whether what stands below is not the schema's.
func (k Key) free() bool {
	return k.kind() == reflect.Interface || k.kind() == reflect.Map && k.typ != reflect.TypeFor[Metrics]()
}

// Kind says in words what the value of a key is.
func (k Key) Kind() string {
	words := kindOf(k.typ)
	if k.alone {
		words = "text, or " + words
	}
	if k.Low < k.High {
		words += fmt.Sprintf(", %d to %d", k.Low, k.High)
	}
	return words
}

func kindOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice:
		if one := kindOf(t.Elem()); one != "keys" {
			return "list of " + one + "s"
		}
		return "list of entries"
	case reflect.Map, reflect.Struct:
		return "keys"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Uint64:
		return "integer"
	case reflect.Float64:
		return "number"
	}
	return "text"
}

// gone are the keys of earlier versions and what replaces them.
var gone = map[string]string{
	"protocol": "every study is of one kind; streams names its random numbers, as in streams: attacks",
	"utility":  "models: [{name: svm, parameters: {features: tfidf}}]", "probe": "models: [{name: encoder}]",
	"language": "metrics: {perplexity: {}}", "language_model": "masked", "causal_model": "causal",
	"metrics.inference_error.full": "E_M is over all words", "metrics.inference_error.candidates": "E_M is over all words",
	"metrics.chrf": "metrics.commands, as examples/external/bertscore.py", "metrics.rouge_l": "metrics.commands, as " +
		"examples/external/bertscore.py", "metrics.bertscore": "examples/external/bertscore.py, in metrics.commands",
}

// unknown is the error of a key that is not in the schema.
func unknown(src *source, schema map[string]Key, key *token.Token, path string) error {
	if now, ok := gone[strings.TrimPrefix(path, "scenes[].")]; ok {
		return src.wrong(key, "%s is gone; now: %s", key.Value, now)
	}
	parent := path[:max(0, strings.LastIndexByte(path, '.'))]
	var beside []string
	for other := range schema {
		if name, below := strings.CutPrefix(strings.TrimPrefix(other, parent), "."); (below || parent == "") &&
			!strings.ContainsAny(name, ".[") {
			beside = append(beside, name)
		}
	}
	slices.Sort(beside)
	meant := check.Meant(key.Value, beside)
	return src.wrong(key, "unknown field %q%s", key.Value, cmp.Or(meant, "; mldp study keys lists all"))
}
