#!/usr/bin/env bash
# Seen 2026-11-28 with Go 1.26 and gorgonia.org/gorgonia v0.9.18.
# Behaviour: two input matrices of one name, type and shape are one node of the graph; the value of the second is lost
# without an error, and both variables have that of the first.
# One would guess: two nodes, or an error for the name.
# Who meets it: whoever unrolls a network in a loop and names its weights alike. Way out: names of their own.
# Output seen:
#   one name: nodes 1, values [1 2 3 4] and [1 2 3 4]
#   two names: nodes 2, values [1 2 3 4] and [5 6 7 8]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > main.go <<'GO'
package main

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func try(says, first, second string) {
	g := gorgonia.NewGraph()
	input := func(name string, data []float64) *gorgonia.Node {
		value := tensor.New(tensor.WithShape(2, 2), tensor.WithBacking(data))
		return gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(2, 2), gorgonia.WithName(name),
			gorgonia.WithValue(value))
	}
	a := input(first, []float64{1, 2, 3, 4})
	b := input(second, []float64{5, 6, 7, 8})
	fmt.Printf("%s: nodes %d, values %v and %v\n", says, g.Nodes().Len(), a.Value().Data(), b.Value().Data())
}

func main() {
	try("one name", "w", "w")
	try("two names", "w", "v")
}
GO
{ go mod init try && go get gorgonia.org/gorgonia@v0.9.18 gorgonia.org/tensor@v0.9.24; } > log 2>&1 ||
  { cat log >&2; exit 2; }
ASSUME_NO_MOVING_GC_UNSAFE_RISK_IT_WITH=go1.26 go run . 2> log | tee seen || { cat log >&2; exit 2; }
diff seen - <<'OUT'
one name: nodes 1, values [1 2 3 4] and [1 2 3 4]
two names: nodes 2, values [1 2 3 4] and [5 6 7 8]
OUT
