package audit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

const (
	// Shells lie between these quantiles of the length of the noise: thin, so
	// that a density is nearly constant in them, and far apart.
	innerLow  = 0.09
	innerHigh = 0.11
	outerLow  = 0.89
	outerHigh = 0.91
	// coarse is the length of noise, in lengths of a word's vector, under which
	// the rounding of float32 (6e-8) could be taken for noise.
	coarse = 1e-4
)

// noise audits the noise itself. In many dimensions no set of words shows a
// noise that is some times too small: the shares of outputs of two near words
// differ by far less than ε·d allows. The density of the noise does. Where it
// depends on the length r alone, Pr[r ∈ S] = ∫ h(r)·r^(p−1) dr over a shell S
// (up to a constant), so the mean density in a shell is Pr[r ∈ S]/(b^p − a^p),
// and the claim bounds the ratio of these means of two shells a ≤ r ≤ b and
// c ≤ r ≤ d by e^{ε(d−a)}. Shells are chosen on one part of the samples and
// counted on another, with Clopper–Pearson bounds, which accuse sound noise with
// probability alpha at most. The finding is per unit of length; without an event
// nothing was seen.
func noise(ctx context.Context, m *mechanisms.VectorNoise, space *embeddings.Space, samples int, alpha float64,
	seed stream.Seed) (Finding, error) {
	f := Finding{
		A:        "noise",
		B:        "noise",
		Distance: 1,
	}
	word := embeddings.WordID(seed.Derive("word").Rand().IntN(space.Len()))
	p := space.Dimension
	x := space.Vector(word)
	z := make([]float64, p)
	length := func(noisy, of []float32) float64 {
		for j := range z {
			z[j] = float64(noisy[j]) - float64(of[j])
		}
		if m.Whiten != nil {
			m.Whiten(z)
		}
		sum := 0.0
		for _, v := range z {
			sum += v * v
		}
		return math.Sqrt(sum)
	}
	measure := func(purpose string, n int) (lengths []float64, err error) {
		rows := make([]float32, chunk*p)
		for c := 0; len(lengths) < n; c++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			size := min(chunk, n-len(lengths))
			m.Vectors(rows[:size*p], word, seed.Derive(purpose).At(uint64(c)).Rand())
			for i := range size {
				lengths = append(lengths, length(rows[i*p:], x))
			}
		}
		return lengths, nil
	}
	first, err := measure("explore", max(samples/4, 1000))
	if err != nil {
		return f, err
	}
	slices.Sort(first)
	at := func(q float64) float64 { return first[int(q*float64(len(first)-1))] }
	a := at(innerLow)
	b := at(innerHigh)
	c := at(outerLow)
	d := at(outerHigh)
	if a < coarse*length(x, make([]float32, p)) || d <= a {
		return f, nil
	}
	lengths, err := measure("test", samples)
	if err != nil {
		return f, err
	}
	inside := func(low, high float64) int {
		return list.Count(lengths, func(x float64) bool { return low < x && x <= high })
	}
	ratio := logRatio(inside(a, b), inside(c, d), samples, alpha)
	f.LogRatio = max(0, (ratio+logVolume(c, d, p)-logVolume(a, b, p))/(d-a))
	f.Event = fmt.Sprintf("length of the noise in (%.4g, %.4g] against (%.4g, %.4g]", a, b, c, d)
	return f, nil
}

// logVolume is ln(b^p − a^p), the volume of a shell up to a constant.
func logVolume(a, b float64, p int) float64 {
	n := float64(p)
	return n*math.Log(b) + math.Log(-math.Expm1(n*(math.Log(a)-math.Log(b))))
}
