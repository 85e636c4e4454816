package models

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// graph is one compiled Gorgonia graph over weights that may be shared with other graphs.
type graph struct {
	layers
	nodes   *gorgonia.ExprGraph
	vm      gorgonia.VM
	logits  *gorgonia.Node // batch × classes
	weights gorgonia.Nodes

	// For training only.
	loss   *gorgonia.Node
	steps  int
	movers []mover // of each weight
}

// layers are the part of a network that differs from others, with the inputs of one batch.
type layers interface {
	// fill lays out the examples with these indices in the inputs and returns which of them each row holds.
	fill(x Examples, indices []int) []int
	// labels are those of the rows, noLabel of those without one.
	labels() []int32
	// build adds the layers over weights to g and returns the logits, batch × classes.
	build(g *gorgonia.ExprGraph, weights gorgonia.Nodes) (logits *gorgonia.Node, err error)
}

// compile makes the graph of a network over weights. With rng it is one for training, which minimises the mean
// cross-entropy with the labels; without, for scores.
func compile(l layers, weights []*tensor.Dense, rng *rand.Rand) (*graph, error) {
	building.Lock()
	defer building.Unlock()
	g := &graph{layers: l, nodes: gorgonia.NewGraph()}
	for i, w := range weights { // the same numbers under a header of its own: a machine writes to headers
		g.weights = append(g.weights, input(g.nodes, fmt.Sprintf("weights%d", i), w.ShallowClone()))
	}
	var err error
	g.logits, err = l.build(g.nodes, g.weights)
	if err != nil {
		return nil, err
	}
	if rng == nil {
		g.vm = gorgonia.NewTapeMachine(g.nodes)
		return g, nil
	}
	return g, g.differentiate(weights)
}

// differentiate adds the loss and its derivatives, and what moves weights by them.
func (g *graph) differentiate(weights []*tensor.Dense) error {
	var err error
	g.loss, err = crossEntropy[float32](g.logits, g.labels())
	if err != nil {
		return err
	}
	if _, err := gorgonia.Grad(g.loss, g.weights...); err != nil {
		return err
	}
	for _, w := range weights {
		numbers := data[float32](w)
		g.movers = append(g.movers, &allWeights{weights: numbers, moments: newMoments(len(numbers))})
	}
	g.vm = gorgonia.NewTapeMachine(g.nodes, gorgonia.BindDualValues(g.weights...))
	return nil
}

func (g *graph) run() error {
	g.vm.Reset() // without it a tape machine returns the results of its last run
	return g.vm.RunAll()
}

// step runs the graph and moves the weights by Adam. A gradient whose norm over all weights exceeds clip > 0 is scaled
// down to it.
func (g *graph) step(rate, clip float64) error {
	if err := g.run(); err != nil {
		return err
	}
	loss := float64(g.loss.Value().Data().(float32))
	gradients := make([][]float32, len(g.weights))
	var square float64
	for k, w := range g.weights {
		v, err := w.Grad()
		if err != nil {
			return err
		}
		gradients[k] = data[float32](v)
		for _, x := range gradients[k] {
			square += float64(float64(x) * float64(x))
		}
	}
	if math.IsNaN(loss) || math.IsNaN(square) || math.IsInf(square, 0) {
		return fmt.Errorf("training diverged: loss %v, squared gradient norm %v; lower the learning rate or clip", loss,
			square)
	}
	g.steps++
	norm := math.Sqrt(square)
	if clip > 0 && norm > clip {
		scale(gradients, float32(clip/norm))
	}
	s := adamStep{rate: float32(rate), unbias: newUnbias(g.steps)}
	for k, gradient := range gradients {
		g.movers[k].move(s, gradient)
	}
	return nil
}

// scale multiplies all numbers by a factor.
func scale(gradients [][]float32, factor float32) {
	for _, gradient := range gradients {
		for i := range gradient {
			gradient[i] *= factor
		}
	}
}
