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
	sw.Part = t.Distinct
	sw.Whole = t.Words
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
		parts := strings.Split(f, ":") // of which a word may have some
		n := len(parts) - 2
		if n < 1 {
			return nil, fmt.Errorf("n_w: %q: must be word:unchanged:distinct", f)
		}
		unchanged, errUnchanged := strconv.Atoi(parts[n])
		distinct, errDistinct := strconv.Atoi(parts[n+1])
		if errUnchanged != nil || errDistinct != nil {
			return nil, fmt.Errorf("n_w: %q: must be word:unchanged:distinct", f)
		}
		words[i] = metrics.Deniability[string]{
			Word:      strings.Join(parts[:n], ":"),
			Runs:      nw.Whole / len(fields),
			Unchanged: unchanged,
			Distinct:  distinct,
		}
	}
	return words, nil
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
