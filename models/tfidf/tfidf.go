// Package tfidf weighs the terms of documents: a function of how often a document has a term, times the smoothed
// inverse document frequency of the term, ln((1+n)/(1+df)) + 1, where df of n documents have it (scikit-learn's
// TfidfTransformer with smooth_idf; after Spärck Jones 1972). The weights of a document have Euclidean length one. A
// term that none of the n documents has is left out, wherever it is met.
package tfidf

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Inverse is the smoothed inverse document frequency of what df of n documents have; it is 1 at least.
func Inverse(n int, df float64) float64 { return math.Log((1+float64(n))/(1+df)) + 1 }

// Options say what the terms of a document are.
type Options[D any, K cmp.Ordered] struct {
	Each   func(document D, take func(term K)) // calls take with each term of a document, as often as it is there
	Keep   func(term K, documents int32) bool  // whether a term that so many documents have is kept; nil keeps all
	Weight func(occurrences float64) float64   // of a term in a document, 1 at least; nil is their number
}

// Terms are those that documents had, each with a column, in the order of the terms. They are immutable.
type Terms[D any, K cmp.Ordered] struct {
	options Options[D, K]
	column  map[K]int32
	idf     []float64 // by column
}

// frequency counts the documents that have a term.
type frequency struct {
	documents int32
	last      int // of them, counted from 1
}

// Learn finds the terms of documents and how many have each.
func Learn[D any, K cmp.Ordered](documents []D, o Options[D, K]) *Terms[D, K] {
	found := map[K]frequency{}
	for i, d := range documents {
		o.Each(d, func(term K) {
			f := found[term]
			if f.last != i+1 {
				found[term] = frequency{documents: f.documents + 1, last: i + 1}
			}
		})
	}
	t := &Terms[D, K]{options: o, column: map[K]int32{}}
	for _, term := range slices.Sorted(maps.Keys(found)) {
		df := found[term].documents
		if o.Keep == nil || o.Keep(term, df) {
			t.column[term] = int32(len(t.idf))
			t.idf = append(t.idf, Inverse(len(documents), float64(df)))
		}
	}
	return t
}

// Width is the number of columns.
func (t *Terms[D, K]) Width() int { return len(t.idf) }

// Rows makes the rows of documents, one at a time, in memory of its own.
type Rows[D any, K cmp.Ordered] struct {
	terms       *Terms[D, K]
	occurrences []float64 // by column, zero between two rows
	columns     []int32
	weights     []float64
}

// NewRows makes rows; each goroutine needs its own.
func (t *Terms[D, K]) NewRows() *Rows[D, K] {
	return &Rows[D, K]{terms: t, occurrences: make([]float64, len(t.idf))}
}

// Of returns the columns of a document in the order in which it has their terms first, and their weights. Both hold
// until the next call.
func (r *Rows[D, K]) Of(document D) (columns []int32, weights []float64) {
	r.count(document)
	return r.columns, r.weigh()
}

// Sorted is Of with the columns in rising order.
func (r *Rows[D, K]) Sorted(document D) (columns []int32, weights []float64) {
	r.count(document)
	slices.Sort(r.columns)
	return r.columns, r.weigh()
}

// count fills columns with those of a document.
func (r *Rows[D, K]) count(document D) {
	r.columns = r.columns[:0]
	r.terms.options.Each(document, func(term K) {
		c, known := r.terms.column[term]
		if !known {
			return
		}
		if r.occurrences[c] == 0 {
			r.columns = append(r.columns, c)
		}
		r.occurrences[c]++
	})
}

// weigh returns the weights of the columns, of length one, and forgets the occurrences.
func (r *Rows[D, K]) weigh() []float64 {
	weight := r.terms.options.Weight
	r.weights = r.weights[:0]
	square := 0.0
	for _, c := range r.columns {
		w := r.occurrences[c]
		if weight != nil {
			w = weight(w)
		}
		w *= r.terms.idf[c]
		square += float64(w * w)
		r.weights = append(r.weights, w)
		r.occurrences[c] = 0
	}
	length := math.Sqrt(square)
	for k := range r.weights {
		r.weights[k] /= length
	}
	return r.weights
}
