package metrics

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"mldpbench/internal/stats"
)

// tally are the counts of a text from which BLEU is computed; those of a corpus are
// their sums.
type tally struct {
	length    float64            // of the text, in tokens
	reference float64            // of the reference that is closest in length
	common    [bleuOrder]float64 // n-grams that are in a reference, by n − 1
	total     [bleuOrder]float64 // n-grams of the text
}

// bleuOrder is the length of the longest n-grams of BLEU.
const bleuOrder = 4

// BLEU is how much of reference texts is in other ones (Papineni et al. 2002), 0–100, as
// sacrebleu 2 computes it by default: tokens of mteval-v13a, case kept, exponential
// smoothing. Here a reference is the text as it was, the hypothesis the privatised text;
// there is a list of references for each hypothesis, and one text at least. The interval
// is of resamples of documents.
func BLEU(hypotheses []string, references [][]string, b Bootstrap) (stats.Interval, error) {
	n := len(hypotheses)
	if n < 1 || n != len(references) {
		return stats.Interval{}, fmt.Errorf("BLEU: %d texts for %d references", n, len(references))
	}
	all := make([]tally, n)
	var corpus tally
	for i, h := range hypotheses {
		all[i] = bleuCounts(h, references[i])
		corpus.add(all[i])
	}
	rng := b.Seed.Derive("texts").Rand()
	drawn := make([]float64, b.Resamples)
	for k := range drawn {
		var resample tally
		for range n {
			resample.add(all[rng.IntN(n)])
		}
		drawn[k] = resample.bleu()
	}
	return Percentiles(corpus.bleu(), drawn, b.Level), nil
}

func (t *tally) add(other tally) {
	t.length += other.length
	t.reference += other.reference
	for n := range bleuOrder {
		t.common[n] += other.common[n]
		t.total[n] += other.total[n]
	}
}

// bleuCounts are those of one text.
func bleuCounts(hypothesis string, references []string) tally {
	h := tokens13a(hypothesis)
	most := map[string]int{} // of each n-gram, in one reference
	closest := -1
	for _, text := range references {
		r := tokens13a(text)
		if closest < 0 || closer(len(r), closest, len(h)) {
			closest = len(r)
		}
		for n := 1; n <= bleuOrder; n++ {
			for gram, c := range ngrams(r, n, "\x00") {
				most[gram] = max(most[gram], c)
			}
		}
	}
	out := tally{length: float64(len(h)), reference: float64(closest)}
	for n := range bleuOrder {
		for gram, c := range ngrams(h, n+1, "\x00") {
			out.common[n] += float64(min(c, most[gram]))
			out.total[n] += float64(c)
		}
	}
	return out
}

// closer reports whether a length is closer to that of a text than another is, or as close and shorter.
func closer(length, other, text int) bool {
	distance := abs(length - text)
	least := abs(other - text)
	return distance < least || distance == least && length < other
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
func (t tally) bleu() float64 {
	common := 0.0
	for _, c := range t.common {
		common += c
	}
	if common == 0 {
		return 0
	}
	logs := 0.0
	smooth := 1.0
	for n, total := range t.total {
		if total == 0 {
			return 0
		}
		p := t.common[n] / total
		if p == 0 {
			smooth *= 2
			p = 1 / (smooth * total)
		}
		logs += math.Log(p)
	}
	brevity := 1.0
	if t.length < t.reference {
		brevity = math.Exp(1 - t.reference/t.length)
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

var (
	skipped13a  = strings.NewReplacer("<skipped>", "", "-\n", "", "\n", " ")
	entities13a = []struct{ find, by string }{{"&quot;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}}
)

// tokens13a are those of mteval-v13a.
func tokens13a(text string) []string {
	text = skipped13a.Replace(text)
	for _, e := range entities13a {
		text = strings.ReplaceAll(text, e.find, e.by)
	}
	text = " " + text + " "
	for _, r := range rules13a {
		text = r.find.ReplaceAllString(text, r.by)
	}
	return strings.Fields(text)
}
