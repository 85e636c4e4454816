package models

import (
	"maps"
	"math"
	"slices"
)

// inverse is the smoothed inverse document frequency of what has df of n documents.
func inverse(n int, df float64) float64 { return math.Log((1+float64(n))/(1+df)) + 1 }

// frequencies returns in how many documents each key occurs.
func frequencies[K comparable](documents [][]int32, each func(document []int32, take func(key K))) map[K]int32 {
	df, last := map[K]int32{}, map[K]int{}
	for i, d := range documents {
		each(d, func(key K) {
			if last[key] != i+1 {
				last[key] = i + 1
				df[key]++
			}
		})
	}
	return df
}

// grams are n-grams of words that training documents have. Rows are weighed counts
// times inverse document frequencies, of length one.
type grams struct {
	each   func(document []int32, take func(key uint64))
	weight func(count float64) float64
	column map[uint64]int32
	idf    []float64
}

func learnGrams(documents [][]int32, each func(document []int32, take func(key uint64)), least int32,
	weight func(count float64) float64) *grams {
	df := frequencies(documents, each)
	g := &grams{each: each, weight: weight, column: map[uint64]int32{}}
	for _, key := range slices.Sorted(maps.Keys(df)) {
		if df[key] >= least || key&single != 0 {
			g.column[key] = int32(len(g.idf))
			g.idf = append(g.idf, inverse(len(documents), float64(df[key])))
		}
	}
	return g
}

const single = uint64(1) << 63

// learnWords has single words by their counts.
func learnWords(documents [][]int32) *grams {
	return learnGrams(documents, func(document []int32, take func(key uint64)) {
		for _, w := range document {
			take(single | uint64(uint32(w)))
		}
	}, 1, func(count float64) float64 { return count })
}

// learnWordPairs has single words, and pairs that at least one document in ten
// thousand has, and two, by one plus the logarithms of their counts.
func learnWordPairs(documents [][]int32) *grams {
	return learnGrams(documents, func(document []int32, take func(key uint64)) {
		for i, w := range document {
			take(single | uint64(uint32(w)))
			if i > 0 {
				take(uint64(uint32(document[i-1]))<<32 | uint64(uint32(w)))
			}
		}
	}, max(2, int32(len(documents)/10_000)), func(count float64) float64 { return 1 + math.Log(count) })
}

// matrix makes sparse rows; columns are in the order of first occurrence.
func (g *grams) matrix(x Examples) design {
	out := sparseRows{d: len(g.idf), start: make([]int, 1, x.Len()+1)}
	counts := make([]float64, len(g.idf))
	for _, d := range x.Sequences {
		first := len(out.columns)
		g.each(d, func(key uint64) {
			if c, known := g.column[key]; known {
				if counts[c] == 0 {
					out.columns = append(out.columns, c)
				}
				counts[c]++
			}
		})
		square := 0.0
		for _, c := range out.columns[first:] {
			counts[c] = g.weight(counts[c]) * g.idf[c]
			square += float64(counts[c] * counts[c])
		}
		for _, c := range out.columns[first:] {
			out.data = append(out.data, float32(counts[c]/math.Sqrt(square)))
			counts[c] = 0
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

func learnCharacterGrams(documents [][]int32, spelling func(int32) string) *characterGrams {
	words, b := vocabulary(documents)
	number := map[string]int32{}
	var grams []string
	each := make([][]int32, len(words)) // the grams of each word
	for i, w := range words {
		eachCharacterGram(spelling(w), func(gram string) {
			c, met := number[gram]
			if !met {
				c = int32(len(grams))
				number[gram], grams = c, append(grams, gram)
			}
			each[i] = append(each[i], c)
		})
	}
	df, last := make([]float64, len(grams)), make([]int, len(grams))
	for i := range documents {
		for _, w := range b.word[b.start[i]:b.start[i+1]] {
			for _, c := range each[w] {
				if last[c] != i+1 {
					last[c] = i + 1
					df[c]++
				}
			}
		}
	}
	g := &characterGrams{spelling: spelling, column: map[string]int32{}}
	for c, gram := range grams {
		if df[c] > 1 {
			g.column[gram] = int32(len(g.idf))
			g.idf = append(g.idf, inverse(len(documents), df[c]))
		}
	}
	return g
}

func (g *characterGrams) matrix(x Examples) design {
	tokens, b := vocabulary(x.Sequences)
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
	for i := range x.Sequences { // each row gets length one
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
