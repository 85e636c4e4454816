package kernel

import "golang.org/x/sys/cpu"

var best = func() path {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA:
		return pathGo
	case !x.HasAVX512F || !x.HasAVX512DQ || !x.HasAVX512BW || !x.HasAVX512VL:
		return pathAVX2
	case !x.HasAVX512VNNI:
		return pathAVX512
	default:
		return pathVNNI
	}
}()

// lanes is the number of float32 in a register, 1 without assembly.
func (p path) lanes() int {
	switch {
	case p >= pathAVX512:
		return 16
	case p == pathAVX2:
		return 8
	default:
		return 1
	}
}

// tile is the innermost loop of a matrix product; see asm/gemm.go.
type tile = func(k int, a *float32, rowStride, colStride int, b *float32, bStride int, c *float32, cStride int,
	from *float32, fromStride int, alpha, beta float32)

// tiles are the innermost loops of one instruction set by number of rows
// (index 0 unused); their width is two registers.
var (
	gemm512 = []tile{nil, gemmAVX512_1, gemmAVX512_2, gemmAVX512_3, gemmAVX512_4, gemmAVX512_5, gemmAVX512_6,
		gemmAVX512_7, gemmAVX512_8, gemmAVX512_9, gemmAVX512_10, gemmAVX512_11, gemmAVX512_12, gemmAVX512_13,
		gemmAVX512_14}
	gemm256    = []tile{nil, gemmAVX2_1, gemmAVX2_2, gemmAVX2_3, gemmAVX2_4, gemmAVX2_5, gemmAVX2_6}
	unfused512 = []tile{nil, unfusedAVX512_1, unfusedAVX512_2, unfusedAVX512_3, unfusedAVX512_4, unfusedAVX512_5,
		unfusedAVX512_6, unfusedAVX512_7, unfusedAVX512_8, unfusedAVX512_9, unfusedAVX512_10, unfusedAVX512_11,
		unfusedAVX512_12, unfusedAVX512_13, unfusedAVX512_14}
	unfused256 = []tile{nil, unfusedAVX2_1, unfusedAVX2_2, unfusedAVX2_3, unfusedAVX2_4, unfusedAVX2_5, unfusedAVX2_6}
)

func (p path) gemmTiles() []tile {
	switch {
	case p >= pathAVX512:
		return gemm512
	case p == pathAVX2:
		return gemm256
	default:
		return nil
	}
}

func (p path) unfusedTiles() []tile {
	switch {
	case p >= pathAVX512:
		return unfused512
	case p == pathAVX2:
		return unfused256
	default:
		return nil
	}
}

// apply computes a function of n numbers, n a multiple of lanes. The calls are
// direct so that callers' buffers stay on the stack.
func (p path) apply(f function, n int, dst, src *float32) {
	if p >= pathAVX512 {
		switch f {
		case functionExp:
			expAVX512(n, dst, src)
		case functionSigmoid:
			sigmoidAVX512(n, dst, src)
		case functionTanh:
			tanhAVX512(n, dst, src)
		}
		return
	}
	switch f {
	case functionExp:
		expAVX2(n, dst, src)
	case functionSigmoid:
		sigmoidAVX2(n, dst, src)
	case functionTanh:
		tanhAVX2(n, dst, src)
	}
}

func (p path) cellForward(h int, gates, prev, cell, tanh, hidden *float32) {
	if p >= pathAVX512 {
		cellForwardAVX512(h, gates, prev, cell, tanh, hidden)
		return
	}
	cellForwardAVX2(h, gates, prev, cell, tanh, hidden)
}

func (p path) cellBackward(h int, gates, prev, tanh, dh, dc *float32) {
	if p >= pathAVX512 {
		cellBackwardAVX512(h, gates, prev, tanh, dh, dc)
		return
	}
	cellBackwardAVX2(h, gates, prev, tanh, dh, dc)
}

func (p path) dot(n int, a, b *float32) float32 {
	if p >= pathAVX512 {
		return dotAVX512(n, a, b)
	}
	return dotAVX2(n, a, b)
}

func (p path) axpy(n int, alpha float32, x, y *float32) {
	if p >= pathAVX512 {
		axpyAVX512(n, alpha, x, y)
		return
	}
	axpyAVX2(n, alpha, x, y)
}

// peakRound is the number of fused multiply-adds (of one lane) in a round of
// peak; see asm/vector.go.
const peakRound = 4 * 12

func (p path) peak(rounds int) {
	if p >= pathAVX512 {
		peakAVX512(rounds)
		return
	}
	peakAVX2(rounds)
}

func (p path) scanFloat(panels, depth int, words, heads, bounds, queries, tile *float32, hits *uint32) int {
	if p >= pathAVX512 {
		return scanFloatAVX512(panels, depth, words, heads, bounds, queries, tile, hits)
	}
	return scanFloatAVX2(panels, depth, words, heads, bounds, queries, tile, hits)
}

func (p path) scanInt8(panels, groups int, words *byte, heads, bounds *float32, queries *byte, tile *float32,
	hits *uint32) int {
	if p >= pathAVX512 {
		return scanInt8AVX512(panels, groups, words, heads, bounds, queries, tile, hits)
	}
	return scanInt8AVX2(panels, groups, words, heads, bounds, queries, tile, hits)
}

func (p path) squaredDistance(n int, a, b *float32) float64 {
	if p >= pathAVX512 {
		return squaredDistanceAVX512(n, a, b)
	}
	return squaredDistanceAVX2(n, a, b)
}

func (p path) distances(panels, depth int, words *float32, queries, dst *float64, stride int) {
	if p >= pathAVX512 {
		distancesAVX512(panels, depth, words, queries, dst, stride)
		return
	}
	distancesAVX2(panels, depth, words, queries, dst, stride)
}

func (p path) innerProducts(panels, depth int, words *float32, queries, dst *float64, stride int) {
	if p >= pathAVX512 {
		innerProductsAVX512(panels, depth, words, queries, dst, stride)
		return
	}
	innerProductsAVX2(panels, depth, words, queries, dst, stride)
}

func (p path) weightSum(n int, row, law *float32) float64 {
	if p >= pathAVX512 {
		return weightSumAVX512(n, row, law)
	}
	return weightSumAVX2(n, row, law)
}

func (p path) fold(n int, dst, src *float32) {
	if p >= pathAVX512 {
		foldAVX512(n, dst, src)
		return
	}
	foldAVX2(n, dst, src)
}

func (p path) atMost(masks int, row *float32, limit float32, dst *uint32) {
	if p >= pathAVX512 {
		atMostAVX512(masks, row, limit, dst)
		return
	}
	atMostAVX2(masks, row, limit, dst)
}

func (p path) distancesTo(groups, depth int, query, vectors *float32, ids *uint32, dst *float64) {
	distancesToAVX2(groups, depth, query, vectors, ids, dst)
}
