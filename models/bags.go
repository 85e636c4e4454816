package models

import (
	"cmp"
	"math"
	"slices"

	"mldpbench/internal/list"
)

// beside puts matrices of the same examples side by side.
type beside []design

func (b beside) len() int { return b[0].len() }

func (b beside) width() int {
	return list.Sum(b, func(d design) int { return d.width() })
}

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

// wordGrams are single words and pairs; pairs are kept if at least one document in
// ten thousand has them, and two.
type wordGrams struct {
	column map[uint64]int32
	idf    []float64
}

const single = uint64(1) << 63

// eachWordGram calls take with a key for every word and every pair.
func eachWordGram(document []int32, take func(key uint64)) {
	for i, w := range document {
		take(single | uint64(uint32(w)))
		if i > 0 {
			take(uint64(uint32(document[i-1]))<<32 | uint64(uint32(w)))
		}
	}
}

func learnWordGrams(documents [][]int32) *wordGrams {
	type seen struct{ documents, last int32 }
	counts := map[uint64]seen{}
	for i, d := range documents {
		eachWordGram(d, func(key uint64) {
			if s := counts[key]; s.last != int32(i+1) {
				counts[key] = seen{s.documents + 1, int32(i + 1)}
			}
		})
	}
	least := max(2, int32(len(documents)/10_000))
	keys := make([]uint64, 0, len(counts))
	for key, s := range counts {
		if s.documents >= least || key&single != 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	g := &wordGrams{make(map[uint64]int32, len(keys)), make([]float64, len(keys))}
	for i, key := range keys {
		g.column[key] = int32(i)
		g.idf[i] = math.Log((1+float64(len(documents)))/(1+float64(counts[key].documents))) + 1
	}
	return g
}

func (g *wordGrams) matrix(documents [][]int32) design {
	out := sparseRows{d: len(g.idf), start: make([]int, 1, len(documents)+1)}
	counts := make([]float64, len(g.idf))
	for _, d := range documents {
		first := len(out.columns)
		eachWordGram(d, func(key uint64) {
			if c, known := g.column[key]; known {
				if counts[c] == 0 {
					out.columns = append(out.columns, c)
				}
				counts[c]++
			}
		})
		square := 0.0
		for _, c := range out.columns[first:] {
			v := (1 + math.Log(counts[c])) * g.idf[c]
			counts[c] = 0
			square += float64(v * v)
			out.data = append(out.data, float32(v))
		}
		for k := first; k < len(out.data); k++ {
			out.data[k] /= float32(math.Sqrt(square))
		}
		out.start = append(out.start, len(out.columns))
	}
	return rowDesign{out}
}

// Lengths of the n-grams of characters.
const shortestGram, longestGram = 2, 5

// characterGrams are those of single words.
type characterGrams struct {
	spelling func(int32) string
	column   map[string]int32
	idf      []float64
}

// eachCharacterGram calls take with every n-gram of a word between two spaces.
func eachCharacterGram(word string, take func(gram string)) {
	letters := []rune(" " + word + " ")
	for n := shortestGram; n <= longestGram; n++ {
		for i := 0; i+n <= len(letters); i++ {
			take(string(letters[i : i+n]))
		}
	}
}

// vocabulary returns the distinct tokens of documents and the rows of each
// document with the number of times it has each.
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
				row[w], tokens, last = r, append(tokens, w), append(last, 0)
			}
			if last[r] <= first {
				b.word, b.share = append(b.word, r), append(b.share, 0)
				last[r] = len(b.word)
			}
			b.share[last[r]-1]++
		}
		b.start = append(b.start, len(b.word))
	}
	return tokens, b
}

