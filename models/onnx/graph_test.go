package onnx

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"mldpbench/internal/realdata"
	"mldpbench/models/onnx/onnxproto"
)

// Two layers by hand: x·W + b, ReLU, ·V, Softmax.
func TestPerceptron(t *testing.T) {
	b := new(builder).Input("x", protoFloat, -1, 2).Output("y", -1, 2).
		Floats("w", []int{2, 3}, 1, -1, 2, 0, 1, -1).Floats("b", []int{3}, 0, 1, -1).
		Floats("v", []int{3, 2}, 1, 0, 0, 1, 1, 1)
	b.Node("MatMul", []string{"x", "w"}, []string{"h"}).Node("Add", []string{"b", "h"}, []string{"s"}).
		Node("Relu", []string{"s"}, []string{"r"}).Node("MatMul", []string{"r", "v"}, []string{"l"}).
		Node("Softmax", []string{"l"}, []string{"y"})
	// (1, 2)·W + b = (1, 2, −1); ReLU (1, 2, 0); ·V = (1, 2).
	// (2, 0)·W + b = (2, −1, 3); ReLU (2, 0, 3); ·V = (5, 3).
	e, f := math.E, math.Exp(2)
	y := evaluate(t, b, 13, map[string]*Tensor{"x": floatTensor([]int{2, 2}, 1, 2, 2, 0)})
	near(t, "perceptron", y, []int{2, 2}, 1/(1+e), e/(1+e), f/(1+f), 1/(1+f))
}

// One causal head by hand: query, key and value split from one product, a mask
// from Range, Less and Where, and the result through Transpose and Reshape.
func TestCausalAttention(t *testing.T) {
	b := new(builder).Input("x", protoFloat, -1, -1, 2).Output("y", -1, -1, 2).
		Floats("w", []int{2, 6}, 1, 0, 1, 0, 1, 2, 0, 1, 0, 1, 3, 4).Floats("lowest", nil, -1e30).
		Ints("zero", nil, 0).Ints("one", nil, 1).Ints("first", []int{1}, 0).Ints("second", []int{1}, 1).
		Ints("heads", []int{4}, 0, 0, 1, 2).Ints("flat", []int{3}, 0, 0, 2)
	b.Node("MatMul", []string{"x", "w"}, []string{"qkv"}).
		Node("Split", []string{"qkv"}, []string{"q", "k", "v"}, with("axis", 2))
	for _, n := range []string{"q", "k", "v"} {
		b.Node("Reshape", []string{n, "heads"}, []string{n + "h"}).
			Node("Transpose", []string{n + "h"}, []string{n + "t"}, with("perm", []int{0, 2, 1, 3}))
	}
	b.Node("Transpose", []string{"kt"}, []string{"kk"}, with("perm", []int{0, 1, 3, 2})).
		Node("MatMul", []string{"qt", "kk"}, []string{"scores"}).
		Node("Shape", []string{"x"}, []string{"shape"}).
		Node("Gather", []string{"shape", "one"}, []string{"length"}).
		Node("Range", []string{"zero", "length", "one"}, []string{"at"}).
		Node("Unsqueeze", []string{"at", "second"}, []string{"rows"}).
		Node("Unsqueeze", []string{"at", "first"}, []string{"columns"}).
		Node("Less", []string{"rows", "columns"}, []string{"later"}).
		Node("Where", []string{"later", "lowest", "scores"}, []string{"masked"}).
		Node("Softmax", []string{"masked"}, []string{"p"}, with("axis", -1)).
		Node("MatMul", []string{"p", "vt"}, []string{"c"}).
		Node("Transpose", []string{"c"}, []string{"ct"}, with("perm", []int{0, 2, 1, 3})).
		Node("Reshape", []string{"ct", "flat"}, []string{"y"})
	// x = (1,0), (0,1): q = k = x, v = (1,2), (3,4). The first sees itself only;
	// the second has scores 0 and 1.
	p := math.E / (1 + math.E)
	y := evaluate(t, b, 13, map[string]*Tensor{"x": floatTensor([]int{1, 2, 2}, 1, 0, 0, 1)})
	near(t, "attention", y, []int{1, 2, 2}, 1, 2, 1*(1-p)+3*p, 2*(1-p)+4*p)
}

