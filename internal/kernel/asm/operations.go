package main

import (
	"fmt"
	"math"
	"strings"
)

// An op is a vector instruction by its names, and the shape of NEON's registers.
type op struct{ amd64, neon, shape string }

// Of two sources. min and max keep a NaN of the second on all sets.
var (
	add     = op{"VADDPS", "fadd", "4s"}
	sub     = op{"VSUBPS", "fsub", "4s"}
	mul     = op{"VMULPS", "fmul", "4s"}
	div     = op{"VDIVPS", "fdiv", "4s"}
	least   = op{"VMINPS", "fmin", "4s"}
	most    = op{"VMAXPS", "fmax", "4s"}
	and     = op{"VANDPS", "and", "16b"}
	or      = op{"VORPS", "orr", "16b"}
	xor     = op{"VXORPS", "eor", "16b"}
	addInt  = op{"VPADDD", "add", "4s"}
	subInt  = op{"VPSUBD", "sub", "4s"}
	add64   = op{"VADDPD", "fadd", "2d"}
	sub64   = op{"VSUBPD", "fsub", "2d"}
	mul64   = op{"VMULPD", "fmul", "2d"}
	evens64 = op{"VUNPCKLPD", "zip1", "2d"} // of each 128 bits
	odds64  = op{"VUNPCKHPD", "zip2", "2d"}
)

// Of two sources that are multiplied and added to the destination or taken
// from it, rounded once.
var (
	fma   = op{"VFMADD231PS", "fmla", "4s"}
	fnma  = op{"VFNMADD231PS", "fmls", "4s"}
	fma64 = op{"VFMADD231PD", "fmla", "2d"}
)

// Of one source.
var (
	sqrt    = op{"VSQRTPS", "fsqrt", "4s"}
	sqrt64  = op{"VSQRTPD", "fsqrt", "2d"}
	toInt   = op{"VCVTPS2DQ", "fcvtns", "4s"} // to nearest even
	toFloat = op{"VCVTDQ2PS", "scvtf", "4s"}
)

// either writes a vector instruction by its format on amd64 or on arm64.
func (f *function) either(amd64, neon string, args ...any) {
	if f.neon() {
		amd64 = neon
	}
	f.word(amd64, args...)
}

// into writes o of x and y, a register or an address, to d.
func (f *function) into(d reg, o op, x reg, y any) {
	if !f.neon() {
		f.word(o.amd64+" %v, %v, %v", y, x, d)
		return
	}
	if m, ok := y.(mem); ok {
		y = f.load(m)
	}
	f.word(fmt.Sprintf("%s %%v.%[2]s, %%v.%[2]s, %%v.%[2]s", o.neon, o.shape), d, x, y)
}

func (f *function) of(o op, x reg, y any) reg {
	d := f.vector()
	f.into(d, o, x, y)
	return d
}

func (f *function) one(o op, x reg) reg {
	d := f.vector()
	f.either(o.amd64+" %[2]v, %[1]v", fmt.Sprintf("%s %%v.%[2]s, %%v.%[2]s", o.neon, o.shape), d, x)
	return d
}

// horner returns p·x + c, rounded once.
func (f *function) horner(p, x reg, c any) reg {
	if !f.neon() {
		f.word("VFMADD213PS %v, %v, %v", c, x, p)
		return p
	}
	sum := f.copy(c.(reg))
	f.into(sum, fma, p, x)
	return sum
}

func (f *function) copy(x reg) reg {
	d := f.vector()
	f.either("VMOVAPS %[2]v, %[1]v", "mov %v.16b, %v.16b", d, x)
	return d
}

func (f *function) zero() reg {
	d := f.vector()
	f.either("VXORPS %[1]v, %[1]v, %[1]v", "movi %v.2d, #0", d)
	return d
}

func (f *function) zeros(n int) []reg {
	list := make([]reg, n)
	for i := range list {
		list[i] = f.zero()
	}
	return list
}

// without returns the bits of x that bits has not.
func (f *function) without(bits reg, x reg) reg {
	d := f.vector()
	f.either("VANDNPS %[2]v, %[3]v, %[1]v", "bic %v.16b, %v.16b, %v.16b", d, x, bits)
	return d
}

