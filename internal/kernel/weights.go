package kernel

import (
	"fmt"
	"math"
)

// ProductRows is the best number of queries for SquaredDistances32: a panel of
// words is then read from the first-level cache for most of them, and the tiles
// of all instruction sets add up to it.
const ProductRows = 12

// SquaredNorms returns ‖x‖² of every vector in float32, +Inf at positions after
// the last.
func (p *Panels) SquaredNorms() []float32 {
	norms := make([]float32, p.Stride())
	for word := range norms {
		if word >= p.count {
			norms[word] = float32(math.Inf(1))
			continue
		}
		panel := p.data[word/packedWidth*packedWidth*p.depth:]
		sum := 0.0
		for i := range p.depth {
			x := float64(panel[i*packedWidth+word%packedWidth])
			sum += x * x
		}
		norms[word] = float32(sum)
	}
	return norms
}

// SquaredDistances32 writes ‖x‖² − 2·x·q to dst[r·Stride+i] for vector i and
// row r of queries, a row-major matrix: the squared distance without ‖q‖².
// norms are those of SquaredNorms; positions after the last vector get +Inf.
//
// It is a float32 matrix product, several times faster than Distances but not
// the same on every path: decisions based on it must allow for
// SquaredDistanceError.
func (p *Panels) SquaredDistances32(dst, norms, queries []float32) {
	rows := len(queries) / p.depth
	stride := p.Stride()
	if rows < 1 || len(queries) != rows*p.depth || len(norms) != stride || len(dst) < rows*stride {
		panic(fmt.Sprintf("kernel: %d query numbers of depth %d, %d norms, room for %d", len(queries), p.depth,
			len(norms), len(dst)))
	}
	buffer := buffers.Get().(*[]float32)
	defer buffers.Put(buffer)
	*buffer = resized(*buffer, len(queries))
	for i, x := range queries { // exact, as are the products with −2 then
		(*buffer)[i] = -2 * x
	}
	scaled := operand{*buffer, p.depth, 1}
	for j := 0; j < stride; j += packedWidth {
		panel := Dense(p.data[j*p.depth:], p.depth, packedWidth)
		product(Matrix[float32]{dst[j:], rows, packedWidth, stride}, scaled, panel, Matrix[float32]{Data: norms[j:]})
	}
}

// SquaredDistanceError bounds the error of a squared distance computed from
// SquaredDistances32 and the float32 ‖q‖², for a query and vectors of these
// Euclidean norms: a float32 sum of depth products in any order, and the
// roundings of norms and additions (one more for every part of a panel), including
// results in the denormal range.
func SquaredDistanceError(depth int, query, longest float64) float64 {
	norms := query*query + longest*longest
	sums := 2 * float64(depth+2) * query * longest
	roundings := float64(6+depth/blockDepth) * norms
	return 1.01*0x1p-24*(sums+roundings) + float64(4*depth+16)*0x1p-149
}

// Law turns squared distances s into weights e^{−rate·(min(√(s+Offset), Most) − Least)}.
type Law struct{ Offset, Most, Least, Rate float32 }

// WeightSum adds the weights of all numbers of row, 0 for +Inf, in float64.
// Negative s+Offset counts as 0. The relative error of a weight is at most
// WeightError and one part in 2¹⁰⁰ of the number of weights, absolute, for
// exponents below −104.
func WeightSum(row []float32, law Law) float64 {
	s := simd()
	sum := 0.0
	n := s.whole(len(row))
	if n > 0 {
		sum = s.weightSum(n, &row[0], &law.Offset)
	}
	infinite := float32(math.Inf(1))
	for _, x := range row[n:] {
		if x == infinite {
			continue
		}
		d := min(float32(math.Sqrt(float64(max(x+law.Offset, 0)))), law.Most)
		sum += float64(float32(math.Exp(float64((law.Least - d) * law.Rate))))
	}
	return sum
}

// WeightError bounds the relative error that float32 arithmetic adds to a
// weight of exponent above −105: of the constants of the law, of the square
// root, difference and product, and of the exponential.
func WeightError(law Law) float64 {
	return (106+math.Abs(float64(law.Rate)*float64(law.Least)))*0x1p-21 + 0x1p-20
}
