package tfidf

import "cmp"

// Index finds the documents that are most like a query, by the words they share. It is immutable and safe for
// concurrent use.
type Index[W cmp.Ordered] struct {
	terms     *Terms[[]W, W]
	documents int
	postings  [][]posting // by column, in the order of documents
}

// posting is the weight of a term in a document.
type posting struct {
	document int
	weight   float64
}

// NewIndex reads documents of words. A word counts as often as it is there.
func NewIndex[W cmp.Ordered](documents [][]W) *Index[W] {
	x := &Index[W]{documents: len(documents)}
	x.terms = Learn(documents, Options[[]W, W]{Each: eachWord[W]})
	x.postings = make([][]posting, x.terms.Width())
	rows := x.terms.NewRows()
	for i, d := range documents {
		columns, weights := rows.Sorted(d)
		for k, c := range columns {
			x.postings[c] = append(x.postings[c], posting{document: i, weight: weights[k]})
		}
	}
	return x
}

func eachWord[W any](document []W, take func(word W)) {
	for _, w := range document {
		take(w)
	}
}

// Cosines returns the cosine of each document with a query, in [0, 1]: 0 without a common word. Words of the query that
// no document has are left out.
func (x *Index[W]) Cosines(query []W) []float64 {
	cosines := make([]float64, x.documents)
	columns, weights := x.terms.NewRows().Sorted(query)
	for k, c := range columns {
		for _, p := range x.postings[c] {
			cosines[p.document] += float64(weights[k] * p.weight)
		}
	}
	return cosines
}
