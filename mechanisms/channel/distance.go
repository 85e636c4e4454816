package channel

import (
	"context"
	"math"

	"mldpbench/internal/stats"
)

// partners is with how many others an input is compared for the mean distance.
const partners = 64

// meanDistance is the mean distance of two different inputs: of all pairs where
// there are few, else of every input and 64 others, spread evenly. It depends on
// the space alone.
func meanDistance(n int, distance func(a, b int) float64) float64 {
	k := min(partners, n-1)
	sum := 0.0
	for x := range n {
		for i := 1; i <= k; i++ {
			sum += distance(x, (x+i*n/(k+1))%n)
		}
	}
	return sum / float64(n*max(1, k))
}

// Distance is the mean distance of an input from the best guess, all
// inputs being equally likely, as a share of the mean distance of two inputs:
// E_M with a loss that counts a near guess as nearly right. 0 is always right,
// about 1 a random guess. One who wants to come near finds as much or more. Where the channel
// is known, it is exact, up to what outputs that no input can
// produce add, and takes one more pass over the rows of the channel and as many
// distances as it has probabilities. Else channel is nil, and it is measured on the draws
// that the decoder has not seen, with a 95% interval of the draws (normal); it is never
// above the distance of the output itself.
func (i Inference) Distance(ctx context.Context, channel *Channel, distance func(a, b int) float64,
	workers int) (stats.Interval, error) {
	best := i.Errors[0].Decoder
	if channel != nil {
		return best.distance(ctx, *channel, distance, workers)
	}
	d := best.sampledDistance(i.Fresh, distance)
	output := outputDecoder(Uniform(i.Fresh.inputs()), len(best.Guess))
	if read := output.sampledDistance(i.Fresh, distance); read.Estimate < d.Estimate {
		d = read
	}
	return d, nil
}

// distance is Distance where the channel is known.
func (d Decoder) distance(ctx context.Context, c Channel, distance func(a, b int) float64,
	workers int) (stats.Interval, error) {
	sums := make([]float64, Blocks)
	err := c.EachRow(ctx, workers, func(b, x int, row []float64) {
		named := make([]float64, c.Inputs) // probability of each guess
		for y, p := range row {
			if g := d.Guess[y]; g >= 0 {
				named[g] += p
			}
		}
		for g, p := range named {
			if p > 0 && g != x {
				sums[b] += p * distance(x, g)
			}
		}
	})
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return stats.Exactly(total / float64(c.Inputs) / meanDistance(c.Inputs, distance)), err
}

// normal95 is the 97.5% quantile of the normal law.
const normal95 = 1.959963984540054

// sampledDistance is Distance on draws.
func (d Decoder) sampledDistance(fresh Draws, distance func(a, b int) float64) stats.Interval {
	n := fresh.inputs()
	k := float64(fresh.PerInput)
	sum := 0.0
	variance := 0.0
	for x := range n {
		own := 0.0
		squares := 0.0
		for i := range fresh.PerInput {
			v := 0.0 // of one draw
			fresh.each(x*fresh.PerInput+i, func(y int32, p float64) {
				if g := int(d.Guess[y]); g >= 0 && g != x {
					v += float64(p * distance(x, g))
				}
			})
			own += v
			squares += v * v
		}
		sum += own / k
		if k > 1 {
			variance += max(0, squares-own*own/k) / (k - 1) / k
		}
	}
	blind := float64(n) * meanDistance(n, distance)
	v := sum / blind
	half := normal95 * math.Sqrt(variance) / blind
	return stats.Interval{
		Estimate: v,
		Low:      max(0, v-half),
		High:     v + half,
	}
}
