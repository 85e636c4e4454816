package kernel

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestScan compares with the specification. Products are whole numbers, so hits
// must agree bit by bit. Every tenth trial has only the largest numbers, whose
// sums need the most bits.
func TestScan(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		g := ScanGeometry()
		rng := rand.New(rand.NewPCG(3, 4))
		most := 2*g.Levels + 1
		total := 0
		for trial := range 200 {
			groups, panels := 1+rng.IntN(30), rng.IntN(6)
			words, queries := make([]byte, 4*panels*groups*g.PanelWords), make([]byte, 4*groups*TileStride)
			for i := range words {
				words[i] = byte(rng.IntN(most + 1))
			}
			for i := range queries {
				queries[i] = byte(int8(rng.IntN(255) - 127))
			}
			if trial%10 == 0 {
				sign := int8(1 - trial%20/5) // 1 or −1
				for i := range words {
					words[i] = byte(most)
				}
				for i := range queries {
					queries[i] = byte(127 * sign)
				}
			}
			heads, bounds := make([]float32, panels*g.PanelWords), make([]float32, 4*panels)
			for i := range heads {
				heads[i] = float32(rng.IntN(200_000))
			}
			for i := range bounds {
				bounds[i] = float32(1 + rng.IntN(5))
			}
			scanned := Words{Groups: groups, Bytes: words, Heads: heads, Bounds: bounds}
			var tile Tile
			for q := range tile.Tau {
				tile.Tau[q], tile.Residual[q], tile.Norm[q] = float32(rng.IntN(1000)), float32(rng.IntN(100)),
					float32(rng.IntN(100))
				tile.Scale[q], tile.Bias[q] = 2, int32(rng.IntN(100_000)-50_000)
			}
			got, want := make([]Hit, panels*g.TileRows), make([]Hit, panels*g.TileRows)
			got = got[:g.Scan(scanned, queries, &tile, got)]
			want = want[:g.referenceScan(scanned, queries, &tile, want)]
			if !slices.Equal(got, want) {
				t.Fatalf("%d groups, %d panels: hits %v, want %v", groups, panels, got, want)
			}
			for _, h := range got {
				total += bits.OnesCount32(h.Words)
			}
		}
		if total == 0 {
			t.Error("no hit in any trial: the test sees nothing")
		}
	})
}

func TestSquaredDistance(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for n := range 130 {
			a, b := random(rng, n), random(rng, n)
			want := 0.0
			for i := range a {
				x := float64(a[i]) - float64(b[i])
				want += x * x
			}
			if got := SquaredDistance(a, b); !(math.Abs(got-want) <= 2*float64(n+2)*0x1p-53*want) {
				t.Fatalf("%d axes: %v, want %v", n, got, want)
			}
		}
	})
}
