package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSquaredDistances32(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(17, 18))
		worst := 0.0
		for range 60 {
			depth, count, rows := 1+rng.IntN(130)*(1+rng.IntN(5)), rng.IntN(150), 1+rng.IntN(2*ProductRows)
			vectors, queries := random(rng, count*depth), random(rng, rows*depth)
			p := PackPanels(vectors, depth)
			norms := p.SquaredNorms()
			dst := make([]float32, rows*p.Stride())
			p.SquaredDistances32(dst, norms, queries)
			for r := range rows {
				q := queries[r*depth : (r+1)*depth]
				row := dst[r*p.Stride() : (r+1)*p.Stride()]
				offset := SquaredDistance(q, make([]float32, depth))
				for i, got := range row {
					if i >= count {
						if !math.IsInf(float64(got), 1) {
							t.Fatalf("place %d after %d vectors: %v, want +Inf", i, count, got)
						}
						continue
					}
					x := vectors[i*depth : (i+1)*depth]
					want := SquaredDistance(x, q)
					limit := SquaredDistanceError(depth, math.Sqrt(offset),
						math.Sqrt(SquaredDistance(x, make([]float32, depth))))
					err := math.Abs(float64(got+float32(offset)) - want)
					worst = max(worst, err/limit)
					if err > limit {
						t.Fatalf("depth %d, vector %d of %d: %v, want %v ± %v", depth, i, count, float64(got)+offset,
							want, limit)
					}
				}
			}
		}
		t.Logf("largest error: %.3f of the bound", worst)
	})
}

func TestWeightSum(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(19, 20))
		for range 200 {
			row := random(rng, rng.IntN(70))
			law := Law{Offset: 40 * rng.Float32(), Most: float32(math.Inf(1)), Least: rng.Float32(),
				Rate: 10 * rng.Float32()}
			if rng.IntN(2) == 0 {
				law.Most = 3 * rng.Float32()
			}
			want := 0.0
			for i := range row {
				if rng.IntN(9) == 0 {
					row[i] = float32(math.Inf(1))
					continue
				}
				d := min(math.Sqrt(max(0, float64(row[i])+float64(law.Offset))), float64(law.Most))
				want += math.Exp(float64(law.Rate) * (float64(law.Least) - d))
			}
			// s+Offset is rounded before the root is taken.
			limit := (WeightError(law) + float64(law.Rate)*math.Sqrt(50*0x1p-24)) * want
			if got := WeightSum(row, law); !(math.Abs(got-want) <= limit) {
				t.Fatalf("%+v over %d: %v, want %v ± %v", law, len(row), got, want, limit)
			}
		}
		if got := WeightSum([]float32{1e30, 1, 1, 1, 1, 1, 1, 1, 1e30},
			Law{Most: float32(math.Inf(1)), Least: 1, Rate: 1000}); got < 6.9999 || got > 7.0001 {
			t.Errorf("underflow: %v, want 7", got)
		}
	})
}
