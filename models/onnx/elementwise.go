package onnx

import (
	"math"
	"slices"

	"mldpbench/internal/kernel"
)

// group is a chain of elementwise operations on float32 that are done row by
// row, so that intermediate results stay in the first cache.
type group struct {
	steps []step
	// numbers of constants
	constants []float32
}

// step is one operation of a group: a ∘ b, or f(a).
type step struct {
	operation kernel.Operation
	f         func(dst, src []float32)
	a, b      operand
}

// operand is an input of the group, a constant or an earlier step.
type operand struct {
	kind  operandKind
	index int
}

type operandKind int

const (
	fromInput operandKind = iota
	fromConstant
	fromStep
)

// apply appends f(a), and combine a ∘ b; number is a constant.
func (g *group) apply(f func(dst, src []float32), a operand) operand {
	g.steps = append(g.steps, step{f: f, a: a})
	return operand{fromStep, len(g.steps) - 1}
}

func (g *group) combine(o kernel.Operation, a, b operand) operand {
	g.steps = append(g.steps, step{operation: o, a: a, b: b})
	return operand{fromStep, len(g.steps) - 1}
}

func (g *group) number(x float32) operand {
	g.constants = append(g.constants, x)
	return operand{fromConstant, len(g.constants) - 1}
}

// functions are those of one operand.
var functions = map[string]func(dst, src []float32){
	"Exp": kernel.Exp, "Tanh": kernel.Tanh, "Sigmoid": kernel.Sigmoid, "Erf": kernel.Erf,
	"Sqrt": each(math.Sqrt),
	"Log":  each(math.Log),
	"Abs":  each(math.Abs),
	"Sin":  each(math.Sin),
	"Cos":  each(math.Cos),
}

func each(f func(float64) float64) func(dst, src []float32) {
	return func(dst, src []float32) {
		for i, x := range src {
			dst[i] = float32(f(float64(x)))
		}
	}
}

var combinations = map[string]kernel.Operation{"Add": kernel.Add, "Sub": kernel.Subtract, "Mul": kernel.Multiply,
	"Div": kernel.Divide, "Max": kernel.Larger, "Min": kernel.Smaller, "Sum": kernel.Add}

// elementwiseOps lists all operations that append can do.
var elementwiseOps = func() map[string]bool {
	ops := map[string]bool{"Neg": true, "Relu": true, "Reciprocal": true, "Pow": true, "Clip": true, "Gelu": true}
	for name := range functions {
		ops[name] = true
	}
	for name := range combinations {
		ops[name] = true
	}
	return ops
}()

// append adds the steps of a node to a group. constant returns the numbers of
// an operand that is a constant scalar. The result is false where the node has
// no form in steps.
func (g *group) append(n *node, args []operand, constant func(i int) (float32, bool)) (operand, bool) {
	if len(args) == 0 {
		return operand{}, false
	}
	x := args[0]
	if f, ok := functions[n.op]; ok {
		return g.apply(f, x), true
	}
	if o, ok := combinations[n.op]; ok {
		for _, y := range args[1:] {
			x = g.combine(o, x, y)
		}
		if len(args) == 1 {
			x = g.combine(kernel.Multiply, x, g.number(1))
		}
		return x, true
	}
	switch n.op {
	case "Neg":
		return g.combine(kernel.Multiply, x, g.number(-1)), true
	case "Relu":
		return g.combine(kernel.Larger, x, g.number(0)), true
	case "Reciprocal":
		return g.combine(kernel.Divide, g.number(1), x), true
	case "Pow":
		return g.power(x, constant)
	case "Clip":
		low, high := n.float("min", float32(math.Inf(-1))), n.float("max", float32(math.Inf(1)))
		for i, bound := range []*float32{&low, &high} {
			if i+1 < len(n.in) && n.in[i+1] != "" {
				var ok bool
				if *bound, ok = constant(i + 1); !ok {
					return x, false
				}
			}
		}
		return g.combine(kernel.Smaller, g.combine(kernel.Larger, x, g.number(low)), g.number(high)), true
	case "Gelu":
		return g.gelu(x, n.attrs["approximate"].s == "tanh"), true
	}
	return x, false
}

func (g *group) power(x operand, constant func(i int) (float32, bool)) (operand, bool) {
	switch e, ok := constant(1); {
	case !ok:
		return x, false
	case e == 2:
		return g.combine(kernel.Multiply, x, x), true
	case e == 3:
		return g.combine(kernel.Multiply, g.combine(kernel.Multiply, x, x), x), true
	case e == 0.5:
		return g.apply(functions["Sqrt"], x), true
	default:
		return g.apply(each(func(v float64) float64 { return math.Pow(v, float64(e)) }), x), true
	}
}

