package mechanisms

import "math/cmplx"

// lambertW is the principal branch W₀ of w·e^w = x for real x: real for
// x ≥ −1/e, one of a conjugate pair below (the one with positive imaginary
// part). Where |x| is large, Newton's iteration on w + ln w = ln x cannot
// overflow; near the branch point −1/e and near 0, Halley's iteration starts
// from the series there (Corless et al. 1996, §4).
func lambertW(x float64) complex128 {
	const e = 2.718281828459045
	z := complex(x, 0)
	near := e*x + 1 // 0 at the branch point
	if x >= 3 || near <= -0.5 {
		l := cmplx.Log(z)
		w := l - cmplx.Log(l)
		return iterate(x, w, func(w complex128) complex128 {
			return w * (w + cmplx.Log(w) - l) / (w + 1)
		})
	}
	w := cmplx.Log(1 + z)
	if near < 0.5 {
		p := cmplx.Sqrt(complex(2*near, 0))
		w = -1 + p - p*p/3 + 11.0/72*p*p*p
	}
	if w == -1 {
		return -1
	}
	return iterate(x, w, func(w complex128) complex128 {
		ew := cmplx.Exp(w)
		f := w*ew - z
		return f / (ew*(w+1) - (w+2)*f/(2*w+2))
	})
}

// iterate subtracts steps until they no longer change the value in float64.
func iterate(x float64, w complex128, step func(complex128) complex128) complex128 {
	for range 100 {
		s := step(w)
		w -= s
		if cmplx.Abs(s) <= 1e-16*cmplx.Abs(w) {
			break
		}
	}
	if x >= -0.36787944117144233 { // −1/e
		return complex(real(w), 0)
	}
	return w
}
