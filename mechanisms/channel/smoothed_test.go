package channel

import (
	"math"
	"testing"

	"mldpbench/stream"
)

// On a line of words, of which every second is never an output, of few draws the smoothed
// channel is nearer to the law than the shares of outputs, also without distances.
func TestSmoothed(t *testing.T) {
	const n, draws = 60, 20
	distances := func(x int) []float64 {
		d := make([]float64, n)
		for y := range d {
			d[y] = math.Abs(float64(x - y))
		}
		return d
	}
	law := func(x int) []float64 {
		p, sum := make([]float64, n), 0.0
		for y, d := range distances(x) {
			if y%2 == 0 || y == x {
				p[y] = math.Exp(-d / 3)
				sum += p[y]
			}
		}
		for y := range p {
			p[y] /= sum
		}
		return p
	}
	rng := stream.FromUint64(1).Rand()
	d := Draws{PerInput: draws}
	for x := range n {
		for range draws {
			u, y, p := rng.Float64(), 0, law(x)
			for ; y < n-1 && u >= p[y]; y++ {
				u -= p[y]
			}
			d.Outputs = append(d.Outputs, int32(y))
		}
	}
	surprise := func(c Channel) (sum float64) { // in nats a word, beyond that of the law
		for x := range n {
			row, err := c.Row(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			total := 0.0
			for y, p := range law(x) {
				total += row[y]
				if p > 0 {
					sum += p * math.Log(p/row[y]) / n
				}
			}
			if math.Abs(total-1) > 1e-9 {
				t.Fatalf("word %d: probabilities sum to %v", x, total)
			}
		}
		return sum
	}
	near, err := Smoothed(d, n, distances)
	if err != nil {
		t.Fatal(err)
	}
	alike, err := Smoothed(d, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := surprise(near), surprise(alike), surprise(shares(d, n))
	t.Logf("%.3f nats from the law with distances, %.3f without, %.3f by shares", a, b, c)
	if !(a < 0.8*b && b < 0.8*c) {
		t.Errorf("%.3f nats from the law with distances, %.3f without, %.3f by shares", a, b, c)
	}
	d.Outputs[0] = n
	if _, err := Smoothed(d, n, nil); err == nil {
		t.Error("an output that is no word must be an error")
	}
}
