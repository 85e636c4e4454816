package main

import "math"

// constants of the exponential, after range reduction x = n·ln2 + r with
// |r| ≤ ln2/2. Polynomial: Taylor coefficients 1/2! … 1/7!, whose remainder
// r⁸/8! is below 2⁻²⁷ of the result.
const (
	log2e = 1.44269504088896340736
	ln2Hi = 0.693359375 // 9 significant bits: n·ln2Hi is exact
	ln2Lo = math.Ln2 - ln2Hi
)

var inverseFactorials = []float32{1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5}

const signBit = 1 << 31

// expm1Parts reduces x (already clamped) to n and e^r − 1.
func (f *function) expm1Parts(x reg) (n, p reg) {
	n = f.of(mul, x, f.number(log2e))
	switch f.lanes { // to nearest even, no exception
	case 16:
		f.word("VRNDSCALEPS $8, %v, %v", n, n)
	case 8:
		f.word("VROUNDPS $8, %v, %v", n, n)
	default:
		f.word("frintn %v.4s, %v.4s", n, n)
	}
	r := f.copy(x)
	f.into(r, fnma, n, f.number(ln2Hi))
	f.into(r, fnma, n, f.number(float32(ln2Lo)))
	p = f.all(inverseFactorials[0])
	for _, c := range inverseFactorials[1:] {
		p = f.horner(p, r, f.number(c))
	}
	return n, f.horner(p, f.of(mul, r, r), r) // r²·q + r
}

// scale multiplies p by 2^n for an integer n in [−252, 252], rounded once: of
// the two steps without an instruction for it the first is exact.
func (f *function) scale(p, n reg) reg {
	if f.lanes == 16 {
		f.word("VSCALEFPS %v, %v, %v", n, p, p)
		return p
	}
	i := f.one(toInt, n)
	half := f.shifted(i, "VPSRAD", "sshr", 1)
	for _, e := range []reg{half, f.of(subInt, i, half)} {
		e = f.of(addInt, e, f.constant(127))
		p = f.of(mul, p, f.shifted(e, "VPSLLD", "shl", 23))
	}
	return p
}

func (f *function) shifted(x reg, amd64, neon string, bits int) reg {
	d := f.vector()
	f.either(amd64+" $%[3]v, %[2]v, %[1]v", neon+" %v.4s, %v.4s, #%v", d, x, bits)
	return d
}

// exp is e^x for x ≤ 89.
func (f *function) exp(x reg) reg {
	n, p := f.expm1Parts(f.of(most, f.all(-105), x))
	return f.scale(f.of(add, p, f.number(1)), n)
}

func (f *function) sigmoid(x reg) reg {
	x = f.of(xor, x, f.constant(signBit))
	x = f.of(least, f.all(88), x) // e^88 is finite: the result is never rounded to 0
	e := f.of(add, f.exp(x), f.number(1))
	return f.of(div, f.all(1), e)
}

// tanh: |tanh x| = m/(m+2) with m = e^{2|x|} − 1, which keeps the relative
// error small near 0; the sign is put back.
func (f *function) tanh(x reg) reg {
	bit := f.filled(signBit)
	sign := f.of(and, bit, x)
	size := f.without(bit, x)
	size = f.of(least, f.all(40), f.of(add, size, size)) // tanh 20 rounds to 1
	n, p := f.expm1Parts(size)
	power := f.scale(f.all(1), n)
	p = f.horner(p, power, f.of(sub, power, f.number(1))) // the product is exact
	return f.of(or, f.of(div, p, f.of(add, p, f.number(2))), sign)
}
