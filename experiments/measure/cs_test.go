package measure

import (
	"math"
	"testing"
)

// One document has a similarity but no interval: records cannot hold infinity.
func TestOneSentence(t *testing.T) {
	v := [][]float32{{1, 2}}
	s, deviation := sentenceSimilarity(v, v)
	if math.Abs(s.Estimate-100) > 1e-9 || !math.IsNaN(s.Low) || !math.IsNaN(s.High) ||
		!math.IsNaN(deviation) {
		t.Errorf("%+v, %v", s, deviation)
	}
	if s, deviation = sentenceSimilarity([][]float32{{1, 0}, {0, 1}}, [][]float32{{1, 0}, {1, 1}}); !(s.Low <
		s.Estimate && s.Estimate < s.High) || math.IsInf(s.Low, 0) || !(deviation > 0) {
		t.Errorf("%+v, %v", s, deviation)
	}
}
