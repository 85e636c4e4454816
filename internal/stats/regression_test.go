package stats

import "testing"

// Longley's data and NIST's certified results (Statistical Reference
// Datasets, "Longley"): nearly collinear, the classic test of a solver.
var longley = [][7]float64{
	{60323, 83.0, 234289, 2356, 1590, 107608, 1947},
	{61122, 88.5, 259426, 2325, 1456, 108632, 1948},
	{60171, 88.2, 258054, 3682, 1616, 109773, 1949},
	{61187, 89.5, 284599, 3351, 1650, 110929, 1950},
	{63221, 96.2, 328975, 2099, 3099, 112075, 1951},
	{63639, 98.1, 346999, 1932, 3594, 113270, 1952},
	{64989, 99.0, 365385, 1870, 3547, 115094, 1953},
	{63761, 100.0, 363112, 3578, 3350, 116219, 1954},
	{66019, 101.2, 397469, 2904, 3048, 117388, 1955},
	{67857, 104.6, 419180, 2822, 2857, 118734, 1956},
	{68169, 108.4, 442769, 2936, 2798, 120445, 1957},
	{66513, 110.8, 444546, 4681, 2637, 121950, 1958},
	{68655, 112.6, 482704, 3813, 2552, 123366, 1959},
	{69564, 114.2, 502601, 3931, 2514, 125368, 1960},
	{69331, 115.7, 518173, 4806, 2572, 127852, 1961},
	{70551, 116.9, 554894, 4007, 2827, 130081, 1962},
}

func TestOLSOnLongley(t *testing.T) {
	var x [][]float64
	var y []float64
	for _, row := range longley {
		y = append(y, row[0])
		x = append(x, row[1:])
	}
	got, err := OLS([]string{"x1", "x2", "x3", "x4", "x5", "x6"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "R2", got.R2, 0.995479004577296, 1e-10)
	for i, want := range [][2]float64{
		{-3482258.63459582, 890420.383607373},
		{15.0618722713733, 84.9149257747669},
		{-0.358191792925910e-01, 0.334910077722432e-01},
		{-2.02022980381683, 0.488399681651699},
		{-1.03322686717359, 0.214274163161675},
		{-0.511041056535807e-01, 0.226073200069370},
		{1829.15146461355, 455.478499142212},
	} {
		c := got.Coefficients[i]
		near(t, c.Name, c.Estimate/want[0], 1, 1e-6)
		near(t, c.Name+" standard error", c.StdError/want[1], 1, 1e-6)
	}
}

func TestOLSErrors(t *testing.T) {
	y := []float64{1, 2, 3, 4}
	if _, err := OLS([]string{"a", "b"}, [][]float64{{1, 2}, {2, 4}, {3, 6}, {4, 8}}, y); err == nil {
		t.Error("collinear predictors must be an error")
	}
	if _, err := OLS([]string{"a", "b", "c"}, [][]float64{{1, 2, 3}, {2, 4, 1}, {3, 6, 5}, {4, 8, 2}}, y); err == nil {
		t.Error("too few rows must be an error")
	}
	if _, err := OLS([]string{"a"}, [][]float64{{1}, {2}, {3}, {4, 4}}, y); err == nil {
		t.Error("ragged rows must be an error")
	}
}
