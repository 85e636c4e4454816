package study

import (
	"cmp"
	"embed"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strings"

	"mldpbench/mechanisms"
	"mldpbench/models/attack"
)

// The comments of the types of a study say what its keys mean: these are the
// files with the types. sources are those of all packages.
//
//go:embed study.go design.go spec.go mechanism.go command.go
var own embed.FS

var sources = []embed.FS{own, mechanisms.Keys, attack.Keys}

// RegisterSources adds files with the types of options. It is called from init
// functions only.
func RegisterSources(files embed.FS) { sources = append(sources, files) }

// KeyDoc describes a key of study files.
type KeyDoc struct {
	Path   string // such as datasets[].name
	Kind   string // what its value is
	Limits string // of a number: "1 to 10000", "" for none
	Doc    string // one sentence or more, "" where the name says it
}

// Keys lists the keys of a study, those of a list after the list. The options of
// metrics follow from what measurements registered.
func Keys() []KeyDoc {
	docs := fieldDocs()
	var all []KeyDoc
	var walk func(prefix string, t reflect.Type)
	walk = func(prefix string, t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch {
			case options == "inline":
				walk(prefix, f.Type)
				continue
			case name == "" || name == "-":
				continue
			}
			low, high, limited := strings.Cut(f.Tag.Get("limits"), ",")
			k := KeyDoc{Path: prefix + name, Kind: kindOf(f.Type), Doc: docs[t.Name()+"."+f.Name]}
			if limited {
				k.Limits = low + " to " + high
			}
			all = append(all, k)
			inner, many := f.Type, ""
			for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
				if inner.Kind() == reflect.Slice {
					many = "[]"
				}
				inner = inner.Elem()
			}
			switch {
			case f.Type == reflect.TypeFor[Metrics]():
				for _, key := range slices.Sorted(maps.Keys(metrics)) {
					o := reflect.TypeOf(metrics[key].New()).Elem()
					all = append(all, KeyDoc{Path: prefix + name + "." + key, Kind: kindOf(o),
						Doc: cmp.Or(metrics[key].Doc, docs[o.Name()])})
					if o.Kind() == reflect.Struct {
						walk(prefix+name+"."+key+".", o)
					}
				}
			case inner == reflect.TypeFor[Scene](): // the keys of a study again
				all = append(all, KeyDoc{prefix + name + "[].name", "text", "", docs["Scene.Name"]},
					KeyDoc{prefix + name + "[].section", "text", "", docs["Scene.Section"]})
			case inner.Kind() == reflect.Struct:
				walk(prefix+name+many+".", inner)
			}
		}
	}
	walk("", reflect.TypeFor[Study]())
	return all
}

// kindOf names a type for people.
func kindOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice:
		if t == reflect.TypeFor[Columns]() {
			return "text, or list of texts"
		}
		return "list of " + plural(kindOf(t.Elem()))
	case reflect.Map, reflect.Struct:
		return "keys"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Interface:
		return "any"
	}
	return "text"
}

func plural(kind string) string { return cmp.Or(map[string]string{"keys": "entries"}[kind], kind+"s") }

// fieldDocs returns the comments of the types, by "Type", and of their fields,
// by "Type.Field".
func fieldDocs() map[string]string {
	docs := map[string]string{}
	read := func(name string, text []byte) {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			panic(err) // it was compiled
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if d, ok := n.(*ast.GenDecl); ok && len(d.Specs) == 1 && d.Doc != nil {
				if spec, ok := d.Specs[0].(*ast.TypeSpec); ok { // "cmp is the …" without the name
					_, text, _ := strings.Cut(strings.Join(strings.Fields(d.Doc.Text()), " "), " ")
					docs[spec.Name.Name] = strings.TrimPrefix(strings.TrimPrefix(text, "is "), "are ")
				}
			}
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if fields, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range fields.Fields.List {
					for _, name := range f.Names {
						docs[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
					}
				}
			}
			return true
		})
	}
	for _, files := range sources {
		entries, err := files.ReadDir(".")
		if err != nil {
			panic(err) // embedded at build time
		}
		for _, e := range entries {
			text, _ := files.ReadFile(e.Name()) // listed above
			read(e.Name(), text)
		}
	}
	return docs
}
