package mechanisms

import (
	"math"
	"slices"
)

// bagDistance is the least sum of distances over all ways to assign the words of a bag to
// those of another of the same size: n times their Earth mover's distance. It takes n³
// steps (Kuhn 1955, along shortest paths as Jonker & Volgenant 1987).
func bagDistance(distance func(a, b WordID) float64, a, b []WordID) float64 {
	n := len(a)
	x := &assignment{
		cost:   func(row, column int) float64 { return distance(a[row-1], b[column-1]) },
		row:    make([]int, n+1),
		before: make([]int, n+1),
		rows:   make([]float64, n+1),
		prices: make([]float64, n+1),
	}
	for row := 1; row <= n; row++ {
		x.assign(row)
	}
	total := 0.0
	for column := 1; column <= n; column++ {
		total += x.cost(x.row[column], column)
	}
	return total
}

// assignment gives each row a column, both numbered from 1. Column 0 stands for the row
// that has none yet.
type assignment struct {
	cost   func(row, column int) float64
	row    []int     // by column; 0 where it is free
	before []int     // by column: the one before it on the path
	rows   []float64 // what rows and columns are paid: a cost less both is never below 0,
	prices []float64 // and 0 where a row has a column
}

// assign finds the cheapest path from a row to a free column, and moves the rows on it.
func (x *assignment) assign(row int) {
	least := slices.Repeat([]float64{math.Inf(1)}, len(x.row))
	used := make([]bool, len(x.row))
	x.row[0] = row
	column := 0
	for x.row[column] != 0 {
		used[column] = true
		column = x.extend(column, used, least)
	}
	for column != 0 {
		x.row[column] = x.row[x.before[column]]
		column = x.before[column]
	}
}

// extend goes on from a column to the cheapest that is not used.
func (x *assignment) extend(column int, used []bool, least []float64) (next int) {
	row := x.row[column]
	step := math.Inf(1)
	for c := 1; c < len(used); c++ {
		if used[c] {
			continue
		}
		reduced := x.cost(row, c) - x.rows[row] - x.prices[c]
		if reduced < least[c] {
			least[c] = reduced
			x.before[c] = column
		}
		if least[c] < step {
			step = least[c]
			next = c
		}
	}
	for c, yes := range used {
		if yes {
			x.rows[x.row[c]] += step
			x.prices[c] -= step
		} else {
			least[c] -= step
		}
	}
	return next
}
