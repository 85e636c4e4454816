// Package kernel holds the float32 loops that take most of the time: matrix
// products, LSTM cells, nearest-neighbour scans and noise; and products of sparse
// matrices.
//
// Each has a pure-Go form that is its specification, and forms in assembly:
// AVX2 and AVX-512 on amd64, NEON on arm64, all written by the generator in asm;
// the build tag noasm leaves them out. The form is
// chosen at start-up by the processor's capabilities; the environment variable
// MLDP_SIMD (avx512, avx2; neon; go) selects a slower one.
// Forms may differ in the last bits, by documented bounds. Functions that make
// noise must not differ at all, because privatised text must not depend on the
// processor.
//
// The package handles vectors and matrices, not words. Shapes are checked, and
// a wrong one panics because it is an error of the program, never of a user.
package kernel

//go:generate go run ./asm .

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
	pathNEON
)

var pathNames = [...]string{"go", "avx2", "avx512", "neon"}

// below maps a path to the next slower one.
var below = [...]path{pathAVX512: pathAVX2, pathNEON: pathGo}

func (p path) String() string { return pathNames[p] }

var current atomic.Int32

func active() path { return path(current.Load()) }

// assembly is the functions of one instruction set. The argument n is a
// multiple of lanes, all others are as in the specification of the function.
type assembly struct {
	lanes        int    // 0 without assembly
	tiles        []tile // of one row, of two, …
	tileWidth    int
	cellLanes    int // of which the numbers of a cell are a multiple
	cellForward  func(rows, h int, words *int32, input, gates, prev, cell, tanh, hidden *float32)
	cellBackward func(rows, h int, words *int32, sum, gates, prev, tanh, dh, dc *float32)
	// scan is nil on arm64 without the dot product.
	scan func(panels, groups int, words *byte, heads, bounds *float32, queries *byte, tile *float32,
		hits *uint32) int
	distances, innerProducts func(panels, depth int, words *float32, queries, dst *float64, stride int)
	squaredDistance          func(n int, a, b *float32) float64
	distancesTo              func(groups, depth int, query, vectors *float32, ids *uint32, dst *float64)
	weightSum                func(n int, row, law *float32) float64
	fold                     func(n int, dst, src *float32)
	atMost                   func(masks int, row, limit *float32, dst *uint32)
	// sparseStrip is nil on arm64, which cannot gather.
	sparseStrip func(steps int, columns *int32, data *float32, from, sums *float64)
}

// tile is the innermost loop of a matrix product, for so many rows as its place
// in the list of tiles says; see asm/gemm.go.
type tile func(k int, a *float32, rowStride, colStride int, b *float32, bStride int, c *float32, cStride int,
	from *float32, fromStride int)

// forms is filled in by dispatch_*.go.
var forms [len(pathNames)]assembly

// whole returns how many of n numbers the assembly can take.
func (a *assembly) whole(n int) int {
	if a.lanes == 0 {
		return 0
	}
	return n &^ (a.lanes - 1)
}

func simd() *assembly { return &forms[active()] }

func init() {
	current.Store(int32(best))
	if name := os.Getenv("MLDP_SIMD"); name != "" {
		if _, err := use(name); err != nil {
			fmt.Fprintf(os.Stderr, "MLDP_SIMD: %v; using %s\n", err, best)
		}
	}
}

// Paths returns the names of all forms that this processor can run, the fastest
// first.
func Paths() []string {
	var names []string
	for p := best; p != pathGo; p = below[p] {
		names = append(names, p.String())
	}
	return append(names, pathGo.String())
}

// OnPaths calls f with each form in use, for tests. It must not run concurrently with
// other functions of this package.
func OnPaths(f func(path string)) {
	for _, name := range Paths() {
		restore, _ := use(name) // this processor has it
		f(name)
		restore()
	}
}

// use switches to another form, for tests, and returns a function that switches
// back. It must not run concurrently with other functions of this package.
func use(name string) (restore func(), err error) {
	if !slices.Contains(Paths(), name) {
		return nil, fmt.Errorf("path = %q: must be one of %q on this processor", name, Paths())
	}
	before := current.Swap(int32(slices.Index(pathNames[:], name)))
	return func() { current.Store(before) }, nil
}
