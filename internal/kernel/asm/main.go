// Command asm writes the assembly of package kernel; run it with
//
//	go generate ./internal/kernel
//
// A kernel is written once, for AVX-512, AVX2 and NEON, on virtual registers;
// only what the sets do in ways of their own stands twice. Of NEON's vector
// instructions Go's assembler lacks most: llvm-mc (of LLVM) gives their codes.
package main

import (
	"log"
	"os"
	"path/filepath"
	"strings"
)

// main writes the assembly and the stubs of each architecture to the directory that it is given.
func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: asm DIRECTORY")
	}
	// General registers that a function may use: not SP and BP of amd64, which are
	// Go's, nor R18 of arm64, the platform's, R27, the assembler's, and the rest, Go's.
	amd64 := &file{names: strings.Fields("AX CX DX BX SI DI R8 R9 R10 R11 R12 R13 R14 R15")}
	arm64 := &file{
		names:  strings.Fields("0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 19 20 21 22 23 24 25 26"),
		prefix: "R",
	}
	avx512 := machine{"AVX512", 16, amd64}
	avx2 := machine{"AVX2", 8, amd64}
	neon := machine{"NEON", 4, arm64}
	for _, m := range []machine{avx512, avx2, neon} {
		for rows := 1; rows <= tileRows(m); rows++ {
			gemmTile(m, rows, max(2, 16/m.lanes))
		}
		cellForward(m)
		cellBackward(m)
		weightSum(m)
		distances(m)
	}
	// AVX2 alone serves where the width makes no study faster.
	for _, m := range []machine{avx2, neon} {
		innerProducts(m)
		squaredDistance(m)
		distancesTo(m)
		fold(m)
		atMost(m)
	}
	sparseStrip(avx512)
	sparseStrip(avx2)
	scan(avx512)
	scan(avx2)
	scan(neon)
	for arch, f := range map[string]*file{"amd64": amd64, "arm64": arm64} {
		path := filepath.Join(os.Args[1], "kernels_"+arch)
		if err := f.write(path+".s", path+".go"); err != nil {
			log.Fatal(err)
		}
	}
}
