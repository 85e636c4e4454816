package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/check"
	"mldpbench/internal/stats"
	"mldpbench/stream"
)

// MacroF1 is the mean over classes of the harmonic mean of precision and
// recall, 0–1; a class that is neither predicted nor present counts 0, as does
// one without a true positive. Labels are in [0, classes).
func MacroF1(predicted, labels []int, classes int) (float64, error) {
	if len(predicted) != len(labels) {
		return 0, fmt.Errorf("macro F1: %d predictions for %d labels", len(predicted), len(labels))
	}
	for i, l := range labels {
		if l < 0 || l >= classes || predicted[i] < 0 || predicted[i] >= classes {
			return 0, fmt.Errorf("macro F1: document %d: label %d, prediction %d: must be in [0, %d)", i, l,
				predicted[i], classes)
		}
	}
	return newConfusion(predicted, labels, classes).macroF1(), nil
}

// confusion counts label × prediction.
type confusion struct {
	classes int
	counts  []int
}

func newConfusion(predicted, labels []int, classes int) confusion {
	c := confusion{classes, make([]int, classes*classes)}
	for i, l := range labels {
		c.counts[l*classes+predicted[i]]++
	}
	return c
}

// margins are how often each label occurs and how often it is predicted.
func (c confusion) margins() (actual, predicted []int) {
	actual, predicted = make([]int, c.classes), make([]int, c.classes)
	for k := range c.classes {
		for j := range c.classes {
			actual[k] += c.counts[k*c.classes+j]
			predicted[k] += c.counts[j*c.classes+k]
		}
	}
	return actual, predicted
}

func (c confusion) macroF1() float64 {
	actual, predicted := c.margins()
	sum := 0.0
	for k, n := range actual {
		if n += predicted[k]; n > 0 {
			sum += 2 * float64(c.counts[k*c.classes+k]) / float64(n)
		}
	}
	return sum / float64(c.classes)
}

// guessF1 returns the macro F1 of the expected counts if labels and predictions
// are independent.
func (c confusion) guessF1() float64 {
	actual, predicted := c.margins()
	total, sum := 0.0, 0.0
	for _, n := range actual {
		total += float64(n)
	}
	for k := range actual {
		if n, m := float64(actual[k]), float64(predicted[k]); n+m > 0 {
			sum += 2 * n * m / total / (n + m)
		}
	}
	return sum / float64(c.classes)
}

func (c confusion) accuracy() float64 {
	right, total := 0, 0
	for i, n := range c.counts {
		total += n
		if i%(c.classes+1) == 0 {
			right += n
		}
	}
	return float64(right) / float64(total)
}

// Attribute is how well an attacker infers the private labels of documents. All
// numbers are shares, 0–1, with bootstrap intervals over the documents.
type Attribute struct {
	Accuracy stats.Interval
	MacroF1  stats.Interval
	// Plain is the score of the same attacker, trained and tested on plain
	// text: the upper limit.
	PlainAccuracy float64
	PlainF1       float64
	// Majority is the score of always predicting the most frequent label.
	MajorityAccuracy float64
	MajorityF1       float64
	// GuessF1 is the macro F1 of the attacker's own predictions when they are
	// assigned to the documents at random, that is, without information. It is
	// above MajorityF1: .50 against .33 for two equal classes.
	GuessF1 float64
	// Advantage is (F1 − majority)/(plain − majority): 1 where privatising does
	// not hinder the attacker. An attacker that learns nothing may still score
	// AdvantageFloor = (GuessF1 − majority)/(plain − majority), which is 0 only
	// if it always predicts the most frequent label.
	Advantage      stats.Interval
	AdvantageFloor float64
}

