package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

func TestMarks(t *testing.T) {
	for name, test := range map[string]struct{ statement, want string }{
		"condition reads nothing":  {"if x = f(); y > 0 { }", "if"},
		"condition reads x":        {"if x = f(); x > 0 { }", ""},
		"condition reads an error": {"if err := g(); err != nil { }", ""},
		"map as a ternary":         {"x = map[bool]int{true: 1, false: 2}[y > 0]", "literal"},
		"array as a switch":        {"x = [2]int{1, 2}[y]", "literal"},
		"index of a variable":      {"x = m[y]", ""},
		"unrelated values":         {"x, y = 1, f()", "tuple"},
		"swap":                     {"x, y = y, x", ""},
		"results of one call":      {"x, err = h()", ""},
		"both calls run":           {"err = cmp.Or(g(), g())", "cmp.Or"},
		"a value and a call":       {"x = cmp.Or(x, f())", ""},
		"boolean of own function":  {"g(true)", "boolean"},
		"boolean of a method":      {"t.Set(true)", ""},
		"short function":           {"f()", ""},
		"long function":            {strings.Repeat("f()\n", longFunction+1), "undocumented"},
	} {
		t.Run(name, func(t *testing.T) {
			positions := token.NewFileSet()
			source := "package p\nfunc a() {\n" + test.statement + "\n}\n"
			file, err := parser.ParseFile(positions, "a.go", source, 0)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			r := reporter{positions: positions, out: &out}
			ast.Inspect(file, r.node)
			kind, _, _ := strings.Cut(out.String(), " ")
			if kind != test.want || strings.Count(out.String(), "\n") > 1 {
				t.Errorf("%q gives the marks %q, want one of kind %q", test.statement, out.String(), test.want)
			}
		})
	}
}
