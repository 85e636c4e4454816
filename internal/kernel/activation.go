package kernel

import "math"

// sigmoid and tanh are the specification of the activations of LSTM cells:
// float64 arithmetic, rounded once. The assembly is within 3 ulp of 1/(1+e^−x)
// for x ≥ −87, within 2·10⁻³⁸ below, and within 4 ulp of tanh; NaN stays NaN.
func sigmoid(dst, src []float32) {
	for i, x := range src {
		dst[i] = float32(1 / (1 + math.Exp(-float64(x))))
	}
}

func tanh(dst, src []float32) {
	for i, x := range src {
		dst[i] = float32(math.Tanh(float64(x)))
	}
}
