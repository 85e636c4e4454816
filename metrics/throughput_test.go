package metrics

import (
	"math"
	"testing"
)

func TestWordsPerSecond(t *testing.T) {
	near(t, "WordsPerSecond", WordsPerSecond(500, 0.25), 2000, 0)
	if !math.IsNaN(WordsPerSecond(1, 0)) {
		t.Error("without time there is no throughput")
	}
}
