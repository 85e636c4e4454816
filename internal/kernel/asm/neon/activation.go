package main

import "math"

// The exponential is that of ../activation.go, operation for operation: range
// reduction x = n·ln2 + r, Taylor coefficients 1/2! … 1/7!.
const (
	log2e = 1.44269504088896340736
	ln2Hi = 0.693359375 // 9 significant bits: n·ln2Hi is exact
	ln2Lo = math.Ln2 - ln2Hi
)

// Registers that hold a constant in all places throughout a function.
const (
	cLog2e = 16 + v(iota)
	cLn2Hi
	cLn2Lo
	cTaylor // six: 1/7! … 1/2!
	_
	_
	_
	_
	_
	cOne
	cTwo
	cBias // of the exponent: the integer 127
	cSign
	cTanhLimit
	cUpper
	cLower
)

// constants is the table of those registers; upper is the largest exponent
// that the exponential takes.
func constants(upper float32) []uint32 {
	c := floats(log2e, ln2Hi, float32(ln2Lo), 1.0/5040, 1.0/720, 1.0/120, 1.0/24, 1.0/6, 0.5, 1, 2, 0, 0, 40, upper, -105)
	c[cBias-cLog2e] = 127
	c[cSign-cLog2e] = 1 << 31
	return c
}

// expConstants let the exponential overflow to +Inf; with activationConstants
// e^88 stays finite, so a sigmoid is never rounded to 0.
var (
	expConstants        = constants(89)
	activationConstants = constants(88)
)

func (a *assembler) loadConstants(words []uint32) {
	name := "activationConstants"
	if words[cUpper-cLog2e] == expConstants[cUpper-cLog2e] {
		name = "expConstants"
	}
	a.goes("MOVD $%s(SB), R20", a.table(name, words...))
	for c := cLog2e; c <= cLower; c++ {
		a.fillNext(c, 20)
	}
}

// expm1Parts reduces x (already clamped), in V0, to e^r − 1, in V0, and n, in
// V1. It uses V2 and V3.
func expm1Parts(a *assembler) {
	a.fmul(1, 0, cLog2e)
	a.frintn(1, 1)
	a.fmls(0, 1, cLn2Hi)
	a.fmls(0, 1, cLn2Lo)
	sum := cTaylor
	for i := range v(5) {
		next := 2 + i%2
		a.mov(next, cTaylor+1+i)
		a.fmla(next, sum, 0)
		sum = next
	}
	square := 5 - sum // the other one of V2 and V3
	a.fmul(square, 0, 0)
	a.fmla(0, sum, square) // r + q·r²
}

// powers makes 2^n, n an integer in V1, as the product of V2 and V1.
func powers(a *assembler) {
	a.fcvtns(1, 1)
	a.sshr(2, 1, 1)
	a.sub(1, 1, 2)
	for _, e := range []v{2, 1} {
		a.add(e, e, cBias)
		a.shl(e, e, 23)
	}
}

func expLane(a *assembler) {
	a.fmin(0, 0, cUpper)
	a.fmax(0, 0, cLower)
	expm1Parts(a)
	a.fadd(0, 0, cOne)
	powers(a)
	a.fmul(0, 0, 2)
	a.fmul(0, 0, 1)
}

func sigmoidLane(a *assembler) {
	a.fneg(0, 0)
	expLane(a)
	a.fadd(0, 0, cOne)
	a.fdiv(0, cOne, 0)
}

// tanhLane: |tanh x| = m/(m+2) with m = e^{2|x|} − 1, which keeps the relative
// error small near 0; the sign is put back.
func tanhLane(a *assembler) {
	const sign, power = v(4), v(5)
	a.and(sign, 0, cSign)
	a.fabs(0, 0)
	a.fadd(0, 0, 0)
	a.fmin(0, 0, cTanhLimit)
	expm1Parts(a)
	powers(a)
	a.fmul(0, 0, 2)
	a.fmul(0, 0, 1)
	a.fmul(power, 2, 1)
	a.fsub(power, power, cOne)
	a.fadd(0, 0, power)
	a.fadd(power, 0, cTwo)
	a.fdiv(0, 0, power)
	a.orr(0, 0, sign)
}
