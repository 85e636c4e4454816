package models

import "math"

// PairVectors are the features of pairs of texts for linear models (Conneau et al.
// 2017, InferSent, §3.1, on mean vectors): those of the first text u and of the second
// v, then |u − v| and u·v, number by number. There are as many first texts as second.
func PairVectors(e Embedding, first, second [][]int32) [][]float32 {
	u := vectorsOf(e, Examples{Sequences: first})
	v := vectorsOf(e, Examples{Sequences: second})
	out := make([][]float32, len(first))
	for i := range out {
		row := make([]float32, 0, 4*e.Dimension)
		row = append(row, u.row(i)...)
		row = append(row, v.row(i)...)
		for j, x := range u.row(i) {
			row = append(row, float32(math.Abs(float64(x-v.row(i)[j]))))
		}
		for j, x := range u.row(i) {
			row = append(row, x*v.row(i)[j])
		}
		out[i] = row
	}
	return out
}
