package study_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mldpbench/docs"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
)

var (
	update = flag.Bool("update", false, "write docs/study-keys.md")
	whole  = flag.Bool("whole", false, "a measurement that the page lacks is an error, as in .ci/run")
)

// sources are the files with the types of a study, whose comments say what its
// keys mean.
var sources = []string{"*.go", "../../mechanisms/outside.go", "../../models/attack/options.go",
	"../../models/attack/auditor.go", "../measure/*.go"}

// TestStudyKeysPage: the page says what the schema says, and has keys of every
// kind. A measurement that the page does not have yet breaks nothing: a kept
// template passes go test ./... .ci/run demands that the page is made again.
func TestStudyKeysPage(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString("# Keys of study files\n\nPrinted by `mldp study keys`; a test makes it from the schema. Each key" +
		" of\nthe study may stand in one of its scenes, where it replaces that of the study.\n\n" +
		"| key | value | meaning |\n|---|---|---|\n")
	for _, k := range keys(t) {
		kind := k.Kind
		if k.Limits != "" {
			kind += ", " + k.Limits
		}
		if metric := metricOf(k.Path); metric != "" && !*update && !*whole &&
			!strings.Contains(docs.StudyKeys, "| `metrics."+metric+"` |") {
			continue // a measurement that was added since
		}
		if k.Doc == "" {
			t.Errorf("no meaning: %s: its field has no comment, or its Metric no Doc", k.Path)
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s |\n", k.Path, kind, strings.ReplaceAll(k.Doc, "|", `\|`))
	}
	if *update {
		if err := os.WriteFile("../../docs/study-keys.md", []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if docs.StudyKeys != page.String() {
		t.Error("docs/study-keys.md is not current: go test ./experiments/study -run TestStudyKeysPage -update")
	}
	for _, row := range []string{"| `schema` |", "| `datasets[].delimiter` | text |", "| `metrics.cs.encoder` |",
		"| `mechanisms[].command` | list of texts |", "| `attackers[].name` |", "| `repetitions` | integer, 1 to 10000 |"} {
		if !strings.Contains(page.String(), row) {
			t.Errorf("no row %s", row)
		}
	}
}

// metricOf returns the metric of a key such as metrics.cs.encoder, "" for another.
func metricOf(path string) string {
	rest, ok := strings.CutPrefix(path, "metrics.")
	name, _, _ := strings.Cut(rest, ".")
	if !ok {
		return ""
	}
	return name
}

// keyDoc describes a key of study files.
type keyDoc struct {
	Path   string // such as datasets[].name
	Kind   string // what its value is
	Limits string // of a number: "1 to 10000", "" for none
	Doc    string // one sentence or more, "" where the name says it
}

// keys lists the keys of a study, those of a list after the list. The options of
// metrics follow from what measurements registered.
func keys(t *testing.T) []keyDoc {
	docs := fieldDocs(t)
	var all []keyDoc
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
			k := keyDoc{Path: prefix + name, Kind: kindOf(f.Type), Doc: docs[t.Name()+"."+f.Name]}
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
			case f.Type == reflect.TypeFor[study.Metrics]():
				metrics := slices.SortedFunc(slices.Values(measure.All()), func(a, b *measure.Measurement) int {
					return strings.Compare(a.Metric.Key, b.Metric.Key)
				})
				for _, m := range metrics {
					if m.Metric.New == nil {
						continue
					}
					o := reflect.TypeOf(m.Metric.New()).Elem()
					all = append(all, keyDoc{Path: prefix + name + "." + m.Metric.Key, Kind: kindOf(o),
						Doc: cmp.Or(m.Metric.Doc, docs[o.Name()])})
					if o.Kind() == reflect.Struct {
						walk(prefix+name+"."+m.Metric.Key+".", o)
					}
				}
			case inner == reflect.TypeFor[study.Scene](): // the keys of a study again
				all = append(all, keyDoc{prefix + name + "[].name", "text", "", docs["Scene.Name"]},
					keyDoc{prefix + name + "[].section", "text", "", docs["Scene.Section"]})
			case inner.Kind() == reflect.Struct:
				walk(prefix+name+many+".", inner)
			}
		}
	}
	walk("", reflect.TypeFor[study.Study]())
	return all
}

// kindOf names a type for people.
func kindOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice:
		if t == reflect.TypeFor[study.Columns]() {
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
func fieldDocs(t *testing.T) map[string]string {
	docs := map[string]string{}
	read := func(name string) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
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
	for _, pattern := range sources {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", pattern, err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				read(file)
			}
		}
	}
	return docs
}
