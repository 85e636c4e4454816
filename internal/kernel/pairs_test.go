package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPanels(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(13, 14))
		for trial := range 100 {
			depth, count := 1+rng.IntN(70), rng.IntN(150)
			vectors := random(rng, count*depth)
			p := PackPanels(vectors, depth)
			if p.Stride() < count {
				t.Fatalf("stride %d for %d vectors", p.Stride(), count)
			}
			var queries [][]float32
			for range 1 + trial%PairRows {
				queries = append(queries, random(rng, depth))
			}
			if count > 0 {
				queries[0] = vectors[:depth] // a distance of 0
			}
			distances := make([]float64, PairRows*p.Stride())
			products := make([]float64, PairRows*p.Stride())
			p.Distances(distances, queries...)
			p.InnerProducts(products, queries...)
			for r, q := range queries {
				for i := range count {
					var square, product float64
					for j, x := range vectors[i*depth : (i+1)*depth] {
						d := float64(x) - float64(q[j])
						square += float64(d * d)
						product += float64(float64(x) * float64(q[j]))
					}
					at := r*p.Stride() + i
					if distances[at] != math.Sqrt(square) || products[at] != product {
						t.Fatalf("depth %d, vector %d of %d, query %d: distance %v, product %v; want exactly %v, %v",
							depth, i, count, r, distances[at], products[at], math.Sqrt(square), product)
					}
				}
			}
		}
	})
}

func TestWrongShapesPanic(t *testing.T) {
	p := PackPanels(make([]float32, 12), 3)
	room, query := make([]float64, PairRows*p.Stride()), make([]float32, 3)
	for name, f := range map[string]func(){
		"rows":       func() { PackPanels(make([]float32, 11), 3) },
		"no query":   func() { p.Distances(room) },
		"many":       func() { p.Distances(room, query, query, query, query, query) },
		"short":      func() { p.InnerProducts(room, query[:2]) },
		"small room": func() { p.Distances(room[1:], query) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			f()
		})
	}
}
