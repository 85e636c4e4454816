package metrics

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"mldpbench/internal/stats"
	"mldpbench/stream"
)

// tally are the counts of a text from which BLEU is computed; those of a corpus are
// their sums.
type tally [2 + 2*bleuOrder]float64

// bleuOrder is the length of the longest n-grams of BLEU.
const bleuOrder = 4

// BLEU is how much of reference texts is in other ones (Papineni et al. 2002), 0–100, as
// sacrebleu 2 computes it by default: tokens of mteval-v13a, case kept, exponential
// smoothing. Here a reference is the text as it was, the hypothesis the privatised text.
// The interval is of percentiles over resamples of documents.
func BLEU(hypotheses []string, references [][]string, resamples int, level float64, seed stream.Seed) (stats.Interval,
	error) {
	if n := len(hypotheses); n < 1 || n != len(references) {
		return stats.Interval{}, fmt.Errorf("BLEU: %d texts for %d references", n, len(references))
	}
	all := make([]tally, len(hypotheses))
	for i, h := range hypotheses {
		all[i] = bleuCounts(h, references[i])
	}
	score := func(pick func(i int) int) float64 {
		var total tally
		for i := range all {
			for j, v := range all[pick(i)] {
				total[j] += v
			}
		}
		return bleu(total)
	}
	rng := seed.Derive("texts").Rand()
	drawn := make([]float64, resamples)
	for i := range drawn {
		drawn[i] = score(func(int) int { return rng.IntN(len(all)) })
	}
	return Percentiles(score(func(i int) int { return i }), drawn, level), nil
}

// bleuCounts are the length of a text, that of the reference closest in length,
// and for each order the n-grams that are in a reference and those of the text.
func bleuCounts(hypothesis string, references []string) (out tally) {
	h, most, closest := tokens13a(hypothesis), map[string]int{}, -1
	for _, text := range references {
		r := tokens13a(text)
		if d, best := abs(len(r)-len(h)), abs(closest-len(h)); closest < 0 || d < best || d == best && len(r) < closest {
			closest = len(r)
		}
		for n := 1; n <= bleuOrder; n++ {
			for gram, c := range ngrams(r, n, "\x00") {
				most[gram] = max(most[gram], c)
			}
		}
	}
	out[0], out[1] = float64(len(h)), float64(closest)
	for n := 1; n <= bleuOrder; n++ {
		for gram, c := range ngrams(h, n, "\x00") {
			out[2*n] += float64(min(c, most[gram]))
			out[2*n+1] += float64(c)
		}
	}
	return out
}

func abs(n int) int { return max(n, -n) }

// ngrams counts the n-grams of a list.
func ngrams(of []string, n int, separator string) map[string]int {
	counts := map[string]int{}
	for i := 0; i+n <= len(of); i++ {
		counts[strings.Join(of[i:i+n], separator)]++
	}
	return counts
}

// bleu is 100·brevity·exp(mean of ln precision). An order without a common
// n-gram has precision 1/(2^k·total), k counting such orders; one for which the text
// is too short makes the score 0.
func bleu(t tally) float64 {
	common := 0.0
	for n := 1; n <= bleuOrder; n++ {
		common += t[2*n]
	}
	if common == 0 {
		return 0
	}
	logs, smooth := 0.0, 1.0
	for n := 1; n <= bleuOrder; n++ {
		if t[2*n+1] == 0 {
			return 0
		}
		p := t[2*n] / t[2*n+1]
		if p == 0 {
			smooth *= 2
			p = 1 / (smooth * t[2*n+1])
		}
		logs += math.Log(p)
	}
	brevity := 1.0
	if t[0] < t[1] {
		brevity = math.Exp(1 - t[1]/t[0])
	}
	return 100 * brevity * math.Exp(logs/bleuOrder)
}

// rules13a are those of mteval-v13a: signs are tokens, points and commas but
// inside numbers, a dash after a digit.
var rules13a = []struct {
	find *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`([\x7b-\x7e\x5b-\x60\x20-\x26\x28-\x2b\x3a-\x40/])`), " $1 "},
	{regexp.MustCompile(`([^0-9])([.,])`), "$1 $2 "},
	{regexp.MustCompile(`([.,])([^0-9])`), " $1 $2"},
	{regexp.MustCompile(`([0-9])(-)`), "$1 $2 "},
}

var entities13a = strings.NewReplacer("<skipped>", "", "-\n", "", "\n", " ")

func tokens13a(text string) []string {
	text = entities13a.Replace(text)
	for _, e := range [][2]string{{"&quot;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}} {
		text = strings.ReplaceAll(text, e[0], e[1])
	}
	text = " " + text + " "
	for _, r := range rules13a {
		text = r.find.ReplaceAllString(text, r.by)
	}
	return strings.Fields(text)
}
