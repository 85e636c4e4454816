package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// longestCommand is how many lines of code a command has at most.
const longestCommand = 60

// printers are the only files that print.
var printers = []string{"print.go", "root.go"}

// declarations are the functions and methods of the program by name, and how many lines each has.
type declarations struct {
	positions *token.FileSet
	functions map[string][]*ast.FuncDecl
}

// parseProgram reads this package without its tests.
func parseProgram(t *testing.T) declarations {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := declarations{token.NewFileSet(), map[string][]*ast.FuncDecl{}}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(all.positions, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			if f, isFunction := declaration.(*ast.FuncDecl); isFunction {
				all.functions[f.Name.Name] = append(all.functions[f.Name.Name], f)
			}
		}
	}
	return all
}

// lines is how long the functions of a name are.
func (d declarations) lines(name string) int {
	n := 0
	for _, f := range d.functions[name] {
		n += d.positions.Position(f.End()).Line - d.positions.Position(f.Pos()).Line + 1
	}
	return n
}

// reached are the functions that one of a name uses, itself among them, as far as names tell. Other commands are not.
func (d declarations) reached(name string, found map[string]bool) {
	if found[name] || len(d.functions[name]) == 0 {
		return
	}
	found[name] = true
	for _, f := range d.functions[name] {
		ast.Inspect(f, func(n ast.Node) bool {
			if used, isName := n.(*ast.Ident); isName && !isCommand(used.Name) {
				d.reached(used.Name, found)
			}
			return true
		})
	}
}

func isCommand(function string) bool {
	return strings.HasPrefix(function, "new") && strings.HasSuffix(function, "Command")
}

// A command is flags and what is done with its outcome: the function that makes it and all functions that no other
// command uses have at most longestCommand lines in sum.
func TestCommandsAreShort(t *testing.T) {
	program := parseProgram(t)
	users := map[string][]string{} // commands by function
	for name := range program.functions {
		if !isCommand(name) {
			continue
		}
		found := map[string]bool{}
		program.reached(name, found)
		for function := range found {
			users[function] = append(users[function], name)
		}
	}
	lines := map[string]int{}
	for function, commands := range users {
		if len(commands) == 1 {
			lines[commands[0]] += program.lines(function)
		}
	}
	if len(lines) < 20 {
		t.Fatalf("%d commands are found, want those of newRoot", len(lines))
	}
	for command, n := range lines {
		if n > longestCommand {
			t.Errorf("%s has %d lines of its own, want at most %d: what it answers stands in experiments", command, n,
				longestCommand)
		}
	}
}

// What is answered is said in experiments: here only those print that show an outcome or an error.
func TestCommandsPrintOutcomesOnly(t *testing.T) {
	program := parseProgram(t)
	for name, functions := range program.functions {
		for _, f := range functions {
			file := program.positions.Position(f.Pos()).Filename
			if slices.Contains(printers, file) {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				selector, isSelector := n.(*ast.SelectorExpr)
				if isSelector && strings.HasPrefix(selector.Sel.Name, "Fprint") {
					t.Errorf("%s in %s prints with %s, want it in %s alone", name, file, selector.Sel.Name,
						strings.Join(printers, " and "))
				}
				return true
			})
		}
	}
}
