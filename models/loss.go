package models

import (
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
)

// logLoss returns −ln softmax(x)[label], in float64.
func logLoss[T float](x []T, label int) float64 {
	top := float64(x[argmax(x)])
	var sum float64
	for _, v := range x {
		sum += math.Exp(float64(v) - top)
	}
	return -(float64(x[label]) - top - math.Log(sum))
}

// crossEntropy adds the mean of −ln softmax(logits)[label] over the rows of logits, batch × classes, that have a label.
// labels has one of each row, or noLabel.
func crossEntropy[T float](logits *gorgonia.Node, labels []int32) (*gorgonia.Node, error) {
	l := &crossEntropyLayer[T]{classes: logits.Shape()[1], labels: labels}
	return fuse("SoftmaxCrossEntropy", logits, tensor.ScalarShape(), l)
}

// crossEntropyLayer is the loss as one op of the logits. The largest logit of a row is subtracted before it is
// exponentiated, so nothing overflows. The derivative with respect to a logit is its softmax, less one at the label.
type crossEntropyLayer[T float] struct {
	classes int
	labels  []int32
}

func (l *crossEntropyLayer[T]) forward(x []T) gorgonia.Value {
	loss := 0.0
	for i, label := range l.labels {
		if label != noLabel {
			loss += logLoss(x[i*l.classes:(i+1)*l.classes], int(label))
		}
	}
	loss /= float64(l.labelled())
	if dtypeOf[T]() == tensor.Float64 {
		return gorgonia.NewF64(loss)
	}
	return gorgonia.NewF32(float32(loss))
}

// backward writes (softmax(row) − one at the label) / labelled, times the gradient, a number.
func (l *crossEntropyLayer[T]) backward(x []T, gradient gorgonia.Value, to []T) {
	scale := gradient.Data().(T) / T(l.labelled())
	p := make([]float64, l.classes)
	clear(to)
	for i, label := range l.labels {
		if label == noLabel {
			continue
		}
		row := to[i*l.classes : (i+1)*l.classes]
		stats.Softmax(p, x[i*l.classes:(i+1)*l.classes])
		for j, v := range p {
			row[j] = T(v)
		}
		row[label]--
		for j := range row {
			row[j] *= scale
		}
	}
}

// labelled is the number of rows with a label, 1 at least.
func (l *crossEntropyLayer[T]) labelled() int {
	return max(1, list.Count(l.labels, func(label int32) bool { return label != noLabel }))
}
