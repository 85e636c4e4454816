package audit

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
)

// event is a set of released texts.
type event struct {
	name string
	has  func(text features) bool
}

// features of a released text are what an event can be made of: its words, with and without
// case, their number, and what else stands in it.
type features map[string]bool

// isOutsideWord is false of letters and digits.
func isOutsideWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// featuresOf are those of a text. No two of different kinds have one name.
func featuresOf(text string) features {
	all := features{}
	words := strings.Fields(text)
	for _, w := range words {
		all["has the word "+w] = true
		lower := strings.ToLower(strings.TrimFunc(w, isOutsideWord))
		all["has "+lower] = true
	}
	if len(words) <= 12 {
		all[fmt.Sprintf("has %d words", len(words))] = true
	}
	for n := 1; n <= len(words) && n <= 1<<16; n *= 2 {
		all[fmt.Sprintf("has %d words or more", n)] = true
	}
	if len(text) <= 200 {
		all["is "+text] = true
	}
	for _, r := range text {
		switch {
		case unicode.IsDigit(r):
			all["has a digit"] = true
		case unicode.IsUpper(r):
			all["has a capital"] = true
		case unicode.IsPunct(r) || unicode.IsSymbol(r):
			all["has the sign "+string(r)] = true
			all["has a sign"] = true
		case r == '\n':
			all["has a line's end"] = true
		case r > unicode.MaxASCII:
			all["has a letter with an accent"] = true
		}
	}
	if strings.Contains(text, "  ") {
		all["has two spaces"] = true
	}
	if len(text) != len(strings.TrimSpace(text)) {
		all["begins or ends with a space"] = true
	}
	return all
}

// featureCounts says how many of some texts have each feature.
func featureCounts(texts []features) map[string]int {
	counts := map[string]int{}
	for _, text := range texts {
		for f := range text {
			counts[f]++
		}
	}
	return counts
}

// mostTellingEvent returns the event that seems to tell releases of a from those of b best, and
// the log-ratio that counts of half of the releases show: a feature, the lack of one, or, as
// Bayes with independent features sees it, what looks more like a. The weights of the last come
// from one half of the releases and its threshold from the other.
func mostTellingEvent(a, b []features) (best event, ratio float64) {
	ratio = math.Inf(-1)
	try := func(e event, inA, inB, n int) {
		if found := smoothedRatio(inA, inB, n); found > ratio {
			best = e
			ratio = found
		}
	}
	countA := featureCounts(a)
	countB := featureCounts(b)
	both := maps.Clone(countA)
	maps.Copy(both, countB)
	for _, f := range slices.Sorted(maps.Keys(both)) {
		with := event{"it " + f, func(text features) bool { return text[f] }}
		without := event{"not: it " + f, func(text features) bool { return !text[f] }}
		try(with, countA[f], countB[f], len(a))
		try(without, len(a)-countA[f], len(b)-countB[f], len(a))
	}
	half := len(a) / 2
	weights := bayesWeights(a[:half], b[:half])
	for _, threshold := range thresholds(weights, a[half:]) {
		isAbove := func(text features) bool { return weights.of(text) >= threshold }
		e := event{"it looks like releases of the first", isAbove}
		try(e, countIn(e, a[half:]), countIn(e, b[half:]), len(a)-half)
	}
	return best, ratio
}

// smoothedRatio is a cautious log-ratio of two shares of n: an event that came once tells little.
func smoothedRatio(inA, inB, n int) float64 {
	p := (float64(inA) + 0.5) / (float64(n) + 1)
	q := (float64(inB) + 0.5) / (float64(n) + 1)
	deviation := math.Sqrt(1/(float64(inA)+0.5) + 1/(float64(inB)+0.5))
	return math.Log(p/q) - deviation
}

// weights are the log-ratios of features.
type weights map[string]float64

func bayesWeights(a, b []features) weights {
	countA := featureCounts(a)
	countB := featureCounts(b)
	w := weights{}
	for f := range countA {
		w[f] = math.Log((float64(countA[f]) + 0.5) / (float64(countB[f]) + 0.5))
	}
	for f := range countB {
		w[f] = math.Log((float64(countA[f]) + 0.5) / (float64(countB[f]) + 0.5))
	}
	return w
}

func (w weights) of(text features) float64 {
	all := slices.Sorted(maps.Keys(text)) // sums of floats depend on their order
	sum := 0.0
	for _, f := range all {
		sum += w[f]
	}
	return sum
}

// thresholds are some quantiles of the weights of texts.
func thresholds(w weights, texts []features) []float64 {
	all := make([]float64, len(texts))
	for i, text := range texts {
		all[i] = w.of(text)
	}
	slices.SortFunc(all, cmp.Compare[float64])
	const several = 8
	var some []float64
	for i := range several {
		some = append(some, all[i*len(all)/several])
	}
	return slices.Compact(some)
}

// countIn counts the texts of an event.
func countIn(e event, texts []features) int {
	n := 0
	for _, text := range texts {
		if e.has(text) {
			n++
		}
	}
	return n
}
