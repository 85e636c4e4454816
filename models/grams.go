package models

import (
	"math"
	"slices"
	"sync"

	"mldpbench/models/tfidf"
)

// grams are n-grams of words that training documents have, weighed by tf-idf.
type grams struct {
	*tfidf.Terms[[]int32, uint64]
}

// single marks the key of a word that stands alone. That of a pair has the first word above the second.
const single = uint64(1) << 63

// learnWords has single words by their counts.
func learnWords(documents [][]int32) grams {
	return grams{tfidf.Learn(documents, tfidf.Options[[]int32, uint64]{
		Each: func(document []int32, take func(key uint64)) {
			for _, w := range document {
				take(single | uint64(uint32(w)))
			}
		},
	})}
}

// learnWordPairs has single words, and pairs that at least one document in ten
// thousand has, and two, by one plus the logarithms of their counts.
func learnWordPairs(documents [][]int32) grams {
	least := max(2, int32(len(documents)/10_000))
	return grams{tfidf.Learn(documents, tfidf.Options[[]int32, uint64]{
		Each: func(document []int32, take func(key uint64)) {
			for i, w := range document {
				take(single | uint64(uint32(w)))
				if i > 0 {
					take(uint64(uint32(document[i-1]))<<32 | uint64(uint32(w)))
				}
			}
		},
		Keep:   func(key uint64, documents int32) bool { return documents >= least || key&single != 0 },
		Weight: func(count float64) float64 { return 1 + math.Log(count) },
	})}
}

// matrix makes sparse rows of length one; columns are in the order of first occurrence.
func (g grams) matrix(x Examples) design {
	out := sparseRows{d: g.Width(), start: make([]int, 1, x.Len()+1)}
	rows := g.NewRows()
	for _, d := range x.Sequences {
		columns, weights := rows.Of(d)
		out.columns = append(out.columns, columns...)
		for _, w := range weights {
			out.data = append(out.data, float32(w))
		}
		out.start = append(out.start, len(out.columns))
	}
	return rowDesign{out}
}

// Lengths of the n-grams of characters.
const shortestGram, longestGram = 2, 5

// characterGrams are those inside words, by column; those of one document only are
// left out.
type characterGrams struct {
	spelling func(int32) string
	column   map[string]int32
	idf      []float64

	mu   sync.Mutex
	rows map[int32]wordRow // of words that were met
}

// wordRow are the columns of the n-grams of a word, rising, and their counts times inverse document frequencies.
type wordRow struct {
	columns []int32
	data    []float32
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

// spelledWords are words with the numbers of the n-grams that each has.
type spelledWords struct {
	grams  []string  // by number
	number [][]int32 // by word
}

// spell finds the n-grams of words, numbered as they are met.
func spell(words []int32, spelling func(int32) string) spelledWords {
	s := spelledWords{number: make([][]int32, len(words))}
	numbers := map[string]int32{}
	for i, w := range words {
		eachCharacterGram(spelling(w), func(gram string) {
			n, met := numbers[gram]
			if !met {
				n = int32(len(s.grams))
				numbers[gram] = n
				s.grams = append(s.grams, gram)
			}
			s.number[i] = append(s.number[i], n)
		})
	}
	return s
}

// learnCharacterGrams counts, for each n-gram of the words of documents, the documents that have it.
func learnCharacterGrams(documents [][]int32, spelling func(int32) string) *characterGrams {
	tokens, counts := vocabulary(documents)
	words := spell(tokens, spelling)
	df := make([]float64, len(words.grams))
	last := make([]int, len(words.grams)) // document that has it, counted from 1
	for i := range documents {
		for _, w := range counts.columns[counts.start[i]:counts.start[i+1]] {
			for _, n := range words.number[w] {
				if last[n] != i+1 {
					last[n] = i + 1
					df[n]++
				}
			}
		}
	}
	g := &characterGrams{spelling: spelling, column: map[string]int32{}, rows: map[int32]wordRow{}}
	for n, gram := range words.grams {
		if df[n] > 1 {
			g.column[gram] = int32(len(g.idf))
			g.idf = append(g.idf, tfidf.Inverse(len(documents), df[n]))
		}
	}
	return g
}

// matrix has for each document the sum of the rows of its words, scaled to length one.
func (g *characterGrams) matrix(x Examples) design {
	tokens, shares := vocabulary(x.Sequences)
	words := g.wordRows(tokens)
	sums := make([]float64, len(g.idf))
	var touched []int32 // columns whose sums are not zero
	for i := range x.Sequences {
		touched = touched[:0]
		for k := shares.start[i]; k < shares.start[i+1]; k++ {
			touched = words.addTo(sums, touched, int(shares.columns[k]), shares.data[k])
		}
		square := 0.0
		for _, c := range touched {
			square += float64(sums[c] * sums[c])
			sums[c] = 0
		}
		if square > 0 {
			divide(shares.data[shares.start[i]:shares.start[i+1]], float32(math.Sqrt(square)))
		}
	}
	return bags{documents: rowDesign{shares}, words: rowDesign{words}}
}

// divide divides all numbers by one.
func divide(x []float32, by float32) {
	for i := range x {
		x[i] /= by
	}
}

// wordRows has a row for each word.
func (g *characterGrams) wordRows(words []int32) sparseRows {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := sparseRows{d: len(g.idf), start: make([]int, 1, len(words)+1)}
	for _, w := range words {
		row, met := g.rows[w]
		if !met {
			row = g.newRow(w)
			g.rows[w] = row
		}
		out.columns = append(out.columns, row.columns...)
		out.data = append(out.data, row.data...)
		out.start = append(out.start, len(out.columns))
	}
	return out
}

// newRow finds the n-grams of a word.
func (g *characterGrams) newRow(word int32) wordRow {
	var columns []int32
	eachCharacterGram(g.spelling(word), func(gram string) {
		c, known := g.column[gram]
		if known {
			columns = append(columns, c)
		}
	})
	slices.Sort(columns)
	var row wordRow
	for i, c := range columns {
		idf := float32(g.idf[c])
		if i > 0 && c == columns[i-1] {
			row.data[len(row.data)-1] += idf
			continue
		}
		row.columns = append(row.columns, c)
		row.data = append(row.data, idf)
	}
	return row
}

// addTo adds share times a row to sums, and appends the columns that were zero before to touched.
func (r sparseRows) addTo(sums []float64, touched []int32, row int, share float32) []int32 {
	for j := r.start[row]; j < r.start[row+1]; j++ {
		c := r.columns[j]
		if sums[c] == 0 {
			touched = append(touched, c)
		}
		sums[c] += float64(float64(share) * float64(r.data[j]))
	}
	return touched
}