// gelu is x·Φ(x), Hendrycks & Gimpel 2016, exactly or by their tanh.
func (g *group) gelu(x operand, tanh bool) operand {
	multiply := func(a, b operand) operand { return g.combine(kernel.Multiply, a, b) }
	var inner operand
	if tanh {
		cube := multiply(multiply(multiply(x, x), x), g.number(0.044715))
		inner = g.apply(kernel.Tanh, multiply(g.combine(kernel.Add, x, cube), g.number(float32(math.Sqrt(2/math.Pi)))))
	} else {
		inner = g.apply(kernel.Erf, multiply(x, g.number(math.Sqrt2/2)))
	}
	return multiply(multiply(x, g.number(0.5)), g.combine(kernel.Add, inner, g.number(1)))
}

// blockLength is how many numbers a group takes at a time.
const blockLength = 512

func runGroup(r *run, n *node, in []*Tensor) []*Tensor {
	return []*Tensor{r.group(n, n.prepared.(*group), in)}
}

// group runs the steps over the common shape of the inputs.
func (r *run) group(n *node, g *group, in []*Tensor) *Tensor {
	shapes := make([][]int, len(in))
	for i, t := range in {
		if t.Type != Float {
			fail("operand %d is of type %v: must be float", i, t.Type)
		}
		shapes[i] = t.Shape
	}
	shape := broadcast(shapes...)
	var out *Tensor
	for i, t := range in {
		if slices.Equal(t.Shape, shape) && r.reusable(n, in, i) {
			out = &Tensor{Type: Float, Shape: shape, F: t.F, owner: t.owner}
			break
		}
	}
	if out == nil {
		out = r.make(Float, shape...)
	}
	strides := [][]int{denseStrides(shape)}
	for _, t := range in {
		strides = append(strides, t.stretched(shape))
	}
	dims, strides := collapse(shape, strides...)
	last := len(dims) - 1
	for len(r.steps) < len(g.steps)+len(in) {
		r.steps = append(r.steps, make([]float32, blockLength))
	}
	rows := make([][]float32, len(in))
	results := make([][]float32, len(g.steps))
	get := func(o operand) []float32 {
		switch o.kind {
		case fromInput:
			return rows[o.index]
		case fromConstant:
			return g.constants[o.index : o.index+1]
		default:
			return results[o.index]
		}
	}
	eachRow(dims, strides, func(offsets []int) {
		for at := 0; at < dims[last]; at += blockLength {
			length := min(blockLength, dims[last]-at)
			for i, t := range in {
				rows[i] = t.row(offsets[i+1], strides[i+1][last], at, length, r.steps[len(g.steps)+i])
			}
			for k, s := range g.steps {
				dst := r.steps[k][:length]
				if k == len(g.steps)-1 {
					dst = out.F[offsets[0]+at:][:length]
				}
				a := get(s.a)
				if s.f == nil {
					kernel.Combine(s.operation, dst, a, get(s.b))
				} else {
					if len(a) != length {
						fill(r.steps[k][:length], a[0])
						a = r.steps[k][:length]
					}
					s.f(dst, a)
				}
				results[k] = dst
			}
		}
	})
	return out
}

// row returns the numbers [at, at+length) of a strided row: one where they are
// all the same, in place where they are dense, and otherwise copied to space.
func (t *Tensor) row(offset, step, at, length int, space []float32) []float32 {
	switch step {
	case 0:
		return t.F[offset : offset+1]
	case 1:
		return t.F[offset+at:][:length]
	}
	space = space[:length]
	for i := range space {
		space[i] = t.F[offset+(at+i)*step]
	}
	return space
}

func fill[T any](dst []T, x T) {
	for i := range dst {
		dst[i] = x
	}
}

// elementwise runs a single operation on floats or integers; the operands of
// Pow and Clip need not be constants.
func elementwise(r *run, n *node, in []*Tensor) []*Tensor {
	if in[0].Type != Float {
		return []*Tensor{r.integers(n, in)}
	}
	g := new(group)
	args := make([]operand, len(in))
	for i := range in {
		args[i] = operand{fromInput, i}
	}
	scalar := func(i int) (float32, bool) {
		if in[i] == nil || in[i].Size() != 1 {
			return 0, false
		}
		if in[i].Type == Float {
			return in[i].F[0], true
		}
		return float32(in[i].I[0]), true
	}
	if n.op == "Pow" || n.op == "Clip" {
		args = args[:1]
	}
	if _, ok := g.append(n, args, scalar); ok {
		return []*Tensor{r.group(n, g, in[:len(args)])}
	}
	if n.op != "Pow" || in[1].Type != Float {
		fail("of floats, or with bounds or an exponent that are not one number")
	}
	return []*Tensor{pairs(r, Float, in[0], in[1], (*Tensor).floats, (*Tensor).floats, func(a, b float32) float32 {
		return float32(math.Pow(float64(a), float64(b)))
	})}
}
