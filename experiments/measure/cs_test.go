package measure

import (
	"math"
	"testing"
)

// One document has a similarity but no interval: records cannot hold infinity.
func TestCompareOneSentence(t *testing.T) {
	v := [][]float32{{1, 2}}
	s, err := CompareSentences(v, v)
	if err != nil || math.Abs(s.Mean-100) > 1e-9 || !math.IsNaN(s.Low) || !math.IsNaN(s.High) || !math.IsNaN(s.StdDev) {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err = CompareSentences([][]float32{{1, 0}, {0, 1}}, [][]float32{{1, 0}, {1, 1}}); err != nil ||
		!(s.Low < s.Mean && s.Mean < s.High) || math.IsInf(s.Low, 0) || !(s.StdDev > 0) {
		t.Errorf("%+v, %v", s, err)
	}
}
