package onnx

import (
	"math"
	"strings"
	"testing"
)

// single is a graph of one operation on x (float, or integer where whole is
// set) and constants, whose result follows from the definition by hand.
type single struct {
	name   string
	op     string
	opset  int64
	x      []float64
	shape  []int
	whole  bool
	others func(b *builder) // constants a, b, c, d in order
	attrs  []attr
	want   []float64
	result []int
}

var nan, inf = math.NaN(), math.Inf(1)

func floats(name string, shape []int, x ...float64) func(*builder) {
	return func(b *builder) { b.Floats(name, shape, x...) }
}

func ints(name string, x ...float64) func(*builder) {
	return func(b *builder) { b.Ints(name, []int{len(x)}, x...) }
}

func both(f ...func(*builder)) func(*builder) {
	return func(b *builder) {
		for _, g := range f {
			g(b)
		}
	}
}

var singles = []single{
	{op: "Add", x: []float64{1, 2, 3, 4}, shape: []int{2, 2}, others: floats("a", []int{2}, 10, 20),
		want: []float64{11, 22, 13, 24}},
	{op: "Sub", x: []float64{1, 2}, shape: []int{2, 1}, others: floats("a", []int{1, 2}, 1, 5), result: []int{2, 2},
		want: []float64{0, -4, 1, -3}},
	{op: "Mul", x: []float64{2, 3}, shape: []int{2}, others: floats("a", nil, 4), want: []float64{8, 12}},
	{op: "Div", x: []float64{1, 3}, shape: []int{2}, others: floats("a", nil, 2), want: []float64{.5, 1.5}},
	{op: "Div", whole: true, x: []float64{7, -7}, shape: []int{2}, others: ints("a", 2), want: []float64{3, -3}},
	{op: "Pow", x: []float64{2, 3}, shape: []int{2}, others: floats("a", nil, 3), want: []float64{8, 27}},
	{op: "Pow", x: []float64{4, 9}, shape: []int{2}, others: floats("a", []int{2}, .5, 2), want: []float64{2, 81}},
	{op: "Pow", x: []float64{4, 9}, shape: []int{2}, others: ints("a", 2), want: []float64{16, 81}},
	{op: "Sqrt", x: []float64{4, 2}, shape: []int{2}, want: []float64{2, math.Sqrt2}},
	{op: "Erf", x: []float64{0, .5, -1}, shape: []int{3}, want: []float64{0, .5204999, -.8427008}},
	{op: "Tanh", x: []float64{0, 1}, shape: []int{2}, want: []float64{0, .7615942}},
	{op: "Sigmoid", x: []float64{0, 1}, shape: []int{2}, want: []float64{.5, .7310586}},
	{op: "Exp", x: []float64{0, 1}, shape: []int{2}, want: []float64{1, math.E}},
	{op: "Log", x: []float64{1, math.E}, shape: []int{2}, want: []float64{0, 1}},
	{op: "Neg", x: []float64{1, -2}, shape: []int{2}, want: []float64{-1, 2}},
	{op: "Abs", x: []float64{1, -2}, shape: []int{2}, want: []float64{1, 2}},
	{op: "Abs", whole: true, x: []float64{1, -2}, shape: []int{2}, want: []float64{1, 2}},
	{op: "Reciprocal", x: []float64{4}, shape: []int{1}, want: []float64{.25}},
	{op: "Relu", x: []float64{-1, 2, nan}, shape: []int{3}, want: []float64{0, 2, nan}},
	{op: "Gelu", opset: 20, x: []float64{1, -1}, shape: []int{2}, want: []float64{.8413447, -.1586553}},
	{name: "by tanh", op: "Gelu", opset: 20, x: []float64{1}, shape: []int{1}, want: []float64{.8411920},
		attrs: []attr{with("approximate", "tanh")}},
	{op: "Clip", x: []float64{-3, 0, 3}, shape: []int{3}, others: both(floats("a", nil, -1), floats("b", nil, 2)),
		want: []float64{-1, 0, 2}},
	{op: "Min", x: []float64{1, 5}, shape: []int{2}, others: both(floats("a", nil, 3), floats("b", nil, 2)),
		want: []float64{1, 2}},
	{op: "Max", whole: true, x: []float64{1, 5}, shape: []int{2}, others: ints("a", 3), want: []float64{3, 5}},
	{op: "MatMul", x: []float64{1, 2, 3, 4}, shape: []int{2, 2}, others: floats("a", []int{2, 1}, 5, 6),
		want: []float64{17, 39}, result: []int{2, 1}},
	{name: "by a vector", op: "MatMul", x: []float64{1, 2, 3, 4}, shape: []int{2, 2}, want: []float64{17, 39},
		others: floats("a", []int{2}, 5, 6), result: []int{2}},
	{name: "of stacks", op: "MatMul", x: []float64{1, 2, 3, 4}, shape: []int{2, 1, 2}, result: []int{2, 1, 1},
		others: floats("a", []int{2, 2, 1}, 5, 6, 7, 8), want: []float64{17, 53}},
	{op: "Gemm", x: []float64{1, 2}, shape: []int{1, 2}, result: []int{1, 3}, want: []float64{60, 121.5, 183},
		others: both(floats("a", []int{3, 2}, 10, 20, 30, 30, 40, 50), floats("b", []int{3}, 10, 31.5, 43)),
		attrs:  []attr{with("transB", 1)}},
	{name: "scaled", op: "Gemm", x: []float64{1, 2}, shape: []int{2, 1}, result: []int{1, 1}, want: []float64{26},
		others: both(floats("a", []int{2, 1}, 3, 4), floats("b", []int{1, 1}, 8)),
		attrs:  []attr{with("transA", 1), with("alpha", 2.0), with("beta", .5)}},
	{op: "Softmax", x: []float64{0, math.Ln2, 0, 0}, shape: []int{2, 2}, want: []float64{1. / 3, 2. / 3, .5, .5}},
	{name: "over the first", op: "Softmax", x: []float64{0, 0, math.Ln2, 0}, shape: []int{2, 2},
		want: []float64{1. / 3, .5, 2. / 3, .5}, attrs: []attr{with("axis", 0)}},
	{op: "LogSoftmax", x: []float64{0, math.Log(3)}, shape: []int{1, 2}, want: []float64{-math.Log(4), math.Log(.75)}},
	{op: "LayerNormalization", opset: 17, x: []float64{1, 3, 5, 5}, shape: []int{2, 2}, want: []float64{-2, 5, 0, 2},
		others: both(floats("a", []int{2}, 2, 3), floats("b", []int{2}, 0, 2)), attrs: []attr{with("epsilon", 1e-12)}},
	{op: "ReduceMean", x: []float64{1, 2, 3, 6}, shape: []int{2, 2}, want: []float64{2, 4}, result: []int{1, 2},
		attrs: []attr{with("axes", []int{0})}},
	{op: "ReduceSum", x: []float64{1, 2, 3, 6}, shape: []int{2, 2}, want: []float64{3, 9}, result: []int{2},
		others: ints("a", -1), attrs: []attr{with("keepdims", 0)}},
	{name: "of outer and inner", op: "ReduceSum", x: []float64{1, 2, 3, 4, 5, 6, 7, 8}, shape: []int{2, 2, 2},
		others: ints("a", 0, 2), attrs: []attr{with("keepdims", 0)}, want: []float64{14, 22}, result: []int{2}},
	{op: "ReduceMax", x: []float64{1, 7, 3, 6}, shape: []int{2, 2}, want: []float64{7}, result: []int{1, 1}},
	{op: "ReduceMin", x: []float64{1, 7, 3, 6}, shape: []int{2, 2}, want: []float64{1, 6}, result: []int{1, 2},
		attrs: []attr{with("axes", []int{0})}},
	{op: "ReduceL2", x: []float64{3, 4}, shape: []int{1, 2}, want: []float64{5}, result: []int{1, 1},
		attrs: []attr{with("axes", []int{1})}},
	{op: "ReduceProd", whole: true, x: []float64{3, 4}, shape: []int{2}, want: []float64{12}, result: []int{1}},
	{op: "Transpose", x: []float64{1, 2, 3, 4, 5, 6}, shape: []int{2, 3}, want: []float64{1, 4, 2, 5, 3, 6},
		result: []int{3, 2}},
	{op: "Reshape", x: []float64{1, 2, 3, 4, 5, 6}, shape: []int{2, 3}, others: ints("a", 0, -1, 1),
		want: []float64{1, 2, 3, 4, 5, 6}, result: []int{2, 3, 1}},
	{op: "Flatten", x: []float64{1, 2, 3, 4}, shape: []int{2, 1, 2}, want: []float64{1, 2, 3, 4}, result: []int{2, 2}},
	{op: "Unsqueeze", x: []float64{1, 2}, shape: []int{2}, others: ints("a", 0, -1), want: []float64{1, 2},
		result: []int{1, 2, 1}},
	{op: "Squeeze", x: []float64{1, 2}, shape: []int{1, 2, 1}, others: ints("a", 0), want: []float64{1, 2},
		result: []int{2, 1}},
	{op: "Expand", x: []float64{1, 2}, shape: []int{2, 1}, others: ints("a", 1, 2), want: []float64{1, 1, 2, 2},
		result: []int{2, 2}},
	{op: "Slice", x: []float64{1, 2, 3, 4, 5, 6}, shape: []int{2, 3}, want: []float64{2, 3, 5, 6}, result: []int{2, 2},
		others: both(ints("a", 1), ints("b", 99), ints("c", 1))},
	{op: "Concat", x: []float64{1, 2}, shape: []int{2, 1}, others: floats("a", []int{2, 2}, 3, 4, 5, 6),
		attrs: []attr{with("axis", 1)}, want: []float64{1, 3, 4, 2, 5, 6}, result: []int{2, 3}},
	{op: "Gather", x: []float64{1, 2, 3, 4}, shape: []int{2, 2}, others: ints("a", 1, -2, 1),
		want: []float64{3, 4, 1, 2, 3, 4}, result: []int{3, 2}},
	{name: "of columns", op: "Gather", x: []float64{1, 2, 3, 4}, shape: []int{2, 2}, attrs: []attr{with("axis", 1)},
		others: func(b *builder) { b.Ints("a", nil, 1) }, want: []float64{2, 4}, result: []int{2}},
	{op: "Tile", x: []float64{1, 2}, shape: []int{1, 2}, others: ints("a", 2, 2), result: []int{2, 4},
		want: []float64{1, 2, 1, 2, 1, 2, 1, 2}},
	{op: "Trilu", opset: 14, x: []float64{1, 2, 3, 4}, shape: []int{2, 2}, want: []float64{1, 0, 3, 4},
		attrs: []attr{with("upper", 0)}},
	{name: "above", op: "Trilu", opset: 14, x: []float64{1, 2, 3, 4}, shape: []int{2, 2}, want: []float64{0, 2, 0, 0},
		others: func(b *builder) { b.Ints("a", nil, 1) }},
	{op: "CumSum", whole: true, x: []float64{1, 2, 3, 4}, shape: []int{2, 2}, want: []float64{1, 3, 3, 7},
		others: func(b *builder) { b.Ints("a", nil, 1) }},
	{op: "Cast", x: []float64{1.7, -1.7}, shape: []int{2}, want: []float64{1, -1}, attrs: []attr{with("to", protoInt64)}},
	{op: "Equal", whole: true, x: []float64{1, 2}, shape: []int{2}, others: ints("a", 2), want: []float64{0, 1}},
	{op: "Less", x: []float64{1, 2, 3}, shape: []int{3}, others: floats("a", nil, 2), want: []float64{1, 0, 0}},
	{op: "Greater", x: []float64{1, 2, 3, nan}, shape: []int{4}, others: floats("a", nil, 2), want: []float64{0, 0, 1, 0}},
	{op: "LessOrEqual", x: []float64{1, 2, 3}, shape: []int{3}, others: floats("a", nil, 2), want: []float64{1, 1, 0}},
	{op: "GreaterOrEqual", whole: true, x: []float64{1, 2, 3}, shape: []int{3}, others: ints("a", 2),
		want: []float64{0, 1, 1}},
	{op: "IsNaN", x: []float64{1, nan, inf}, shape: []int{3}, want: []float64{0, 1, 0}},
	{op: "Shape", x: []float64{1, 2}, shape: []int{1, 2}, want: []float64{1, 2}, result: []int{2}},
	{op: "ConstantOfShape", whole: true, x: []float64{2, 1}, shape: []int{2}, want: []float64{0, 0}, result: []int{2, 1}},
	{op: "Identity", x: []float64{1, 2}, shape: []int{2}, want: []float64{1, 2}},
}

func (s single) build() *builder {
	b, kind := new(builder), int32(protoFloat)
	if s.whole {
		kind = protoInt64
	}
	free := make([]int, len(s.shape))
	for i := range free {
		free[i] = -1
	}
	b.Input("x", kind, free...)
	in := []string{"x"}
	if s.others != nil {
		s.others(b)
		for _, c := range b.Graph.Initializer {
			in = append(in, c.GetName())
		}
	}
	b.Node(s.op, in, []string{"y"}, s.attrs...)
	return b.Output("y")
}

func (s single) input() *Tensor {
	x := floatTensor(s.shape, s.x...)
	if s.whole {
		x = NewInt(nil, s.shape...)
		for _, v := range s.x {
			x.I = append(x.I, int64(v))
		}
	}
	return x
}

func (s single) version() int64 {
	if s.opset > 0 {
		return s.opset
	}
	return 13
}

func TestOperations(t *testing.T) {
	for _, s := range singles {
		t.Run(strings.TrimSpace(s.op+" "+s.name), func(t *testing.T) {
			shape := s.result
			if shape == nil {
				shape = s.shape
			}
			near(t, s.op, evaluate(t, s.build(), s.version(), map[string]*Tensor{"x": s.input()}), shape, s.want...)
		})
	}
}
