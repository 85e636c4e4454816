package metrics

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
)

// DocumentLoss is the distribution of the privacy loss ln P(y|a)/P(y|b) of a
// text y that was released from the document a and might come from b, where
// words are replaced one by one: the loss is a sum of independent losses, one a
// position, so its distribution is their convolution.
//
// Losses are rounded up to multiples of Step, and masses of at most 1e-12 of a
// position are moved up too, so Epsilon is never too small, and too large by at
// most Slack (but for that mass).
type DocumentLoss struct {
	Step  float64
	Slack float64
	// Worst is the largest loss of any text: the ε of the two documents at δ = 0;
	// +Inf where b cannot give some text that a can.
	Worst    float64
	first    int       // of mass, in steps
	mass     []float64 // by loss, from first on
	infinite float64   // of texts that b cannot give
}

// A document's loss has about binsPerPosition bins a position, a power of two, up
// to mostBins, so that rounding adds a thousandth of the range of losses.
const (
	binsPerPosition = 1000
	mostBins        = 1 << 16
)

// negligible is the mass of a position that may be moved to a greater loss.
const negligible = 1e-12

// NewDocumentLoss computes the distribution from ln P(·|a) and ln P(·|b) of each
// position over all outputs, −Inf where an output is impossible. There may be at most
// 16,384 positions.
func NewDocumentLoss(ofA, ofB [][]float64) (*DocumentLoss, error) {
	n := len(ofA)
	if n > mostBins/4 {
		return nil, fmt.Errorf("document loss: %d positions: must be 0 to %d", n, mostBins/4)
	}
	d := &DocumentLoss{}
	var positions []positionLoss
	span := 0.0
	for i, b := range ofB {
		p := newPositionLoss(ofA[i], b)
		d.Worst += p.worst
		d.infinite += (1 - d.infinite) * min(1, p.infinite)
		if len(p.losses) > 0 {
			p.least = moveUp(p.losses, p.masses)
			span += slices.Max(p.losses) - p.least
			positions = append(positions, p)
		}
	}
	bins := min(mostBins, 1<<bits.Len(uint(binsPerPosition*(n+1))))
	d.Step = max(span/float64(bins-2*n-2), 1e-9)
	d.Slack = float64(n+1) * d.Step
	d.convolve(positions, bins)
	return d, nil
}

// positionLoss is the distribution of the loss of one position.
type positionLoss struct {
	losses, masses []float64 // by output that both words can give
	least          float64   // of losses
	worst          float64   // of losses, +Inf where b cannot give an output that a can
	infinite       float64   // mass of the outputs that b cannot give
}

// newPositionLoss is that of natural logarithms of probabilities of all outputs.
func newPositionLoss(a, b []float64) positionLoss {
	p := positionLoss{worst: math.Inf(-1)}
	for y, la := range a {
		mass := math.Exp(la)
		switch {
		case math.IsInf(la, -1):
		case math.IsInf(b[y], -1):
			p.infinite += mass
			p.worst = math.Inf(1)
		default:
			p.worst = max(p.worst, la-b[y])
			p.losses = append(p.losses, la-b[y])
			p.masses = append(p.masses, mass)
		}
	}
	return p
}

// convolve makes the distribution of the sum of the losses of positions, in steps: by the product of the Fourier
// transforms of their distributions.
func (d *DocumentLoss) convolve(positions []positionLoss, bins int) {
	if len(positions) == 0 {
		return
	}
	fft := fourier.NewFFT(bins)
	var product []complex128
	for _, p := range positions {
		start := int(math.Floor(p.least / d.Step))
		d.first += start
		mass := make([]float64, bins)
		for i, l := range p.losses {
			mass[int(math.Ceil(l/d.Step))-start] += p.masses[i]
		}
		c := fft.Coefficients(nil, mass)
		if product == nil {
			product = c
			continue
		}
		for k := range product {
			product[k] *= c[k]
		}
	}
	d.mass = fft.Sequence(nil, product)
	for k := range d.mass {
		d.mass[k] = max(0, d.mass[k]/float64(bins)) // rounding leaves some below 0
	}
}

// moveUp moves the negligible mass of the least losses to the least one that is
// kept, which it returns. That narrows the range of the sum.
func moveUp(losses, masses []float64) float64 {
	// The least loss below which no more than the negligible mass lies, by
	// bisection between the extremes.
	lo := slices.Min(losses)
	hi := slices.Max(losses)
	for range bits.UintSize {
		mid := lo + (hi-lo)/2
		below := 0.0
		for i, l := range losses {
			if l < mid {
				below += masses[i]
			}
		}
		if below <= negligible {
			lo = mid
		} else {
			hi = mid
		}
	}
	for i, l := range losses {
		losses[i] = max(l, lo)
	}
	return lo
}

// Epsilon is the ε of the two documents at δ: the least with P(y ∈ S|a) ≤
// e^ε·P(y ∈ S|b) + δ for every set S of texts; +Inf where there is none.
func (d *DocumentLoss) Epsilon(delta float64) float64 {
	if d.infinite > delta {
		return math.Inf(1)
	}
	// δ(ε) = P(infinite) + Σ_{l > ε} P(l)·(1 − e^{ε−l}), from the greatest ε down.
	shrink := math.Exp(-d.Step)
	above := 0.0   // Σ P(l)
	weighed := 0.0 // Σ P(l)·e^{ε−l}
	for k := len(d.mass) - 1; k >= 0; k-- {
		if d.infinite+above-weighed > delta {
			return max(0, float64(d.first+k+1)*d.Step)
		}
		above += d.mass[k]
		weighed = (weighed + d.mass[k]) * shrink
	}
	return max(0, float64(d.first)*d.Step)
}
