package metrics

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/internal/stats"
	"mldpbench/stream"
)

// BLEU is how much of a reference text is in another one, as sacrebleu computes
// it. Here the reference is the text as it was, the hypothesis the privatised
// text. Scores are 0–100.

// tally are the counts of a text that a measure of a corpus is computed from;
// those of a corpus are their sums.
type tally []float64

// textMeasure computes a score from counts.
type textMeasure struct {
	count func(hypothesis string, references []string) tally
	score func(t tally) float64
}

// overCorpus returns the score of a corpus, from the sums of the counts of all
// documents, with its percentile interval over resamples of documents.
func overCorpus(m textMeasure, hypotheses []string, references [][]string, resamples int, level float64,
	seed stream.Seed) (out stats.Interval, err error) {
	if len(hypotheses) != len(references) {
		return out, fmt.Errorf("%d texts for %d references", len(hypotheses), len(references))
	}
	if err := cmp.Or(check.AtLeast("texts", len(hypotheses), 1), check.AtLeast("resamples", resamples, 1),
		check.Inside("level", level, 0, 1)); err != nil {
		return out, err
	}
	all := make([]tally, len(hypotheses))
	for i, h := range hypotheses {
		if len(references[i]) == 0 {
			return out, fmt.Errorf("text %d: no reference", i)
		}
		all[i] = m.count(h, references[i])
	}
	total := make(tally, len(all[0]))
	score := func(pick func(i int) int) float64 {
		clear(total)
		for i := range all {
			for j, v := range all[pick(i)] {
				total[j] += v
			}
		}
		return m.score(total)
	}
	rng := seed.Derive("texts").Rand()
	drawn := make([]float64, resamples)
	for i := range drawn {
		drawn[i] = score(func(int) int { return rng.IntN(len(all)) })
	}
	return Percentiles(score(func(i int) int { return i }), drawn, level), nil
}

// bleuOrder is the length of the longest n-grams of BLEU.
const bleuOrder = 4

// BLEU compares texts with their references (Papineni et al. 2002), as sacrebleu
// 2 does by default: tokens of mteval-v13a, case kept, exponential smoothing.
func BLEU(hypotheses []string, references [][]string, resamples int, level float64, seed stream.Seed) (stats.Interval,
	error) {
	out, err := overCorpus(textMeasure{bleuCounts(tokens13a), func(t tally) float64 { return bleu(t, false) }},
		hypotheses, references, resamples, level, seed)
	if err != nil {
		return out, fmt.Errorf("BLEU: %w", err)
	}
	return out, nil
}

// bleuCounts are the length of a text, that of the reference closest in length,
// and for each order the n-grams that are in a reference and those of the text.
func bleuCounts(tokens func(string) []string) func(string, []string) tally {
	return func(hypothesis string, references []string) tally {
		h := tokens(hypothesis)
		out := make(tally, 2+2*bleuOrder)
		most := map[string]int{}
		closest := -1
		for _, text := range references {
			r := tokens(text)
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
// n-gram has precision 1/(2^k·total), k counting such orders. effective leaves
// out orders for which a text is too short (sacrebleu's effective order, for single
// texts); otherwise they make the score 0.
func bleu(t tally, effective bool) float64 {
	common := 0.0
	for n := 1; n <= bleuOrder; n++ {
		common += t[2*n]
	}
	if common == 0 {
		return 0
	}
	logs, orders, smooth := 0.0, 0, 1.0
	for n := 1; n <= bleuOrder && t[2*n+1] > 0; n++ {
		p := t[2*n] / t[2*n+1]
		if p == 0 {
			smooth *= 2
			p = 1 / (smooth * t[2*n+1])
		}
		logs, orders = logs+math.Log(p), orders+1
	}
	if orders < bleuOrder && !effective {
		return 0
	}
	brevity := 1.0
	if t[0] < t[1] {
		brevity = math.Exp(1 - t[1]/t[0])
	}
	return 100 * brevity * math.Exp(logs/float64(orders))
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