// constant returns c in all places: on amd64 an address, on arm64 a register
// that is filled when the function begins.
func (f *function) constant(c uint32) any {
	if !f.neon() {
		words := make([]uint32, 16)
		for i := range words {
			words[i] = c
		}
		return f.table(fmt.Sprintf("all_%08x", c), words...)
	}
	for i, other := range f.constants {
		if other == c {
			return f.constantRegs[i]
		}
	}
	f.constants = append(f.constants, c)
	f.constantRegs = append(f.constantRegs, f.vector())
	return f.constantRegs[len(f.constants)-1]
}

func (f *function) number(x float32) any { return f.constant(math.Float32bits(x)) }

// filled is a constant as a register.
func (f *function) filled(c uint32) reg {
	switch x := f.constant(c).(type) {
	case mem:
		return f.load(x)
	default:
		return x.(reg)
	}
}

func (f *function) all(x float32) reg { return f.filled(math.Float32bits(x)) }

func (f *function) loadConstants() {
	body := f.lines
	f.lines = nil
	from := f.general()
	name, _, _ := strings.Cut(f.signature, "(")
	f.goes("MOVD $%v, %v", f.table(name+"_constants", f.constants...), from)
	for _, c := range f.constantRegs {
		f.word("ld1r {%v.4s}, [%v], #4", c, from)
	}
	f.lines = append(f.lines, body...)
}

// load reads a register of numbers, of which the mask, where there is one, leaves
// out some.
func (f *function) load(from mem) reg {
	x := f.vector()
	switch {
	case f.neon():
		f.move("ld", x, from)
	case f.mask.id == 0:
		f.word("VMOVUPS %v, %v", from, x)
	case f.lanes == 16:
		f.word("VMOVUPS.Z %v, %v, %v", from, f.mask, x)
	default:
		f.word("VMASKMOVPS %v, %v, %v", from, f.mask, x)
	}
	return x
}

func (f *function) store(x reg, to mem) {
	switch {
	case f.neon():
		f.move("st", x, to)
	case f.mask.id == 0:
		f.word("VMOVUPS %v, %v", x, to)
	case f.lanes == 16:
		f.word("VMOVUPS %v, %v, %v", x, f.mask, to)
	default:
		f.word("VMASKMOVPS %v, %v, %v", x, f.mask, to)
	}
}

// move writes a load or store of arm64: one of two registers where the last line is
// that of the place before.
func (f *function) move(name string, x reg, to mem) {
	l := &f.lines[len(f.lines)-1]
	if l.format == name+"r %v, %v" && l.args[1] == to.offset(-16) {
		l.format = name + "p %v, %v, %v"
		l.args = []any{l.args[0], x.as("q"), l.args[1]}
		return
	}
	f.word(name+"r %v, %v", x.as("q"), to)
}

// fill reads one number into all places.
func (f *function) fill(from mem) reg {
	x := f.vector()
	if f.neon() {
		f.word("ldr %v, %v", x.as("s"), from)
		f.word("dup %v.4s, %v.s[0]", x, x)
	} else {
		f.word("VBROADCASTSS %v, %v", from, x)
	}
	return x
}

// load64 reads numbers as n registers of float64.
func (f *function) load64(from mem, n int) []reg {
	list := make([]reg, n)
	for i := range list {
		list[i] = f.vector()
		switch {
		case !f.neon():
			f.word("VCVTPS2PD %v, %v", from.offset(2*f.lanes*i), list[i])
		case n == 1:
			f.word("ldr %v, %v", list[i].as("d"), from)
			f.word("fcvtl %v.2d, %v.2s", list[i], list[i])
		case i%2 == 1:
			x := f.load(from.offset(8 * (i - 1)))
			f.word("fcvtl %v.2d, %v.2s", list[i-1], x)
			f.word("fcvtl2 %v.2d, %v.4s", list[i], x)
		}
	}
	return list
}

