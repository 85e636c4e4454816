package audit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

const (
	// directions is the number of half-spaces in which the symmetry of the noise
	// is tested.
	directions = 8
	// Shells lie between these quantiles of the length of the noise: thin, so
	// that a density is nearly constant in them, and far apart.
	innerLow, innerHigh, outerLow, outerHigh = 0.09, 0.11, 0.89, 0.91
	// coarse is the length of noise, in lengths of a word's vector, under which
	// the rounding of float32 (6e-8) could be taken for a direction of the noise.
	coarse = 1e-4
)

// NoiseReport is the audit of the noise of a mechanism with Noise.
type NoiseReport struct {
	Samples int
	// Lower is a lower bound on every ε for which the log-density of the noise
	// changes by at most ε for each unit of length, provided that it depends on
	// the length alone.
	Lower float64
	// Event names the lengths compared.
	Event string
	// Lopsided is a direction in which the noise is not symmetric, "" for none.
	Lopsided string
}

// wordOf is the word whose noise is audited.
func wordOf(space *embeddings.Space, seed stream.Seed) embeddings.WordID {
	return embeddings.WordID(seed.Derive("word").Rand().IntN(space.Len()))
}

// noise audits the noise itself. In many dimensions no set of words shows a
// noise that is some times too small: the shares of outputs of two near words
// differ by far less than ε·d allows. The density of the noise does. Where it
// depends on the length r alone, Pr[r ∈ S] = ∫ h(r)·r^(p−1) dr over a shell S
// (up to a constant), so the mean density in a shell is Pr[r ∈ S]/(b^p − a^p),
// and the claim bounds the ratio of these means of two shells a ≤ r ≤ b and
// c ≤ r ≤ d by e^{ε(d−a)}. Shells are chosen on one part of the samples and
// counted on another, with Clopper–Pearson bounds; that the noise has no
// preferred direction is tested on half-spaces. All tests together accuse sound
// noise with probability alpha at most.
func noise(ctx context.Context, m *mechanisms.Noise, space *embeddings.Space, samples int, alpha float64,
	seed stream.Seed) (NoiseReport, error) {
	r := NoiseReport{Samples: samples}
	p := space.Dimension
	axes := halfSpaces(p, seed.Derive("directions"))
	whiten := m.Whiten
	if whiten == nil {
		whiten = func([]float64) {}
	}
	scale := 0.0 // length of the longest vector seen, in the metric of the noise
	measure := func(purpose string, n int) (lengths []float64, above []int, err error) {
		above = make([]int, len(axes))
		rows, z := make([]float32, chunk*p), make([]float64, p)
		word := wordOf(space, seed)
		x := space.Vector(word)
		for j, v := range x {
			z[j] = float64(v)
		}
		whiten(z)
		scale = max(scale, math.Sqrt(dot(z, z)))
		for c := 0; len(lengths) < n; c++ {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			size := min(chunk, n-len(lengths))
			m.Vectors(rows[:size*p], word, seed.Derive(purpose).At(uint64(c)).Rand())
			for i := range size {
				for j := range z {
					z[j] = float64(rows[i*p+j]) - float64(x[j])
				}
				whiten(z)
				lengths = append(lengths, math.Sqrt(dot(z, z)))
				for k, axis := range axes {
					if dot(axis, z) > 0 {
						above[k]++
					}
				}
			}
		}
		return lengths, above, nil
	}
	first, _, err := measure("explore", max(samples/4, 1000))
	if err != nil {
		return r, err
	}
	slices.Sort(first)
	at := func(q float64) float64 { return first[int(q*float64(len(first)-1))] }
	a, b, c, d := at(innerLow), at(innerHigh), at(outerLow), at(outerHigh)
	if a < coarse*scale {
		r.Event = "none: the noise is lost in the rounding of float32 vectors"
		return r, nil
	}
	lengths, above, err := measure("test", samples)
	if err != nil {
		return r, err
	}
	level := alpha / float64(1+len(axes))
	for k, n := range above {
		half, err := stats.ClopperPearson(n, samples, 1-level)
		if err != nil {
			return r, err
		}
		if half.Low > 0.5 || half.High < 0.5 {
			r.Lopsided = fmt.Sprintf("half-space %d: %d of %d", k+1, n, samples)
		}
	}
	inside := func(low, high float64) int {
		return list.Count(lengths, func(x float64) bool { return low < x && x <= high })
	}
	ratio, err := logRatio(inside(a, b), inside(c, d), samples, level)
	if err != nil || !(d > a) {
		return r, err
	}
	volumes := logVolume(c, d, p) - logVolume(a, b, p)
	r.Lower = max(0, (ratio+volumes)/(d-a))
	r.Event = fmt.Sprintf("length of the noise in (%.4g, %.4g] against (%.4g, %.4g]", a, b, c, d)
	return r, nil
}

// logVolume is ln(b^p − a^p), the volume of a shell up to a constant.
func logVolume(a, b float64, p int) float64 {
	n := float64(p)
	return n*math.Log(b) + math.Log(-math.Expm1(n*(math.Log(a)-math.Log(b))))
}

// halfSpaces are the normals of half-spaces: the first coordinates, and random
// directions.
func halfSpaces(p int, seed stream.Seed) [][]float64 {
	rng := seed.Rand()
	axes := make([][]float64, directions)
	for k := range axes {
		axes[k] = make([]float64, p)
		if k < min(p, directions/2) {
			axes[k][k] = 1
			continue
		}
		for j := range axes[k] {
			axes[k][j] = rng.NormFloat64()
		}
	}
	return axes
}

func dot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}
