package metrics

import "math"

// Perplexity summarises how surprised a causal language model is by documents.
// The perplexity of a document is e^(−mean of ln P of its tokens).
type Perplexity struct {
	// Median over documents, with the interval of MedianInterval: a few
	// documents with rare words do not move it.
	Median Interval
	// Mean is the geometric mean over documents, the exponential of the mean of
	// −ln P per token, with its 95% t interval.
	Mean Interval
	// Corpus is the perplexity of all tokens together, long documents count
	// more: the number that papers print most.
	Corpus    float64
	Documents int // with at least one token
	Tokens    int
}

// SummarizePerplexity takes the natural logarithms of the probabilities of each
// document's tokens (pieces), each given those before it. Tokens are the
// model's: the perplexities of models with different tokenizers cannot be
// compared.
func SummarizePerplexity(logProbabilities [][]float64) Perplexity {
	var p Perplexity
	var values []float64
	total := 0.0
	for _, d := range logProbabilities {
		if len(d) == 0 {
			continue
		}
		sum := 0.0
		for _, x := range d {
			sum -= x
		}
		values = append(values, sum/float64(len(d)))
		total += sum
		p.Tokens += len(d)
	}
	p.Documents = len(values)
	p.Median, p.Mean = exponential(MedianInterval(values, 0.95)), exponential(MeanInterval(values, 0.95))
	p.Corpus = math.Exp(total / float64(p.Tokens))
	return p
}

// exponential maps an interval; the exponential is monotone, so its bounds are
// those of the result.
func exponential(i Interval) Interval {
	return Interval{math.Exp(i.Estimate), math.Exp(i.Low), math.Exp(i.High)}
}
