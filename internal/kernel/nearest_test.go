package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFold(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(23, 24))
		for range 300 {
			row, dst := random(rng, rng.IntN(500)), random(rng, rng.IntN(100))
			for i := range row {
				if rng.IntN(3) == 0 {
					row[i] = float32(math.Inf(1))
				}
			}
			if len(dst) == 0 {
				continue
			}
			want := slices.Repeat([]float32{float32(math.Inf(1))}, len(dst))
			for i, x := range row {
				want[i%len(dst)] = min(want[i%len(dst)], x)
			}
			if Fold(dst, row); !slices.Equal(dst, want) {
				t.Fatalf("%d numbers folded to %d: %v, want %v", len(row), len(dst), dst, want)
			}
		}
	})
}

func TestAtMost(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(25, 26))
		special := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0, 0.5,
			float32(math.Copysign(0, -1)), math.MaxFloat32, math.SmallestNonzeroFloat32}
		for range 300 {
			masks := make([]uint32, rng.IntN(12))
			row := random(rng, 32*len(masks))
			for i := range row {
				if rng.IntN(4) == 0 {
					row[i] = special[rng.IntN(len(special))]
				}
			}
			limit := special[rng.IntN(len(special))]
			for i := range masks {
				masks[i] = rng.Uint32()
			}
			AtMost(masks, row, limit)
			for i, x := range row {
				if got := masks[i/32]>>(i%32)&1 != 0; got != (x <= limit) {
					t.Fatalf("place %d of %d: %v ≤ %v is %v", i, len(row), x, limit, got)
				}
			}
		}
	})
}

func TestDistancesTo(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(27, 28))
		for range 200 {
			depth, count := 1+rng.IntN(40), 1+rng.IntN(60)
			vectors, query := random(rng, count*depth), random(rng, depth)
			if rng.IntN(4) == 0 {
				vectors[rng.IntN(len(vectors))] = math.MaxFloat32
			}
			ids, dst := make([]uint32, rng.IntN(40)), make([]float64, 0, 50)
			for i := range ids {
				ids[i] = uint32(rng.IntN(count))
			}
			want := make([]float64, PairRows*((count+packedWidth-1)/packedWidth*packedWidth))
			PackPanels(vectors, depth).Distances(want, query)
			dst = dst[:len(ids)]
			DistancesTo(dst, query, vectors, ids)
			for i, id := range ids {
				if dst[i] != want[id] {
					t.Fatalf("depth %d, vector %d, place %d of %d: %v, want %v", depth, id, i, len(ids), dst[i],
						want[id])
				}
			}
			if rest := dst[len(ids):cap(dst)]; slices.ContainsFunc(rest, func(x float64) bool { return x != 0 }) {
				t.Fatalf("%d ids: written beyond: %v", len(ids), rest)
			}
		}
	})
}

func TestSetNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for n := 1; n < 70; n++ {
		v := random(rng, n)
		before := slices.Clone(v)
		SetNorm(v, 7)
		square, dot, of := 0.0, 0.0, 0.0
		for i, x := range v {
			square += float64(x) * float64(x)
			dot += float64(x) * float64(before[i])
			of += float64(before[i]) * float64(before[i])
		}
		if math.Abs(math.Sqrt(square)-7) > 1e-6 || math.Abs(dot-7*math.Sqrt(of)) > 1e-5 {
			t.Errorf("n = %d: length %v, want 7 in the same direction", n, math.Sqrt(square))
		}
	}
	zero := make([]float32, 3)
	if SetNorm(zero, 2); !slices.Equal(zero, []float32{2, 0, 0}) {
		t.Errorf("zero vector became %v", zero)
	}
}
