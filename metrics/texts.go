package metrics

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode"

	"mldpbench/internal/check"
	"mldpbench/stream"
)

// Measures of how much of a reference text is in another one, as machine
// translation and summarisation define them: BLEU and chrF as sacrebleu computes
// them, ROUGE-L as rouge-score does. Here the reference is the text as it was,
// the hypothesis the privatised text. Scores are 0–100.

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
	seed stream.Seed) (out Interval, err error) {
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
func BLEU(hypotheses []string, references [][]string, resamples int, level float64, seed stream.Seed) (Interval,
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

// chrFOrder is the length of the longest n-grams of chrF.
const chrFOrder = 6

// ChrF compares the n-grams of characters of texts with those of their
// references (Popović 2015), as sacrebleu 2 does by default: chrF2, up to six
// characters, white space left out, no words. Of several references of a text
// the one with the highest score counts.
func ChrF(hypotheses []string, references [][]string, resamples int, level float64, seed stream.Seed) (Interval,
	error) {
	out, err := overCorpus(textMeasure{chrFCounts(2, false), func(t tally) float64 { return chrF(t, 2) }}, hypotheses,
		references, resamples, level, seed)
	if err != nil {
		return out, fmt.Errorf("chrF: %w", err)
	}
	return out, nil
}

// chrFCounts are, for each order, the n-grams of the text (none where the
// reference has none), of the reference, and of both.
func chrFCounts(beta float64, space bool) func(string, []string) tally {
	letters := func(text string) []string {
		if space {
			return strings.Split(text, "")
		}
		return strings.Split(strings.Join(strings.FieldsFunc(text, unicode.IsSpace), ""), "")
	}
	return func(hypothesis string, references []string) tally {
		h := letters(hypothesis)
		var best tally
		for _, text := range references {
			r, t := letters(text), make(tally, 3*chrFOrder)
			for n := range chrFOrder {
				of := ngrams(r, n+1, "")
				for gram, c := range ngrams(h, n+1, "") {
					if len(of) > 0 {
						t[3*n] += float64(c)
					}
					t[3*n+2] += float64(min(c, of[gram]))
				}
				for _, c := range of {
					t[3*n+1] += float64(c)
				}
			}
			if best == nil || chrF(t, beta) > chrF(best, beta) {
				best = t
			}
		}
		return best
	}
}

// chrF is the F score of the mean precision and the mean recall over the orders
// that text and reference both have.
func chrF(t tally, beta float64) float64 {
	var precision, recall, orders float64
	for n := range chrFOrder {
		if own, of := t[3*n], t[3*n+1]; own > 0 && of > 0 {
			precision, recall, orders = precision+t[3*n+2]/own, recall+t[3*n+2]/of, orders+1
		}
	}
	if precision+recall == 0 {
		return 0
	}
	precision, recall = precision/orders, recall/orders
	return 100 * (1 + beta*beta) * precision * recall / (beta*beta*precision + recall)
}

// RougeL returns the mean over texts of ROUGE-L's F1 against a reference each
// (Lin 2004), with its 95% t interval, as rouge-score computes it without a
// stemmer: the longest common subsequence of lower-case words of letters a to z
// and digits.
func RougeL(hypotheses, references []string) (Interval, error) {
	if len(hypotheses) != len(references) {
		return Interval{}, fmt.Errorf("ROUGE-L: %d texts for %d references", len(hypotheses), len(references))
	}
	scores := make([]float64, len(hypotheses))
	for i, h := range hypotheses {
		scores[i] = rougeL(h, references[i])
	}
	return MeanInterval(scores, 0.95), nil
}

func rougeL(hypothesis, reference string) float64 {
	words := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
		})
	}
	h, r := words(hypothesis), words(reference)
	common := longestCommon(h, r)
	if common == 0 {
		return 0
	}
	return 100 * 2 * float64(common) / float64(len(h)+len(r)) // the harmonic mean of common/len(h), common/len(r)
}

// longestCommon returns the length of the longest common subsequence.
func longestCommon[W comparable](a, b []W) int {
	row := make([]int, len(b)+1) // of the words of a so far
	for _, w := range a {
		diagonal := 0
		for j, v := range b {
			above := row[j+1]
			if v == w {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}