// The shape of a reshape may be computed, and integers go through And, Not,
// CumSum and Cast as in the position ids of RoBERTa.
func TestPositionIDs(t *testing.T) {
	b := new(builder).Input("x", protoInt64, -1, -1).Output("y", -1, -1).
		Ints("pad", nil, 1).Ints("axis", nil, 1).Ints("offset", nil, 1)
	b.Node("Equal", []string{"x", "pad"}, []string{"is"}).Node("Not", []string{"is"}, []string{"not"}).
		Node("And", []string{"not", "not"}, []string{"and"}).
		Node("Cast", []string{"and"}, []string{"mask"}, with("to", protoInt64)).
		Node("CumSum", []string{"mask", "axis"}, []string{"sum"}).
		Node("Mul", []string{"sum", "mask"}, []string{"at"}).Node("Add", []string{"at", "offset"}, []string{"y"})
	near(t, "positions", evaluate(t, b, 13, map[string]*Tensor{"x": NewInt([]int64{0, 9, 1, 7}, 1, 4)}), []int{1, 4},
		2, 3, 1, 4)
}

// Layer normalisation and GELU written out, in the forms of exporters.
func TestWrittenOut(t *testing.T) {
	for _, form := range []string{"pow", "mul", "two differences"} {
		b := new(builder).Input("x", protoFloat, -1, 2).Output("y", -1, 2).Floats("two", nil, 2).
			Floats("epsilon", nil, 1e-5).Floats("scale", []int{2}, 2, 3).Floats("bias", []int{2}, .5, -.5).
			Floats("root", nil, math.Sqrt2).Floats("one", nil, 1).Floats("half", nil, .5)
		axes := with("axes", []int{-1})
		b.Node("ReduceMean", []string{"x"}, []string{"mean"}, axes).Node("Sub", []string{"x", "mean"}, []string{"d"})
		square := "d"
		if form == "two differences" {
			b.Node("Sub", []string{"x", "mean"}, []string{"e"})
			square = "e"
		}
		if form == "mul" {
			b.Node("Mul", []string{"d", "d"}, []string{"s"})
		} else {
			b.Node("Pow", []string{square, "two"}, []string{"s"})
		}
		b.Node("ReduceMean", []string{"s"}, []string{"v"}, axes).Node("Add", []string{"v", "epsilon"}, []string{"ve"}).
			Node("Sqrt", []string{"ve"}, []string{"r"}).Node("Div", []string{"d", "r"}, []string{"n"}).
			Node("Mul", []string{"n", "scale"}, []string{"ns"}).Node("Add", []string{"ns", "bias"}, []string{"l"}).
			Node("Div", []string{"l", "root"}, []string{"g1"}).Node("Erf", []string{"g1"}, []string{"g2"}).
			Node("Add", []string{"g2", "one"}, []string{"g3"}).Node("Mul", []string{"l", "g3"}, []string{"g4"}).
			Node("Mul", []string{"g4", "half"}, []string{"y"})
		m, err := parse(b.File(13), nil)
		if err != nil {
			t.Fatal(err)
		}
		if m.Operations != 2 {
			t.Errorf("%s: %d operations: a pattern was not found", form, m.Operations)
		}
		y, err := m.Run(map[string]*Tensor{"x": floatTensor([]int{2, 2}, 1, 5, 3, 3)}, Request{Output: "y"})
		if err != nil {
			t.Fatal(err)
		}
		gelu := func(x float64) float64 { return x * (1 + math.Erf(x/math.Sqrt2)) / 2 }
		z := 2 / math.Sqrt(4+1e-5)
		near(t, form, y, []int{2, 2}, gelu(-2*z+.5), gelu(3*z-.5), gelu(.5), gelu(-.5))
	}
}

// A value that an output or another node reads is not lost in a group.
func TestGroupsKeepWhatIsRead(t *testing.T) {
	b := new(builder).Input("x", protoFloat, -1).Output("y", -1).Output("z", -1).Floats("a", nil, 2)
	b.Node("Add", []string{"x", "a"}, []string{"z"}).Node("Mul", []string{"z", "z"}, []string{"s"}).
		Node("Softmax", []string{"s"}, []string{"p"}).Node("Mul", []string{"s", "p"}, []string{"y"})
	x := map[string]*Tensor{"x": floatTensor([]int{2}, 0, 0)}
	near(t, "y", evaluate(t, b, 13, x), []int{2}, 2, 2)
	m, err := parse(b.File(13), nil)
	if err != nil {
		t.Fatal(err)
	}
	z, err := m.Run(x, Request{Output: "z"})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "z", z, []int{2}, 2, 2)
	near(t, "the input", x["x"], []int{2}, 0, 0)
}