func learnCharacterGrams(documents [][]int32, spelling func(int32) string) *characterGrams {
	tokens, b := vocabulary(documents)
	all := &characterGrams{spelling: spelling, column: map[string]int32{}}
	var grams []string
	each := make([][]int32, len(tokens)) // the grams of each word
	for i, w := range tokens {
		eachCharacterGram(spelling(w), func(gram string) {
			c, met := all.column[gram]
			if !met {
				c = int32(len(grams))
				all.column[gram], grams = c, append(grams, gram)
			}
			each[i] = append(each[i], c)
		})
		slices.Sort(each[i])
		each[i] = slices.Compact(each[i])
	}
	df, last := make([]float64, len(grams)), make([]int32, len(grams))
	for i := range documents {
		for k := b.start[i]; k < b.start[i+1]; k++ {
			for _, c := range each[b.word[k]] {
				if last[c] != int32(i+1) {
					last[c] = int32(i + 1)
					df[c]++
				}
			}
		}
	}
	g := &characterGrams{spelling: spelling, column: map[string]int32{}}
	for c, gram := range grams {
		if df[c] > 1 {
			g.column[gram] = int32(len(g.idf))
			g.idf = append(g.idf, math.Log((1+float64(len(documents)))/(1+df[c]))+1)
		}
	}
	return g
}

func (g *characterGrams) matrix(documents [][]int32) design {
	tokens, b := vocabulary(documents)
	words := sparseRows{d: len(g.idf), start: make([]int, 1, len(tokens)+1)}
	var own []int32
	for _, w := range tokens {
		own = own[:0]
		eachCharacterGram(g.spelling(w), func(gram string) {
			if c, known := g.column[gram]; known {
				own = append(own, c)
			}
		})
		slices.Sort(own)
		for i, c := range own {
			if i > 0 && c == own[i-1] {
				words.data[len(words.data)-1] += float32(g.idf[c])
				continue
			}
			words.columns, words.data = append(words.columns, c), append(words.data, float32(g.idf[c]))
		}
		words.start = append(words.start, len(words.columns))
	}
	b.words = words
	sums, touched := make([]float64, len(g.idf)), []int32(nil)
	for i := range documents {
		touched = touched[:0]
		for k := b.start[i]; k < b.start[i+1]; k++ {
			w := b.word[k]
			for j := words.start[w]; j < words.start[w+1]; j++ {
				c := words.columns[j]
				if sums[c] == 0 {
					touched = append(touched, c)
				}
				sums[c] += float64(float64(b.share[k]) * float64(words.data[j]))
			}
		}
		square := 0.0
		for _, c := range touched {
			square += float64(sums[c] * sums[c])
			sums[c] = 0
		}
		for k := b.start[i]; k < b.start[i+1] && square > 0; k++ {
			b.share[k] /= float32(math.Sqrt(square))
		}
	}
	return b
}

// means are mean vectors of the words that have one, standardised on training
// documents.
type means struct {
	embedding Embedding
	scaling   scaling
}

func learnMeans(e Embedding, documents [][]int32) *means {
	return &means{e, fitScaling(meanVectors(e, documents))}
}

func (m *means) matrix(documents [][]int32) design {
	tokens, b := vocabulary(documents)
	d := m.embedding.Dimension
	words := denseRows{d, make([]float32, len(tokens)*d)}
	known := make([]bool, len(tokens))
	for i, w := range tokens {
		v := m.embedding.Vectors[int(w)*d : (int(w)+1)*d]
		if known[i] = slices.ContainsFunc(v, func(x float32) bool { return x != 0 }); known[i] {
			copy(words.row(i), v)
		}
	}
	m.scaling.apply(words) // a mean of scaled vectors is the scaled mean
	b.words = words
	for i := range documents {
		n := float32(0)
		for k := b.start[i]; k < b.start[i+1]; k++ {
			if !known[b.word[k]] {
				b.share[k] = 0
			}
			n += b.share[k]
		}
		for k := b.start[i]; k < b.start[i+1]; k++ {
			b.share[k] /= cmp.Or(n, 1)
		}
	}
	return b
}
