// Package onnx runs ONNX graphs (github.com/onnx/onnx) in pure Go: the
// operations that exports of BERT, GPT-2, sentence-transformers and Universal
// Sentence Encoder graphs consist of, on float32 and integers.
//
// A graph is prepared once: what depends on constants only is computed, chains
// of elementwise operations and layer normalisations become one operation each,
// and constant matrices are packed. A run uses one goroutine and reuses its
// buffers; several runs of a model share its weights. Parallelism belongs to
// the caller, who has many texts, so nothing here waits for anything.
//
// Not supported: control flow (If, Loop), sequences, 16-bit and quantised
// weights. A model that needs them is refused by one error that names them all.
package onnx

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Model is a graph ready to run. It is immutable and safe for concurrent use.
type Model struct {
	*graph
	Weights    int // numbers in the file
	Operations int // of a run of all outputs, at most

	number    map[string]int // of values by name
	constants []*Tensor      // by value; nil for one that is computed
	plans     map[result]*plan
	runs      *sync.Pool
}

// Open reads a model file. Weights in other files are read from its folder.
func Open(path string) (*Model, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := parse(data, func(location string, offset, length int64) ([]byte, error) {
		root, err := os.OpenRoot(filepath.Dir(path)) // a location can't leave the folder
		if err != nil {
			return nil, err
		}
		defer root.Close()
		f, err := root.Open(filepath.FromSlash(location))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if length < 0 {
			length = info.Size() - offset
		}
		if offset+length > info.Size() || length < 0 {
			return nil, fmt.Errorf("%s: %d bytes from %d, but it has %d", location, length, offset, info.Size())
		}
		out := make([]byte, length)
		_, err = io.ReadFull(io.NewSectionReader(f, offset, length), out)
		return out, err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return m, nil
}

func parse(data []byte, ext external) (*Model, error) {
	if len(data) == 0 {
		return nil, errors.New("the file is empty")
	}
	g, err := parseModel(data, ext)
	if err != nil {
		return nil, fmt.Errorf("not an ONNX model: %w", err)
	}
	if err := g.supported(); err != nil {
		return nil, err
	}
	m := &Model{graph: g, number: map[string]int{}}
	if err := m.link(); err != nil {
		return nil, err
	}
	for _, t := range g.initializers {
		m.Weights += t.Size()
	}
	m.runs = newRuns(m)
	m.foldConstants(1<<20 + len(data))
	m.fuse()
	g.initializers = nil
	m.makePlans()
	m.forgetUnused()
	m.runs, m.Operations = newRuns(m), len(g.nodes)
	return m, nil
}

type operation struct {
	operands int // at least
	exec     func(r *run, n *node, in []*Tensor) []*Tensor
}

// operations are those of the default domain; elementwiseOps are added.
var operations = func() map[string]operation {
	less := compare(func(less, _ bool) bool { return less })
	greater := compare(func(less, equal bool) bool { return !less && !equal })
	all := map[string]operation{
		"Shape": {1, shapeOf}, "Constant": {0, constantNode}, "Range": {3, rangeOf},
		"ConstantOfShape": {1, constantOfShape}, "Reshape": {1, reshape}, "Flatten": {1, flatten},
		"Transpose": {1, transpose}, "Unsqueeze": {1, unsqueeze}, "Squeeze": {1, squeeze}, "Expand": {2, expand},
		"Slice": {1, slice}, "Split": {1, split}, "Concat": {1, concat}, "Gather": {2, gatherOp}, "Tile": {2, tile},
		"Trilu": {1, trilu}, "Identity": {1, identity}, "Dropout": {1, identity}, "Cast": {1, cast},
		"CastLike": {2, func(r *run, n *node, in []*Tensor) []*Tensor {
			to := map[Type]int64{Float: protoFloat, Int: protoInt64, Bool: protoBool}[in[1].Type]
			return cast(r, &node{attrs: map[string]attribute{"to": {i: to}}}, in)
		}},
		"MatMul": {2, matMul}, "Gemm": {2, gemm}, "Softmax": {1, softmax}, "LogSoftmax": {1, softmax},
		"LayerNormalization": {2, layerNorm}, "CumSum": {2, cumSum},
		"Where": {3, where}, "IsNaN": {1, isNaN},
		"And": {2, elementwise}, "Or": {2, elementwise}, "Not": {1, elementwise},
		"Equal": {2, compare(func(_, equal bool) bool { return equal })}, "Less": {2, less}, "Greater": {2, greater},
		"LessOrEqual":    {2, compare(func(less, equal bool) bool { return less || equal })},
		"GreaterOrEqual": {2, compare(func(less, equal bool) bool { return !less })},
	}
	for _, op := range []string{"Sum", "Mean", "Max", "Min", "Prod", "L2", "SumSquare"} {
		all["Reduce"+op] = operation{1, reduce}
	}
	for op := range elementwiseOps {
		all[op] = operation{1, elementwise}
	}
	for _, op := range []string{"Sub", "Mul", "Div", "Pow", "Add"} {
		all[op] = operation{2, elementwise}
	}
	return all
}()

// supported refuses a graph with operations that are not in the table.
func (g *graph) supported() error {
	missing := map[string]bool{}
	for _, n := range g.nodes {
		o, ok := operations[n.op]
		if n.domain != "" && n.domain != "ai.onnx" {
			missing[n.domain+"."+n.op] = true
			continue
		}
		if !ok {
			missing[n.op] = true
			continue
		}
		for name, a := range n.attrs {
			if a.graph {
				missing[n.op+" with a graph in "+name] = true
			}
		}
		n.exec = o.exec
	}
	if len(missing) > 0 {
		var names []string
		for name := range missing {
			names = append(names, name)
		}
		slices.Sort(names)
		return fmt.Errorf("operations that are not supported: %s", strings.Join(names, ", "))
	}
	for _, n := range g.nodes {
		if len(n.in) < operations[n.op].operands || len(n.out) == 0 || n.out[0] == "" ||
			slices.Contains(n.in[:operations[n.op].operands], "") {
			return fmt.Errorf("node %q (%s): %d inputs and %d outputs", n.name, n.op, len(n.in), len(n.out))
		}
	}
	return nil
}

// link numbers all values. Nodes must come after what they read, as ONNX asks.
func (m *Model) link() error {
	g := m.graph
	define := func(name string, constant *Tensor) error {
		if _, ok := m.number[name]; ok {
			return fmt.Errorf("value %q is computed twice", name)
		}
		m.number[name] = len(m.constants)
		m.constants = append(m.constants, constant)
		return nil
	}
	for name, t := range g.initializers {
		if err := define(name, t); err != nil {
			return err
		}
	}
	g.Inputs = slices.DeleteFunc(g.Inputs, func(i Info) bool { return g.initializers[i.Name] != nil })
	for _, i := range g.Inputs {
		if i.Type == 0 {
			return fmt.Errorf("input %q: its type is not supported", i.Name)
		}
		if err := define(i.Name, nil); err != nil {
			return err
		}
	}
	for _, n := range g.nodes {
		for _, name := range n.in {
			v, ok := m.number[name]
			if name == "" {
				v = -1
			} else if !ok {
				return fmt.Errorf("node %q (%s) reads %q, which nothing before it computes", n.name, n.op, name)
			}
			n.inputs = append(n.inputs, v)
		}
		for _, name := range n.out {
			if name == "" {
				n.outputs = append(n.outputs, -1)
				continue
			}
			n.outputs = append(n.outputs, len(m.constants))
			if err := define(name, nil); err != nil {
				return err
			}
		}
	}
	for _, o := range g.Outputs {
		if _, ok := m.number[o.Name]; !ok {
			return fmt.Errorf("output %q: nothing computes it", o.Name)
		}
	}
	return nil
}

// foldConstants computes what depends on no input, up to so many numbers.
func (m *Model) foldConstants(room int) {
	g := m.graph
	r := m.runs.New().(*run)
	var rest []*node
	for _, n := range g.nodes {
		in := make([]*Tensor, len(n.inputs))
		known := true
		for i, v := range n.inputs {
			if v >= 0 {
				in[i] = m.constants[v]
				known = known && in[i] != nil
			}
		}
		r.limit = room
		var out []*Tensor
		if !known || r.protect(func() {
			for _, t := range n.exec(r, n, in) {
				out = append(out, r.dense(t))
			}
		}) != nil {
			rest = append(rest, n) // an error is reported by the run that needs the node
			continue
		}
		for i, v := range n.outputs {
			if v >= 0 && i < len(out) {
				t := *out[i]
				t.owner = nil
				m.constants[v] = &t
				if n.op != "Constant" {
					room = max(0, room-t.Size())
				}
			}
		}
		r.temporarys = r.temporarys[:0]
	}
	g.nodes = rest
}
