package kernel

import "golang.org/x/sys/cpu"

// Every arm64 processor that Go runs on has NEON; those without SDOT scan in
// float32.
var best = func() path {
	if cpu.ARM64.HasASIMDDP {
		return pathNEONDot
	}
	return pathNEON
}()

// lanes is the number of float32 that assembly takes at a time, 1 without it:
// two registers of four.
func (p path) lanes() int {
	if p >= pathNEON {
		return 8
	}
	return 1
}

// tile is the innermost loop of a matrix product; see asm/neon/gemm.go.
type tile = func(k int, a *float32, rowStride, colStride int, b *float32, bStride int, c *float32, cStride int,
	from *float32, fromStride int, alpha, beta float32)

// tiles are the innermost loops by number of rows (index 0 unused); their
// width is 2·lanes, four registers.
var (
	gemmNEON    = []tile{nil, gemmNEON_1, gemmNEON_2, gemmNEON_3, gemmNEON_4, gemmNEON_5, gemmNEON_6}
	unfusedNEON = []tile{nil, unfusedNEON_1, unfusedNEON_2, unfusedNEON_3, unfusedNEON_4, unfusedNEON_5, unfusedNEON_6}
)

func (p path) gemmTiles() []tile {
	if p >= pathNEON {
		return gemmNEON
	}
	return nil
}

func (p path) unfusedTiles() []tile {
	if p >= pathNEON {
		return unfusedNEON
	}
	return nil
}

// apply computes a function of n numbers, n a multiple of lanes.
func (p path) apply(f function, n int, dst, src *float32) {
	switch f {
	case functionExp:
		expNEON(n, dst, src)
	case functionSigmoid:
		sigmoidNEON(n, dst, src)
	case functionTanh:
		tanhNEON(n, dst, src)
	}
}

func (p path) cellForward(h int, gates, prev, cell, tanh, hidden *float32) {
	cellForwardNEON(h, gates, prev, cell, tanh, hidden)
}

func (p path) cellBackward(h int, gates, prev, tanh, dh, dc *float32) {
	cellBackwardNEON(h, gates, prev, tanh, dh, dc)
}

func (p path) dot(n int, a, b *float32) float32 { return dotNEON(n, a, b) }

func (p path) axpy(n int, alpha float32, x, y *float32) { axpyNEON(n, alpha, x, y) }

// peakRound is the number of fused multiply-adds of one lane in a round of
// peak, which are half as many as instructions; see asm/neon/vector.go.
const peakRound = 4 * 24 / 2

func (p path) peak(rounds int) { peakNEON(rounds) }

func (p path) scanFloat(panels, depth int, words, heads, bounds, queries, tile *float32, hits *uint32) int {
	return scanFloatNEON(panels, depth, words, heads, bounds, queries, tile, hits)
}

func (p path) scanInt8(panels, groups int, words *byte, heads, bounds *float32, queries *byte, tile *float32,
	hits *uint32) int {
	return scanInt8NEON(panels, groups, words, heads, bounds, queries, tile, hits)
}

func (p path) squaredDistance(n int, a, b *float32) float64 { return squaredDistanceNEON(n, a, b) }

func (p path) distances(panels, depth int, words *float32, queries, dst *float64, stride int) {
	distancesNEON(panels, depth, words, queries, dst, stride)
}

func (p path) innerProducts(panels, depth int, words *float32, queries, dst *float64, stride int) {
	innerProductsNEON(panels, depth, words, queries, dst, stride)
}

func (p path) weightSum(n int, row, law *float32) float64 { return weightSumNEON(n, row, law) }

func (p path) fold(n int, dst, src *float32) { foldNEON(n, dst, src) }

func (p path) atMost(masks int, row *float32, limit float32, dst *uint32) {
	atMostNEON(masks, row, limit, dst)
}

func (p path) distancesTo(groups, depth int, query, vectors *float32, ids *uint32, dst *float64) {
	distancesToNEON(groups, depth, query, vectors, ids, dst)
}
