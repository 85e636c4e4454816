package main

import (
	"go/ast"
	"go/types"
)

const longFunction = 12 // lines, above which a function has a doc comment

// node reports the marks of one node of a file.
func (r reporter) node(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.IfStmt:
		if x.Init != nil && !reads(x.Cond, x.Init) {
			r.print(x.Pos(), "if", "the condition reads nothing of the statement before it")
		}
	case *ast.IndexExpr:
		if _, literal := x.X.(*ast.CompositeLit); literal {
			r.print(x.Pos(), "literal", "a literal indexed in place: write if or switch")
		}
	case *ast.AssignStmt:
		if len(x.Lhs) > 1 && len(x.Lhs) == len(x.Rhs) && !isSwap(x) {
			r.print(x.Pos(), "tuple", "several values in one assignment")
		}
	case *ast.CallExpr:
		r.call(x)
	case *ast.FuncDecl:
		if x.Doc == nil && r.positions.Position(x.End()).Line-r.positions.Position(x.Pos()).Line > longFunction {
			r.print(x.Pos(), "undocumented", x.Name.Name+" is long and has no doc comment")
		}
	}
	return true
}

// call reports booleans and cmp.Or among the arguments of a call.
func (r reporter) call(call *ast.CallExpr) {
	name := types.ExprString(call.Fun)
	_, own := call.Fun.(*ast.Ident)
	calls := 0
	for _, argument := range call.Args {
		value := types.ExprString(argument)
		if own && (value == "true" || value == "false") {
			r.print(call.Pos(), "boolean", name+" is told "+value)
		}
		if _, isCall := argument.(*ast.CallExpr); isCall {
			calls++
		}
	}
	if name == "cmp.Or" && calls > 1 {
		r.print(call.Pos(), "cmp.Or", "all of its calls run, whatever the first returns")
	}
}

// reads tells whether a condition names what the statement before it assigns.
func reads(condition ast.Expr, statement ast.Stmt) bool {
	assigned := map[string]bool{}
	if assignment, ok := statement.(*ast.AssignStmt); ok {
		for _, left := range assignment.Lhs {
			ast.Inspect(left, func(n ast.Node) bool {
				if name, ok := n.(*ast.Ident); ok {
					assigned[name.Name] = true
				}
				return true
			})
		}
	}
	found := false
	ast.Inspect(condition, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		found = found || ok && assigned[name.Name]
		return true
	})
	return found
}

// isSwap tells whether every value on the right is one of those on the left.
func isSwap(assignment *ast.AssignStmt) bool {
	left := map[string]bool{}
	for _, e := range assignment.Lhs {
		left[types.ExprString(e)] = true
	}
	for _, e := range assignment.Rhs {
		if !left[types.ExprString(e)] {
			return false
		}
	}
	return true
}
