package kernel

import (
	"fmt"
	"math"
)

// PairRows is the number of queries that Panels process at once: each word is
// read from memory once for all of them.
const PairRows = 4

// packedWidth is the number of vectors of a panel: the columns of the widest
// tile; narrower ones take a part of it at a time.
const packedWidth = 32

// Panels holds vectors as the columns of matrices of packedWidth columns,
// zero-padded. Compared with queries in float64, that many sums are accumulated
// in parallel, each in the order of the dimensions: results are the same, bit
// for bit, on every path.
type Panels struct {
	count, depth int
	data         []float32
}

// PackPanels copies vectors, a row-major matrix of len(vectors)/depth rows.
func PackPanels(vectors []float32, depth int) *Panels {
	if depth < 1 || len(vectors)%depth != 0 {
		panic(fmt.Sprintf("kernel: %d numbers in rows of %d", len(vectors), depth))
	}
	count := len(vectors) / depth
	p := &Panels{count, depth, nil}
	p.data = make([]float32, p.Stride()*depth)
	for j := range count {
		for i, x := range vectors[j*depth : (j+1)*depth] {
			p.data[(j/packedWidth*depth+i)*packedWidth+j%packedWidth] = x
		}
	}
	return p
}

// Len returns the number of vectors.
func (p *Panels) Len() int { return p.count }

// Stride returns the distance between two rows of results: the number of vectors, rounded up.
func (p *Panels) Stride() int { return (p.count + packedWidth - 1) / packedWidth * packedWidth }

// Distances writes to dst[r·Stride+i] the Euclidean distance between query r
// and vector i, √Σ(xⱼ−qⱼ)² in float64, each square rounded before it is added.
// There are 1 to PairRows queries; dst holds PairRows·Stride numbers, and all
// of them are overwritten.
func (p *Panels) Distances(dst []float64, queries ...[]float32) {
	p.compare(simd().distances, panelDistances, dst, interleave(p, dst, queries))
}

// InnerProducts is the same as Distances for Σ xⱼ·qⱼ.
func (p *Panels) InnerProducts(dst []float64, queries ...[]float32) {
	p.compare(simd().innerProducts, panelProducts, dst, interleave(p, dst, queries))
}

// InnerProducts64 is InnerProducts of queries in float64.
func (p *Panels) InnerProducts64(dst []float64, queries ...[]float64) {
	p.compare(simd().innerProducts, panelProducts, dst, interleave(p, dst, queries))
}

// A panelForm writes what comes of query r of those interleaved and each vector of a panel: the specification of the
// assembly.
type panelForm func(dst *[packedWidth]float64, panel []float32, interleaved []float64, r int)

// compare calls the assembly where there is some.
func (p *Panels) compare(assembly func(panels, depth int, words *float32, queries, dst *float64, stride int),
	specification panelForm, dst, interleaved []float64) {
	if assembly != nil && p.count > 0 {
		assembly(p.Stride()/packedWidth, p.depth, &p.data[0], &interleaved[0], &dst[0], p.Stride())
		return
	}
	for r := range PairRows {
		row := dst[r*p.Stride():][:p.Stride()]
		for start := 0; start < len(row); start += packedWidth {
			var results [packedWidth]float64
			specification(&results, p.data[start*p.depth:][:packedWidth*p.depth], interleaved, r)
			copy(row[start:], results[:])
		}
	}
}

// interleave checks the shapes of a comparison and returns its queries as depth × PairRows numbers.
func interleave[T float32 | float64](p *Panels, dst []float64, queries [][]T) []float64 {
	if len(queries) < 1 || len(queries) > PairRows || len(dst) < PairRows*p.Stride() {
		panic(fmt.Sprintf("kernel: %d queries with room for %d numbers, want 1 to %d with %d", len(queries), len(dst),
			PairRows, PairRows*p.Stride()))
	}
	interleaved := make([]float64, PairRows*p.depth)
	for r, q := range queries {
		if len(q) != p.depth {
			panic(fmt.Sprintf("kernel: query of %d numbers, vectors of %d", len(q), p.depth))
		}
		for i, x := range q {
			interleaved[i*PairRows+r] = float64(x)
		}
	}
	return interleaved
}

// panelDistances adds the squared differences of query r, of the interleaved ones, and the words of a panel to dst, and
// takes their roots.
func panelDistances(dst *[packedWidth]float64, panel []float32, interleaved []float64, r int) {
	for i := 0; i*packedWidth < len(panel); i++ {
		q := interleaved[i*PairRows+r]
		x := panel[i*packedWidth:][:packedWidth]
		for j := range dst {
			d := q - float64(x[j])
			dst[j] += float64(d * d) // no fused multiply-add
		}
	}
	for j, square := range dst {
		dst[j] = math.Sqrt(square)
	}
}

// panelProducts adds the products of query r and the words of a panel to dst.
func panelProducts(dst *[packedWidth]float64, panel []float32, interleaved []float64, r int) {
	for i := 0; i*packedWidth < len(panel); i++ {
		q := interleaved[i*PairRows+r]
		x := panel[i*packedWidth:][:packedWidth]
		for j := range dst {
			dst[j] += float64(q * float64(x[j]))
		}
	}
}
