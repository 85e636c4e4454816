#!/usr/bin/env bash
# Seen 2026-11-28 with Go 1.26.8 and gonum.org/v1/plot v0.17.0.
# Behaviour: LogTicks writes numbers at powers of ten only. An axis that has none of them, such as 2 to 8, has no number,
# and one with a single power, such as 3 to 30, cannot be read either. No error, the small ticks are there.
# One would guess: numbers at some of the other ticks where an axis is short; plots by other libraries have them.
# Who meets it: figures over a few ε. Way out: a plot.ConstantTicks of the values that were measured.
# Output seen:
#   1 to 100: [1 10 100] of 21 ticks
#   3 to 30: [10] of 11 ticks
#   2 to 8: [] of 7 ticks
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > main.go <<'GO'
package main

import (
	"fmt"

	"gonum.org/v1/plot"
)

func main() {
	for _, ends := range [][2]float64{{1, 100}, {3, 30}, {2, 8}} {
		var numbers []string
		seen := 0
		for _, tick := range (plot.LogTicks{Prec: -1}).Ticks(ends[0], ends[1]) {
			if tick.Value < ends[0] || tick.Value > ends[1] {
				continue // not drawn
			}
			seen++
			if tick.Label != "" {
				numbers = append(numbers, tick.Label)
			}
		}
		fmt.Printf("%g to %g: %v of %d ticks\n", ends[0], ends[1], numbers, seen)
	}
}
GO
{ go mod init try && go get gonum.org/v1/plot@v0.17.0; } > log 2>&1 || { cat log >&2; exit 2; }
go run . 2> log | tee seen || { cat log >&2; exit 2; }
diff seen - <<'OUT'
1 to 100: [1 10 100] of 21 ticks
3 to 30: [10] of 11 ticks
2 to 8: [] of 7 ticks
OUT