// widened returns the float64 of the lower and the upper numbers of x.
func (f *function) widened(x reg) [2]reg {
	low := f.vector()
	high := f.vector()
	switch {
	case f.neon():
		f.word("fcvtl %v.2d, %v.2s", low, x)
		f.word("fcvtl2 %v.2d, %v.4s", high, x)
		return [2]reg{low, high}
	case f.lanes == 16:
		f.word("VCVTPS2PD %v, %v", x.as("Y"), low)
		f.word("VEXTRACTF64X4 $1, %v, %v", x, high.as("Y"))
		f.word("VCVTPS2PD %v, %v", high.as("Y"), high)
	default:
		f.word("VCVTPS2PD %v, %v", x.as("X"), low)
		f.word("VEXTRACTF128 $1, %v, %v", x, high.as("X"))
		f.word("VCVTPS2PD %v, %v", high.as("X"), high)
	}
	return [2]reg{low, high}
}

// return64 returns the sum of the float64 of registers.
func (f *function) return64(x ...reg) {
	for ; len(x) > 1; x = x[1:] {
		x = append(x, f.of(add64, x[0], x[1]))[1:]
	}
	if f.neon() {
		f.word("faddp %v, %v.2d", x[0].as("d"), x[0])
		f.goes("FMOVD %v, %v", x[0].as("F"), f.argument("ret"))
		f.goes("RET")
		return
	}
	y := x[0].as("Y")
	high := f.vector()
	if f.lanes == 16 {
		f.word("VEXTRACTF64X4 $1, %v, %v", x[0], high.as("Y"))
		f.word("VADDPD %v, %v, %v", high.as("Y"), y, y)
	}
	f.word("VEXTRACTF128 $1, %v, %v", y, high.as("X"))
	f.word("VADDPD %v, %v, %v", y.as("X"), high.as("X"), y.as("X"))
	f.word("VPERMILPD $1, %v, %v", y.as("X"), high.as("X"))
	f.word("VADDPD %v, %v, %v", y.as("X"), high.as("X"), y.as("X"))
	f.goes("MOVSD %v, %v", y.as("X"), f.argument("ret"))
	f.returns()
}

func (f *function) returns() {
	if !f.neon() {
		f.goes("VZEROUPPER")
	}
	f.goes("RET")
}

// neonInstructions are those on general registers by their names on amd64.
var neonInstructions = map[string]string{
	"ADDQ": "ADD", "SUBQ": "SUBS", "IMULQ": "MUL", "XORQ": "EOR", "SHLQ": "LSL", "SARQ": "ASR", "MOVQ": "MOVD",
	"MOVL": "MOVW", "MOVLQSX": "MOVW", "MOVLQZX": "MOVWU", "JNE": "BNE", "JLT": "BLT", "JGE": "BGE", "JMP": "B",
}

// do writes an instruction on general registers, of a number, a register or an
// address; SUBQ sets the conditions of branches.
func (f *function) do(name string, x any, to any) {
	format := name + " %v, %v"
	if n, ok := x.(int); ok {
		x = fmt.Sprintf("$%d", n)
	}
	if f.neon() {
		format = neonInstructions[name] + " %v, %v"
		if m, ok := x.(mem); ok && name[:3] != "MOV" {
			x = f.read(m)
		}
	}
	f.goes(format, x, to)
}

func (f *function) jump(name, label string) {
	if f.neon() {
		name = neonInstructions[name]
	}
	f.branch(name, label)
}

// jumpZero jumps if x is 0.
func (f *function) jumpZero(x reg, label string) {
	if f.neon() {
		f.branch("CBZ", label, x)
		return
	}
	f.goes("TESTQ %v, %v", x, x)
	f.branch("JEQ", label)
}

// count takes by from n and jumps unless that made it 0.
func (f *function) count(n reg, by int, label string) {
	f.do("SUBQ", by, n)
	f.jump("JNE", label)
}

func (f *function) argument(name string) mem {
	offset, ok := f.arguments[name]
	if !ok {
		panic(f.signature + ": no argument " + name)
	}
	return mem{symbol: name + "+%d(FP)", disp: offset}
}

// read returns 64 bits of an address, value an argument.
func (f *function) read(from mem) reg {
	x := f.general()
	f.do("MOVQ", from, x)
	return x
}

func (f *function) value(name string) reg { return f.read(f.argument(name)) }
