// Command shape prints each fold-mark of the module's Go code, one a line: "KIND FILE:LINE what". CONTRIBUTING says
// what a mark means and what its plain form is; .ci/shape compares the counts with those in .ci/shape.txt. At the end
// it prints the size of each room. Tests and generated files are not read; what revive and gocognit find is left to
// them.
package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"log"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/packages"
)

// main reports the marks of every package, and the size of each room.
func main() {
	config := &packages.Config{
		Mode:  packages.LoadSyntax | packages.NeedModule,
		Tests: true,
		Fset:  token.NewFileSet(),
	}
	loaded, err := packages.Load(config, "./...")
	if err != nil {
		log.Fatal(err)
	}
	usedElsewhere := namesUsedElsewhere(loaded)
	rooms := census{}
	for _, p := range loaded {
		if p.ID != p.PkgPath || len(p.GoFiles) == 0 {
			continue // a test's variant of a package, or its program
		}
		r := reporter{config.Fset, p.Module.Dir, os.Stdout}
		for _, file := range p.Syntax {
			if ast.IsGenerated(file) {
				continue
			}
			ast.Inspect(file, r.node)
			name := config.Fset.Position(file.Package).Filename
			source, err := os.ReadFile(name)
			if err != nil {
				log.Fatal(err)
			}
			rooms.add(r.name(name), source)
		}
		r.exported(p.Types, usedElsewhere)
	}
	rooms.print(os.Stdout)
}

// A reporter writes marks to out; files are named from the root of the module.
type reporter struct {
	positions *token.FileSet
	root      string
	out       io.Writer
}

func (r reporter) print(at token.Pos, kind, what string) {
	p := r.positions.Position(at)
	fmt.Fprintf(r.out, "%s %s:%d %s\n", kind, r.name(p.Filename), p.Line, what)
}

// name is a file's path from the root of the module.
func (r reporter) name(file string) string {
	name, err := filepath.Rel(r.root, file)
	if err != nil {
		log.Fatal(err)
	}
	return filepath.ToSlash(name)
}
