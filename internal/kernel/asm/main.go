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
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: asm DIRECTORY")
	}
	amd64, arm64 := new(file), new(file)
	avx512 := machine{"AVX512", 16, amd64}
	avx2 := machine{"AVX2", 8, amd64}
	neon := machine{"NEON", 4, arm64}
	for _, m := range []machine{avx512, avx2, neon} {
		rows, registers := 6, 2
		switch m {
		case avx512:
			rows = 14
		case neon:
			registers = 4
		}
		for r := 1; r <= rows; r++ {
			gemmTile(m, r, registers)
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