// constants is a graph of constants and an output.
func constants(of ...*onnxproto.Tensor) *builder {
	b := new(builder).Output("w")
	b.Graph.Initializer = of
	return b
}

// elsewhere is a constant of two float32 whose numbers are in another file.
func elsewhere(name string, entries ...*onnxproto.Entry) *onnxproto.Tensor {
	t := tensor(name, protoFloat, []int{2})
	t.RawData, t.DataLocation, t.ExternalData = nil, proto.Int32(1), entries
	return t
}

func TestUnsupported(t *testing.T) {
	b := new(builder).Input("x", protoFloat, 1).Output("y", 1)
	b.Node("LSTM", []string{"x"}, []string{"a"}).Node("If", []string{"a"}, []string{"b"}).
		Node("LSTM", []string{"b"}, []string{"y"})
	_, err := parse(b.File(13), nil)
	if err == nil || err.Error() != "operations that are not supported: If, LSTM" {
		t.Errorf("err = %v", err)
	}
	for want, b := range map[string]*builder{
		"reads \"a\", which nothing before it computes": new(builder).Output("y", 1).
			Node("Relu", []string{"a"}, []string{"y"}),
		"output \"y\": nothing computes it": new(builder).Output("y", 1),
		"value \"y\" is computed twice": new(builder).Input("x", protoFloat).Output("y", 1).
			Node("Relu", []string{"x"}, []string{"y"}).Node("Tanh", []string{"x"}, []string{"y"}),
		"0 inputs and 1 outputs":             new(builder).Output("y", 1).Node("Relu", nil, []string{"y"}),
		"3 numbers for shape [2]":            new(builder).Floats("y", []int{2}, 1, 2, 3).Output("y", 2),
		"no graph with outputs":              new(builder).Floats("y", nil, 1),
		"numbers of type FLOAT16":            constants(tensor("w", 10, []int{0})),
		"its numbers are in another file":    constants(elsewhere("w")),
		"input \"x\": its type is not suppo": new(builder).Input("x", 8, 1).Output("x", 1),
	} {
		if _, err := parse(b.File(13), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestRunErrors(t *testing.T) {
	b := new(builder).Input("x", protoFloat, -1, -1).Output("y", -1, 3).Floats("w", []int{2, 3}, 1, 2, 3, 4, 5, 6)
	b.Node("MatMul", []string{"x", "w"}, []string{"y"})
	m, err := parse(b.File(13), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(nil, Request{Output: "y"}); !errors.Is(err, errInput) {
		t.Errorf("without input: %v", err)
	}
	x := map[string]*Tensor{"x": floatTensor([]int{1, 3}, 1, 2, 3)}
	if _, err := m.Run(x, Request{Output: "y"}); err == nil || !strings.Contains(err.Error(), "MatMul") ||
		!strings.Contains(err.Error(), "shape [1 3] for a matrix of 2 × 3") {
		t.Errorf("a wrong shape: %v", err)
	}
	if _, err := m.Run(x, Request{Output: "z"}); err == nil || err.Error() != `no output "z"` {
		t.Errorf("a wrong output: %v", err)
	}
	x["x"] = floatTensor([]int{1, 2}, 1, 2)
	if y, err := m.Run(x, Request{Output: "y"}); err != nil || !slices.Equal(y.F, []float32{9, 12, 15}) {
		t.Errorf("after errors: %v, %v", y, err)
	}
}

// A file of a few bytes can't ask for memory: constants are folded up to a
// bound, and a run refuses what is too large.
func TestSmallFileLargeTensor(t *testing.T) {
	b := new(builder).Output("y", -1).Ints("shape", []int{3}, 100_000, 100_000, 100_000)
	b.Node("ConstantOfShape", []string{"shape"}, []string{"y"})
	m, err := parse(b.File(13), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(nil, Request{Output: "y"}); err == nil || !strings.Contains(err.Error(), "a shape of") {
		t.Errorf("err = %v", err)
	}
}

func TestExternalData(t *testing.T) {
	dir := t.TempDir()
	entry := func(key, value string) *onnxproto.Entry { return &onnxproto.Entry{Key: &key, Value: &value} }
	build := func(location, length string) string {
		b := constants(elsewhere("w", entry("location", location), entry("offset", "4"), entry("length", length)))
		b.Graph.Output = nil
		b.Input("x", protoFloat, -1).Output("y", -1)
		b.Node("Mul", []string{"x", "w"}, []string{"y"})
		path := filepath.Join(dir, "model.onnx")
		if err := os.WriteFile(path, b.File(13), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var data []byte
	for _, x := range []float32{7, 2, 3} {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	if err := os.WriteFile(filepath.Join(dir, "weights"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Open(build("weights", "8"))
	if err != nil {
		t.Fatal(err)
	}
	y, err := m.Run(map[string]*Tensor{"x": floatTensor([]int{2}, 10, 10)}, Request{Output: "y"})
	if err != nil || !slices.Equal(y.F, []float32{20, 30}) {
		t.Errorf("%v, %v", y, err)
	}
	for _, c := range [][2]string{{"weights", "9999999999"}, {"weights", "-1"}, {"../weights", "8"}, {"none", "8"}} {
		if _, err := Open(build(c[0], c[1])); err == nil {
			t.Errorf("%v was accepted", c)
		}
	}
}

// Fused, folded and packed graphs of real models give what the plain ones give,
// and chosen rows and hidden states are those of the whole output.
func TestRealGraphs(t *testing.T) {
	for _, name := range []string{"tiny-masked-lm", "tiny-causal-lm"} {
		data, err := os.ReadFile(realdata.File(t, name+"/model.onnx"))
		if err != nil {
			t.Fatal(err)
		}
		m, err := parse(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		plain := plainModel(t, data)
		ids, mask := NewInt(nil, 3, 7), NewInt(nil, 3, 7)
		for i := range 21 {
			ids.I, mask.I = append(ids.I, int64(i*379%8000)), append(mask.I, 1)
		}
		inputs := map[string]*Tensor{"input_ids": ids, "attention_mask": mask}
		all, err := m.Run(inputs, Request{Output: "logits"})
		if err != nil {
			t.Fatal(err)
		}
		want, err := plain.Run(inputs, Request{Output: "logits"})
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range want.F {
			if math.Abs(float64(x-all.F[i])) > 2e-5*(1+math.Abs(float64(x))) {
				t.Fatalf("%s: logit %d is %v, plain %v", name, i, all.F[i], x)
			}
		}
		rows := []int{20, 0, 13}
		some, err := m.Run(inputs, Request{Output: "logits", Rows: rows})
		if err != nil || !slices.Equal(some.Shape, []int{1, 3, 8000}) {
			t.Fatalf("%v, %v", some.Shape, err)
		}
		for i, r := range rows {
			if !slices.Equal(some.F[i*8000:(i+1)*8000], all.F[r*8000:(r+1)*8000]) {
				t.Errorf("%s: row %d differs when it is chosen", name, r)
			}
		}
		if p := m.plans[result{"logits", false}]; len(p.nodes)-p.tail < 5 {
			t.Errorf("%s: only %d of %d operations are by row", name, len(p.nodes)-p.tail, len(p.nodes))
		}
		hidden, err := m.Run(inputs, Request{Output: "logits", Hidden: true})
		if err != nil || !slices.Equal(hidden.Shape, []int{3, 7, 128}) {
			t.Errorf("%s: hidden %v, %v", name, hidden, err)
		}
	}
}

// plainModel is a model without any fusion.
func plainModel(t *testing.T, data []byte) *Model {
	t.Helper()
	g, err := parseModel(data, nil)
	if err == nil {
		err = g.supported()
	}
	m := &Model{graph: g, number: map[string]int{}}
	if err == nil {
		err = m.link()
	}
	if err != nil {
		t.Fatal(err)
	}
	m.makePlans()
	m.runs = newRuns(m)
	return m
}

func FuzzParse(f *testing.F) {
	for _, s := range singles {
		f.Add(s.build().File(s.version()))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parse(data, nil)
		if err != nil {
			return
		}
		inputs := map[string]*Tensor{}
		for _, info := range m.Inputs {
			shape := make([]int, len(info.Shape))
			for i := range shape {
				shape[i] = 2
			}
			if len(shape) > 6 {
				return
			}
			x := &Tensor{Type: info.Type, Shape: shape}
			if info.Type == Float {
				x.F = make([]float32, product(shape))
			} else {
				x.I = make([]int64, product(shape))
			}
			inputs[info.Name] = x
		}
		m.runs.New = func() any { // a run may take megabytes, a fuzz worker not
			return &run{m: m, values: make([]*Tensor, len(m.constants)), limit: 1 << 20}
		}
		for _, o := range m.Outputs {
			_, _ = m.Run(inputs, Request{Output: o.Name})
		}
	})
}
