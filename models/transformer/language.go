package transformer

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/check"
	"mldpbench/internal/kernel"
	"mldpbench/internal/list"
)

// logNormaliser returns ln Σ e^x.
func logNormaliser(x []float32, space []float32) float64 {
	top := []float32{kernel.Largest(x)}
	kernel.Combine(kernel.Subtract, space, x, top)
	kernel.Exp(space, space)
	return float64(top[0]) + math.Log(float64(kernel.Sum(space)))
}

// Candidates are words that a masked model chooses from, in pieces.
type Candidates struct {
	// Excluded are the words that have no probability: those with more pieces
	// than asked for, with none, or with an unknown piece.
	Excluded []bool
	pieces   [2][][]int // inside a text, and as its first word
	lengths  [2][]int   // numbers of pieces that occur
}

// Candidates prepares words to choose from. Words of more than maxPieces pieces
// are excluded; the masked model runs once per word of a text and number of
// pieces.
func (m *Model) Candidates(words []string, maxPieces int) (*Candidates, error) {
	if err := check.AtLeast("candidates", len(words), 1); err != nil {
		return nil, err
	}
	if err := check.AtLeast("pieces of a word", maxPieces, 1); err != nil {
		return nil, err
	}
	c := &Candidates{Excluded: make([]bool, len(words))}
	unknown := -1
	for _, token := range []string{"[UNK]", "<unk>"} {
		if id, ok := m.tokens.Special[token]; ok {
			unknown = id
		}
	}
	for first := range c.pieces {
		c.pieces[first] = make([][]int, len(words))
		for i, w := range words {
			p := m.tokens.Word(w, first == 1)
			if len(p) == 0 || len(p) > maxPieces || slices.Contains(p, unknown) {
				c.Excluded[i] = true
				continue
			}
			c.pieces[first][i] = p
			if !slices.Contains(c.lengths[first], len(p)) {
				c.lengths[first] = append(c.lengths[first], len(p))
			}
		}
		slices.Sort(c.lengths[first])
	}
	if !slices.Contains(c.Excluded, false) {
		return nil, fmt.Errorf("model %s: no candidate of at most %d known pieces", m.name, maxPieces)
	}
	return c, nil
}

