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

// bags is the product of two matrices: its rows are weighted sums of the rows of
// words, one for each document.
type bags struct {
	documents design // documents × words
	words     design // words × features
}

func (b bags) len() int   { return b.documents.len() }
func (b bags) width() int { return b.words.width() }

func (b bags) times(w, out []float64) {
	each := make([]float64, b.words.len())
	b.words.times(w, each)
	b.documents.times(each, out)
}

func (b bags) transposed(a, into []float64) {
	each := make([]float64, b.words.len())
	b.documents.transposed(a, each)
	b.words.transposed(each, into)
}

// vocabulary returns the distinct tokens of documents, in the order in which they come,
// and for each document the number of times it has each, by their places.
func vocabulary(documents [][]int32) (tokens []int32, counts sparseRows) {
	place := map[int32]int32{}
	var last []int // position in counts.data of a token of the current document, plus one
	counts.start = make([]int, 1, len(documents)+1)
	for _, d := range documents {
		first := len(counts.data)
		for _, w := range d {
			p, met := place[w]
			if !met {
				p = int32(len(tokens))
				place[w] = p
				tokens = append(tokens, w)
				last = append(last, 0)
			}
			if last[p] <= first {
				counts.columns = append(counts.columns, p)
				counts.data = append(counts.data, 0)
				last[p] = len(counts.data)
			}
			counts.data[last[p]-1]++
		}
		counts.start = append(counts.start, len(counts.data))
	}
	counts.d = len(tokens)
	return tokens, counts
}

// means are mean vectors as bags of the vectors of words.
type means struct{ *dense }

// matrix has for each document the mean of the scaled vectors of its words that have one: a mean of scaled vectors is
// the scaled mean.
func (m *means) matrix(x Examples) design {
	tokens, shares := vocabulary(x.Sequences)
	words := denseRows{d: m.embedding.Dimension}
	for _, w := range tokens {
		words.data = append(words.data, m.embedding.row(w)...)
	}
	m.scaling.apply(words)
	for i := range x.Sequences {
		n := float32(0) // words with a vector
		for k := shares.start[i]; k < shares.start[i+1]; k++ {
			if !nonzero(m.embedding.row(tokens[shares.columns[k]])) {
				shares.data[k] = 0
			}
			n += shares.data[k]
		}
		divide(shares.data[shares.start[i]:shares.start[i+1]], max(n, 1))
	}
	return bags{documents: rowDesign{shares}, words: rowDesign{words}}
}
