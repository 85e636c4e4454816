package models

import "mldpbench/internal/list"

// beside puts matrices of the same examples side by side.
type beside []design

func (b beside) len() int   { return b[0].len() }
func (b beside) width() int { return list.Sum(b, design.width) }

func (b beside) times(w, out []float64) {
	clear(out)
	part := make([]float64, len(out))
	for _, d := range b {
		d.times(w[:d.width()], part)
		w = w[d.width():]
		for i, v := range part {
			out[i] += v
		}
	}
}

func (b beside) transposed(a, into []float64) {
	for _, d := range b {
		d.transposed(a, into[:d.width()])
		into = into[d.width():]
	}
}

// bags is a matrix whose rows are weighted sums of the rows of another: those of
// the words of a document.
type bags struct {
	words rows
	start []int   // document i has [start[i], start[i+1])
	word  []int32 // rows of words
	share []float32
}

func (b bags) len() int   { return len(b.start) - 1 }
func (b bags) width() int { return b.words.width() }

func (b bags) times(w, out []float64) {
	each := make([]float64, b.words.len())
	for i := range each {
		each[i] = b.words.dot(i, w)
	}
	for i := range out {
		sum := 0.0
		for k := b.start[i]; k < b.start[i+1]; k++ {
			sum += float64(float64(b.share[k]) * each[b.word[k]])
		}
		out[i] = sum
	}
}

func (b bags) transposed(a, into []float64) {
	each := make([]float64, b.words.len())
	for i, v := range a {
		for k := b.start[i]; k < b.start[i+1]; k++ {
			each[b.word[k]] += float64(v * float64(b.share[k]))
		}
	}
	for i, v := range each {
		if v != 0 {
			b.words.add(i, v, into)
		}
	}
}

// vocabulary returns the distinct tokens of documents, in the order in which they come,
// and the rows of each document with the number of times it has each.
func vocabulary(documents [][]int32) (tokens []int32, b bags) {
	row := map[int32]int32{}
	var last []int // position in b.word of a row of the current document, plus one
	b.start = make([]int, 1, len(documents)+1)
	for _, d := range documents {
		first := len(b.word)
		for _, w := range d {
			r, met := row[w]
			if !met {
				r = int32(len(tokens))
				row[w] = r
				tokens = append(tokens, w)
				last = append(last, 0)
			}
			if last[r] <= first {
				b.word = append(b.word, r)
				b.share = append(b.share, 0)
				last[r] = len(b.word)
			}
			b.share[last[r]-1]++
		}
		b.start = append(b.start, len(b.word))
	}
	return tokens, b
}

// means are mean vectors as bags of the vectors of words.
type means struct{ *dense }

// matrix has for each document the mean of the scaled vectors of its words that have one: a mean of scaled vectors is
// the scaled mean.
func (m *means) matrix(x Examples) design {
	tokens, b := vocabulary(x.Sequences)
	words := denseRows{d: m.embedding.Dimension}
	for _, w := range tokens {
		words.data = append(words.data, m.embedding.row(w)...)
	}
	m.scaling.apply(words)
	b.words = words
	for i := range x.Sequences {
		n := float32(0) // words with a vector
		for k := b.start[i]; k < b.start[i+1]; k++ {
			if !nonzero(m.embedding.row(tokens[b.word[k]])) {
				b.share[k] = 0
			}
			n += b.share[k]
		}
		divide(b.share[b.start[i]:b.start[i+1]], max(n, 1))
	}
	return b
}
