// Command neon writes the arm64 assembly of package kernel; run it with
//
//	go generate ./internal/kernel
//
// Go's assembler lacks most vector instructions on floating-point numbers, so
// every vector instruction is written as its code (Arm Architecture Reference
// Manual, C7.2), with the mnemonic next to it.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("out", "kernels_arm64.s", "assembly `file`")
	stubs := flag.String("stubs", "kernels_arm64.go", "`file` of the declarations")
	flag.Parse()
	a := generate()
	for name, text := range map[string]string{*out: a.assembly(), *stubs: a.declarations()} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func generate() *assembler {
	a := new(assembler)
	for rows := 1; rows <= 6; rows++ {
		gemmTile(a, rows)
	}
	cellForward(a)
	cellBackward(a)
	squaredDistance(a)
	distancesTo(a)
	scan(a)
	weightSum(a)
	fold(a)
	atMost(a)
	pairs(a, true)
	pairs(a, false)
	return a
}