// MeasureAttribute compares predictions of private labels from privatised
// documents (predicted, one list per release of the same documents) and from
// plain ones (plain) with the truth. Scores are means over releases. The
// intervals are percentiles over the given number of bootstrap resamples: of
// documents, with all their predictions together, and, where there are several
// releases, of releases, so that the mechanism's noise is in them. An advantage
// is NaN where the attacker on plain text scores no more than the most frequent
// label: there is nothing to hinder.
func MeasureAttribute(predicted [][]int, plain, labels []int, classes, resamples int, level float64,
	seed stream.Seed) (Attribute, error) {
	var out Attribute
	if err := cmp.Or(check.AtLeast("classes", classes, 2), check.AtLeast("documents", len(labels), 1),
		check.AtLeast("resamples", resamples, 1), check.Inside("level", level, 0, 1),
		check.AtLeast("releases", len(predicted), 1)); err != nil {
		return out, fmt.Errorf("attribute: %w", err)
	}
	for _, p := range append([][]int{plain}, predicted...) {
		if _, err := MacroF1(p, labels, classes); err != nil {
			return out, fmt.Errorf("attribute: %w", err)
		}
	}
	counts := make([]int, classes)
	for _, l := range labels {
		counts[l]++
	}
	most := slices.Index(counts, slices.Max(counts))
	constant := newConfusion(slices.Repeat([]int{most}, len(labels)), labels, classes)
	out.MajorityAccuracy, out.MajorityF1 = constant.accuracy(), constant.macroF1()
	truth, ceiling := newConfusion(nil, nil, classes), newConfusion(plain, labels, classes)
	for _, p := range predicted {
		for i, n := range newConfusion(p, labels, classes).counts {
			truth.counts[i] += n
		}
	}
	out.PlainAccuracy, out.PlainF1 = ceiling.accuracy(), ceiling.macroF1()
	out.GuessF1 = truth.guessF1()

	advantage := func(value, most, plain float64) float64 {
		if plain <= most {
			return math.NaN()
		}
		return (value - most) / (plain - most)
	}
	out.AdvantageFloor = advantage(out.GuessF1, out.MajorityF1, out.PlainF1)
	numbers := func(got, plain confusion) [3]float64 {
		f := got.macroF1()
		return [3]float64{got.accuracy(), f, advantage(f, out.MajorityF1, plain.macroF1())}
	}
	estimate := numbers(truth, ceiling)
	var drawn [3][]float64
	rng := seed.Derive("attribute", "bootstrap").Rand()
	got, other := newConfusion(nil, nil, classes), newConfusion(nil, nil, classes)
	releases := slices.Clone(predicted)
	for range resamples {
		clear(got.counts)
		clear(other.counts)
		if len(predicted) > 1 {
			for r := range releases {
				releases[r] = predicted[rng.IntN(len(predicted))]
			}
		}
		for range labels {
			i := rng.IntN(len(labels))
			for _, p := range releases {
				got.counts[labels[i]*classes+p[i]]++
			}
			other.counts[labels[i]*classes+plain[i]]++
		}
		for j, v := range numbers(got, other) {
			if !math.IsNaN(v) {
				drawn[j] = append(drawn[j], v)
			}
		}
	}
	for j, to := range []*stats.Interval{&out.Accuracy, &out.MacroF1, &out.Advantage} {
		*to = Percentiles(estimate[j], drawn[j], level)
	}
	return out, nil
}

// Percentiles returns the bootstrap interval of an estimate, unknown where the
// estimate is unknown.
func Percentiles(estimate float64, drawn []float64, level float64) stats.Interval {
	if math.IsNaN(estimate) || len(drawn) == 0 {
		return stats.Interval{Estimate: estimate, Low: math.NaN(), High: math.NaN()}
	}
	slices.SortFunc(drawn, cmp.Compare[float64])
	at := func(share float64) float64 {
		return drawn[min(len(drawn)-1, max(0, int(math.Floor(share*float64(len(drawn))))))]
	}
	return stats.Interval{Estimate: estimate, Low: min(estimate, at((1-level)/2)), High: max(estimate, at((1+level)/2))}
}
