package measure

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"mldpbench/metrics"
)

// Similarity is CS of a sample of documents, in percent.
type Similarity struct {
	Mean, Low, High float64 // 95% interval over documents; NaN of one document
	StdDev          float64 // over documents; NaN of one
}

// CompareSentences compares the sentence vectors of documents with those of
// their privatised forms.
func CompareSentences(originals, noisy [][]float32) (Similarity, error) {
	interval, err := metrics.CS(originals, noisy)
	if err != nil {
		return Similarity{}, err
	}
	if len(noisy) == 1 {
		interval.Low, interval.High = math.NaN(), math.NaN()
	}
	cosines := make([]float64, len(noisy))
	for i := range noisy {
		cosines[i] = 100 * metrics.Cosine(originals[i], noisy[i])
	}
	return Similarity{interval.Estimate, interval.Low, interval.High, stat.StdDev(cosines, nil)}, nil
}
