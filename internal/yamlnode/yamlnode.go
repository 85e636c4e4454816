// Package yamlnode has what files of users need of YAML beside the library.
package yamlnode

import "github.com/goccy/go-yaml/ast"

// Text is a value of a key that takes text, as text: 1.10, 007 and 0x1F are numbers to
// the library, which would print them in its own way.
func Text(node ast.Node) ast.Node {
	switch node.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return ast.String(node.GetToken())
	}
	return node
}
