package mechanisms

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

func init() {
	Register(Definition{
		Name:     "wbb",
		Title:    "WBB",
		Source:   "De Faveri, Faggioli & Ferro 2024, §4 (words blending boxes)",
		Metric:   "discrete",
		Order:    210,
		Variants: []Variant{Printed},
		Parameters: []Parameter{
			{Name: "k", Default: 3.0, Legal: "a whole number >= 1, below the number of words",
				Valid: wholeNumber(1, math.MaxInt32),
				Doc:   "size of the safe box: the word and its k-1 nearest words are never returned"},
			{Name: "n", Default: 10.0, Legal: "a whole number >= 1", Valid: wholeNumber(1, math.MaxInt32),
				Doc: "size of the candidates box: the next n nearest words"},
		},
		PerWord:  true,
		Constant: true,
		New:      newWBB,
	})
}

// newWBB builds words blending boxes: of the words ordered by their distance
// from the input, itself first, the first k are excluded and one of the next n
// is drawn with weight (ε/2)/(1 + e^{(d−μ)/σ}), μ and σ the mean and the
// standard deviation of their distances. The factor ε/2 cancels, so ε has no
// effect; and the boxes depend on the word, so outputs of one word are
// impossible for another. The source's code takes μ and σ over all words of a
// query.
func newWBB(env Environment, s Settings) (Mechanism, error) {
	safe, size := int(s.Parameters["k"].(float64)), int(s.Parameters["n"].(float64))
	if safe >= env.Space.Len() {
		return nil, fmt.Errorf("k = %d: must be below the number of words, %d", safe, env.Space.Len())
	}
	g := Guarantee{Reason: "what a word can become depends on the word, and epsilon cancels in the weights"}
	lists := neighborsOf(env.Space, safe+size, true)
	scores := func(word WordID, _ float64, _ []float64) ([]float64, []WordID) {
		lists.every()
		box := lists.of(word)[safe:]
		row, ids := make([]float64, len(box)), make([]WordID, len(box))
		for i, c := range box {
			row[i], ids[i] = c.Distance, c.ID
		}
		mean, deviation := stat.PopMeanStdDev(row, nil)
		for i, d := range row {
			if deviation == 0 {
				row[i] = 0 // all at one distance
				continue
			}
			row[i] = -math.Log1p(math.Exp((d - mean) / deviation))
		}
		return row, ids
	}
	return newSelector(s, g, env.Space.Vocabulary, nil, scores), nil
}
