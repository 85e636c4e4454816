package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// McNemar compares two classifiers on the same n documents, of which only the
// first has onlyA right and only the second has onlyB right: the exact test
// (McNemar 1947; binomial, two-sided) and the 95% Wald interval of the
// difference of the two shares (Agresti 2013, §11.1), both as shares 0–1. The
// result is about these two classifiers, not about the way they were trained.
func McNemar(onlyA, onlyB, n int) (Test, error) {
	if onlyA < 0 || onlyB < 0 || n < 1 || onlyA+onlyB > n {
		return Test{}, fmt.Errorf("mcnemar: %d and %d of %d documents: must be >= 0 and at most all", onlyA, onlyB, n)
	}
	discordant, size := float64(onlyA+onlyB), float64(n)
	d := float64(onlyA-onlyB) / size
	half := distuv.UnitNormal.Quantile(0.975) * math.Sqrt(max(0, discordant/size-d*d)/size)
	t := Test{Difference: d, T: math.NaN(), DF: math.NaN(), P: 1, Low: d - half, High: d + half}
	if discordant > 0 {
		t.P = min(1, 2*distuv.Binomial{N: discordant, P: 0.5}.CDF(float64(min(onlyA, onlyB))))
	}
	return t, nil
}

// WelchSampled is Welch's test of two runs on different samples: varianceA and
// varianceB are what the sample of each adds to its mean, known beforehand.
func WelchSampled(a, b []float64, varianceA, varianceB float64) (Test, error) {
	t, err := Welch(a, b)
	if err != nil || varianceA+varianceB == 0 {
		return t, err
	}
	// The variance of repetitions is estimated, that of the samples is not:
	// Satterthwaite's degrees of freedom grow by their share.
	estimated, df := 0.0, 1.0
	if t.Low < t.High {
		se := (t.High - t.Low) / 2 / distuv.StudentsT{Sigma: 1, Nu: t.DF}.Quantile(0.975)
		estimated, df = se*se, t.DF
	}
	whole := estimated + varianceA + varianceB
	if estimated == 0 {
		df = math.Inf(1)
	} else {
		df *= (whole / estimated) * (whole / estimated)
	}
	return studentTest(t.Difference, math.Sqrt(whole), df), nil
}
