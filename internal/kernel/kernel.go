// Package kernel holds the float32 loops that take most of the time: matrix
// products, activations, nearest-neighbour scans and noise.
//
// Each has a pure-Go form that is its specification, and forms in assembly:
// AVX2 and AVX-512 on amd64 (written by the generator in asm), NEON on arm64
// (by that in asm/neon). The form is chosen at start-up by the processor's
// capabilities; the environment variable MLDP_SIMD (avx512vnni, avx512, avx2;
// neondot, neon; go) selects a slower one. Forms may differ in the last bits,
// by documented bounds. Functions that make noise must not differ at all,
// because privatised text must not depend on the processor.
//
// The package handles vectors and matrices, not words. Shapes are checked, and
// a wrong one panics because it is an error of the program, never of a user.
package kernel

//go:generate go -C asm run . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg kernel
//go:generate go -C asm run ./neon -out ../kernels_arm64.s -stubs ../kernels_arm64.go

import (
	"fmt"
	"os"
	"slices"
	"sync/atomic"
)

// path is an instruction set; each includes the ones before it of the same
// processor family.
type path int32

const (
	pathGo path = iota
	pathAVX2
	pathAVX512
	pathVNNI
	pathNEON
	pathNEONDot
)

var pathNames = [...]string{"go", "avx2", "avx512", "avx512vnni", "neon", "neondot"}

// below maps a path to the next slower one.
var below = [...]path{pathAVX512: pathAVX2, pathVNNI: pathAVX512, pathNEONDot: pathNEON}

func (p path) String() string { return pathNames[p] }

var current atomic.Int32

func active() path { return path(current.Load()) }

func init() {
	current.Store(int32(best))
	if name := os.Getenv("MLDP_SIMD"); name != "" {
		if _, err := Use(name); err != nil {
			fmt.Fprintf(os.Stderr, "MLDP_SIMD: %v; using %s\n", err, best)
		}
	}
}

// Path returns the name of the form in use: "avx512vnni", "avx512", "avx2",
// "neondot", "neon" or "go".
func Path() string { return active().String() }

// Paths returns the names of all forms that this processor can run, the fastest
// first.
func Paths() []string {
	var names []string
	for p := best; p != pathGo; p = below[p] {
		names = append(names, p.String())
	}
	return append(names, pathGo.String())
}

// Use switches to another form, for tests, and returns a function that switches
// back. It must not run concurrently with other functions of this package.
func Use(name string) (restore func(), err error) {
	for p, n := range pathNames {
		if n != name {
			continue
		}
		if !slices.Contains(Paths(), name) {
			return nil, fmt.Errorf("this processor has no %s, only %q", name, Paths())
		}
		before := current.Swap(int32(p))
		return func() { current.Store(before) }, nil
	}
	return nil, fmt.Errorf("path = %q: must be one of %q", name, pathNames)
}