// MaskedWords returns, for each position of a text of words, the natural
// logarithms of the candidates' probabilities as the word there, given all
// other words: a distribution over the candidates, −Inf for excluded ones.
//
// The word's pieces are replaced by mask tokens. A candidate of one piece has
// the model's probability at one mask token; one of k pieces has the product of
// its pieces' probabilities at k mask tokens, all masked at once. Products of
// different k are not parts of one distribution of the model, so they are made
// one by normalising over the candidates: between words of equal length the
// ratio is the model's, between others it is a convention, as pseudo-log-
// likelihood is (Salazar et al. 2020). A text that is longer than the limit is
// cut around the word.
func (m *Model) MaskedWords(ctx context.Context, words []string, positions []int, c *Candidates) ([][]float64, error) {
	type place struct{ position, length int }
	var places []place
	var jobs []job
	for k, p := range positions {
		if p < 0 || p >= len(words) {
			return nil, fmt.Errorf("position %d of %d words", p, len(words))
		}
		for _, n := range c.lengths[firstIndex(p)] {
			places = append(places, place{k, n})
		}
	}
	scores := make([][]float64, len(positions))
	for k := range scores {
		scores[k] = make([]float64, len(c.Excluded))
		for i := range scores[k] {
			scores[k][i] = math.Inf(-1)
		}
	}
	pieces := m.words(words)
	for _, p := range places {
		j, err := m.masked(pieces, positions[p.position], p.length)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	err := m.runMasked(ctx, jobs, func(i int, rows [][]float32) {
		p := places[i]
		space := make([]float32, m.classes)
		norms := list.Map(rows, func(row []float32) float64 { return logNormaliser(row, space) })
		to := scores[p.position] // jobs of one position write different candidates
		for w, ids := range c.pieces[firstIndex(positions[p.position])] {
			if len(ids) != p.length || c.Excluded[w] {
				continue
			}
			sum := 0.0
			for r, id := range ids {
				if id >= len(rows[r]) {
					sum = math.Inf(-1)
					break
				}
				sum += float64(rows[r][id]) - norms[r]
			}
			to[w] = sum
		}
	})
	for _, s := range scores {
		normalise(s)
	}
	return scores, err
}

func firstIndex(position int) int {
	if position == 0 {
		return 1
	}
	return 0
}

// normalise makes logarithms those of a distribution.
func normalise(x []float64) {
	if total := floats.LogSumExp(x); !math.IsInf(total, -1) {
		floats.AddConst(-total, x)
	}
}

func (m *Model) runMasked(ctx context.Context, jobs []job, done func(i int, rows [][]float32)) error {
	if m.task != Masked {
		return fmt.Errorf("model %s: a model of the kind %s fills no masks", m.name, m.task)
	}
	return m.run(ctx, jobs, source{output: m.output}, func(i int, rows [][]float32) error {
		for _, row := range rows {
			if !finite(row) {
				return fmt.Errorf("scores that are not finite")
			}
		}
		done(i, rows)
		return nil
	})
}

// words returns the pieces of each word of a text.
func (m *Model) words(words []string) [][]int {
	pieces := make([][]int, len(words))
	for i, w := range words {
		pieces[i] = m.tokens.Word(w, i == 0)
	}
	return pieces
}

// masked is a text with count mask tokens in place of a word, cut to the limit
// with the word as near to the middle as can be.
func (m *Model) masked(pieces [][]int, position, count int) (job, error) {
	room := m.limit - len(m.before) - len(m.after) - count
	if room < 0 {
		return job{}, fmt.Errorf("model %s: a word of %d pieces and a limit of %d", m.name, count, m.limit)
	}
	left := slices.Concat(pieces[:position]...)
	right := slices.Concat(pieces[position+1:]...)
	if over := len(left) + len(right) - room; over > 0 {
		fromRight := min(over, max(0, len(right)-room/2))
		right = right[:len(right)-fromRight]
		left = left[over-fromRight:]
	}
	ids := slices.Concat(m.before, left)
	var rows []int
	for range count {
		rows = append(rows, len(ids))
		ids = append(ids, m.mask)
	}
	return job{slices.Concat(ids, right, m.after), rows}, nil
}

// CausalLogProbs returns the natural logarithms of the probabilities of each
// text's pieces, each given all pieces before it. The ids are those of the
// tokenizer with its special tokens; the first is not scored. Where the
// tokenizer puts no token in front and config.json names a first token (GPT-2),
// that is put there, so that all pieces of the text are scored. A closing token
// is scored as a piece.
//
// A text of more pieces than the limit is read in windows of that length that
// overlap by half: each piece is scored once, given at least half a window.
func (m *Model) CausalLogProbs(ctx context.Context, texts []string) ([][]float64, error) {
	if m.task != Causal {
		return nil, fmt.Errorf("model %s: a model of the kind %s has no next piece", m.name, m.task)
	}
	sequences := make([][]int, len(texts))
	for i, text := range texts {
		ids := m.tokens.Encode(strings.Join(strings.Fields(text), " "), 0)
		if len(m.before) == 0 && m.config.model.BOS != nil {
			ids = slices.Insert(ids, 0, *m.config.model.BOS)
		}
		sequences[i] = ids
	}
	return m.score(ctx, sequences)
}

// score is CausalLogProbs for ids.
func (m *Model) score(ctx context.Context, sequences [][]int) ([][]float64, error) {
	out := make([][]float64, len(sequences))
	type window struct{ text, from int } // scores from this index on
	var windows []window
	var jobs []job
	for i, ids := range sequences {
		if len(ids) < 2 {
			continue
		}
		out[i] = make([]float64, len(ids)-1)
		for scored := 1; scored < len(ids); {
			start := max(0, scored-m.limit/2)
			if scored == 1 {
				start = 0
			}
			end := min(len(ids), start+m.limit)
			j := job{ids: ids[start:end]}
			for at := scored; at < end; at++ {
				j.rows = append(j.rows, at-1-start)
			}
			jobs, windows = append(jobs, j), append(windows, window{i, scored - 1})
			scored = end
		}
	}
	err := m.run(ctx, jobs, source{output: m.output}, func(k int, rows [][]float32) error {
		w := windows[k]
		space := make([]float32, m.classes)
		for r, row := range rows {
			id := sequences[w.text][w.from+r+1]
			if id >= len(row) || !finite(row) {
				return fmt.Errorf("no finite score of piece %d", id)
			}
			out[w.text][w.from+r] = float64(row[id]) - logNormaliser(row, space)
		}
		return nil
	})
	return out, err
}
