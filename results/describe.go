package results

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/metrics"
)

// Deniability makes the numbers of N_w and S_w, in %, and in distinct outputs a
// word, from the outcomes of words. The detail of N_w keeps every word:
// "word:unchanged:distinct …".
func Deniability(words []metrics.Deniability[string]) (nw, sw Measured) {
	t := metrics.TotalDeniability(words)
	nw = Share(t.Unchanged, t.Runs)
	sw = Number(t.Sw())
	sw.Part, sw.Whole = t.Distinct, t.Words
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = fmt.Sprintf("%s:%d:%d", w.Word, w.Unchanged, w.Distinct)
	}
	nw.Detail = strings.Join(parts, " ")
	return nw, sw
}

// DeniabilityWords reads the outcomes of words from N_w; none where they are
// not recorded. A word may contain colons but no space, because tokens are
// separated by spaces.
func DeniabilityWords(nw Measured) ([]metrics.Deniability[string], error) {
	fields := strings.Fields(nw.Detail)
	if len(fields) == 0 {
		return nil, nil
	}
	if nw.Whole%len(fields) != 0 {
		return nil, fmt.Errorf("n_w: %d runs do not divide among %d words", nw.Whole, len(fields))
	}
	words := make([]metrics.Deniability[string], len(fields))
	for i, f := range fields {
		head, distinct, ok := cutLast(f, ":")
		word, unchanged, ok2 := cutLast(head, ":")
		u, err1 := strconv.Atoi(unchanged)
		d, err2 := strconv.Atoi(distinct)
		if !ok || !ok2 || err1 != nil || err2 != nil {
			return nil, fmt.Errorf("n_w: %q: must be word:unchanged:distinct", f)
		}
		words[i] = metrics.Deniability[string]{Word: word, Runs: nw.Whole / len(fields), Unchanged: u, Distinct: d}
	}
	return words, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// SwOthers returns S_w without the word itself, as in the published tables, NaN
// without counts per word.
func (c Cell) SwOthers() float64 {
	nw, _ := c.At("n_w")
	words, err := DeniabilityWords(nw)
	if err != nil || len(words) == 0 {
		return math.NaN()
	}
	others := list.Sum(words, func(w metrics.Deniability[string]) int { return w.Others() })
	return float64(others) / float64(len(words))
}
