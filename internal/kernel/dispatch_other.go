//go:build !amd64 && !arm64

package kernel

// Without assembly, lanes is 1 and gemmTiles nil, and the functions below it
// are never reached.

const best = pathGo

type tile = func(k int, a *float32, rowStride, colStride int, b *float32, bStride int, c *float32, cStride int,
	from *float32, fromStride int, alpha, beta float32)

func (p path) lanes() int           { return 1 }
func (p path) gemmTiles() []tile    { return nil }
func (p path) unfusedTiles() []tile { return nil }

func (p path) apply(f function, n int, dst, src *float32) { panic("kernel: no assembly") }
func (p path) cellForward(h int, gates, prev, cell, tanh, hidden *float32) {
	panic("kernel: no assembly")
}

func (p path) cellBackward(h int, gates, prev, tanh, dh, dc *float32) {
	panic("kernel: no assembly")
}

func (p path) dot(n int, a, b *float32) float32         { panic("kernel: no assembly") }
func (p path) axpy(n int, alpha float32, x, y *float32) { panic("kernel: no assembly") }

const peakRound = 0

func (p path) peak(rounds int) { panic("kernel: no assembly") }

func (p path) scanFloat(panels, depth int, words, heads, bounds, queries, tile *float32, hits *uint32) int {
	panic("kernel: no assembly")
}

func (p path) scanInt8(panels, groups int, words *byte, heads, bounds *float32, queries *byte, tile *float32,
	hits *uint32) int {
	panic("kernel: no assembly")
}

func (p path) squaredDistance(n int, a, b *float32) float64 { panic("kernel: no assembly") }

func (p path) distances(panels, depth int, words *float32, queries, dst *float64, stride int) {
	panic("kernel: no assembly")
}

func (p path) innerProducts(panels, depth int, words *float32, queries, dst *float64, stride int) {
	panic("kernel: no assembly")
}

func (p path) weightSum(n int, row, law *float32) float64 { panic("kernel: no assembly") }

func (p path) fold(n int, dst, src *float32) { panic("kernel: no assembly") }

func (p path) atMost(masks int, row *float32, limit float32, dst *uint32) {
	panic("kernel: no assembly")
}

func (p path) distancesTo(groups, depth int, query, vectors *float32, ids *uint32, dst *float64) {
	panic("kernel: no assembly")
}
