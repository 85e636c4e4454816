//go:build !amd64

package kernel

// Without assembly, lanes is 1 and gemmTiles nil, and the functions below it
// are never reached.

const best = pathGo

type tile = func(k int, a *float32, rowStride, colStride int, b *float32, bStride int, c *float32, cStride int, alpha, beta float32)

func (p path) lanes() int           { return 1 }
func (p path) gemmTiles() []tile    { return nil }
func (p path) unfusedTiles() []tile { return nil }

func (p path) apply(f function, n int, dst, src *float32) { panic("kernel: no assembly") }
func (p path) dot(n int, a, b *float32) float32           { panic("kernel: no assembly") }
func (p path) axpy(n int, alpha float32, x, y *float32)   { panic("kernel: no assembly") }

const peakRound = 0

func (p path) peak(rounds int) { panic("kernel: no assembly") }
