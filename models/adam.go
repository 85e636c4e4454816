package models

import "math"

// Constants of Adam: Kingma & Ba 2015 with ε 1e-7, as in Keras.
const (
	adamBeta1   = 0.9
	adamBeta2   = 0.999
	adamEpsilon = 1e-7
)

// moments are Adam's running means of a gradient and of its square.
type moments struct{ mean, square []float32 }

func newMoments(n int) moments { return moments{mean: make([]float32, n), square: make([]float32, n)} }

// part are the moments of the numbers in [from, to).
func (m moments) part(from, to int) moments {
	return moments{mean: m.mean[from:to], square: m.square[from:to]}
}

// unbias holds the factors that make the moments of one step, counted from 1, unbiased.
type unbias struct{ mean, square float32 }

func newUnbias(step int) unbias {
	return unbias{mean: unbiased(adamBeta1, step), square: unbiased(adamBeta2, step)}
}

func unbiased(beta float64, step int) float32 {
	return float32(1 / (1 - math.Pow(beta, float64(step))))
}

// An adamStep is the step of Adam that all weights of a network make together.
type adamStep struct {
	rate   float32
	unbias unbias
}

// move moves weights (Kingma & Ba 2015, Algorithm 1) and zeroes the gradient: Gorgonia adds the next gradient to the
// stored one. Gorgonia's own solver does the same in a dozen passes and copies.
func (s adamStep) move(weights, gradient []float32, of moments) {
	mean := of.mean[:len(weights)]
	square := of.square[:len(weights)]
	for j, e := range gradient[:len(weights)] {
		mean[j] = adamBeta1*mean[j] + (1-adamBeta1)*e
		square[j] = adamBeta2*square[j] + (1-adamBeta2)*e*e
		weights[j] -= s.rate * (mean[j] * s.unbias.mean) /
			(float32(math.Sqrt(float64(square[j]*s.unbias.square))) + adamEpsilon)
	}
	clear(gradient)
}

// A mover moves the weights of one input of a graph.
type mover interface {
	move(s adamStep, gradient []float32)
}

// allWeights moves every number of a weight.
type allWeights struct {
	weights []float32
	moments moments
}

func (a *allWeights) move(s adamStep, gradient []float32) { s.move(a.weights, gradient, a.moments) }
