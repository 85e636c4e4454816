package main

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/packages"
)

// namesUsedElsewhere are the names, each behind its package's path and a dot, that a package other than their own
// reads; its tests count.
func namesUsedElsewhere(loaded []*packages.Package) map[string]bool {
	used := map[string]bool{}
	for _, p := range loaded {
		for _, object := range p.TypesInfo.Uses {
			if object.Pkg() != nil && object.Pkg().Path() != p.PkgPath {
				used[object.Pkg().Path()+"."+object.Name()] = true
			}
		}
	}
	return used
}

// exported reports functions, variables and constants that no other package uses. A type is left out: other packages
// have its values without its name.
func (r reporter) exported(p *types.Package, usedElsewhere map[string]bool) {
	if p.Name() == "main" {
		return
	}
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		_, isType := object.(*types.TypeName)
		if !isType && token.IsExported(name) && !usedElsewhere[p.Path()+"."+name] {
			r.print(object.Pos(), "exported", name+" is used by no other package")
		}
	}
}
