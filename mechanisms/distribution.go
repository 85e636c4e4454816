package mechanisms

// Rows are the probabilities of n words from one on, which must have no
// samples. A few asked for together cost less than each on its own where rows
// start from distances.
func Rows(d Distributor, first WordID, n int) ([][]float64, error) {
	words := make([]WordID, n)
	for i := range words {
		words[i] = first + WordID(i)
	}
	if b, ok := d.(interface {
		rowsOf(words []WordID) ([][]float64, error)
	}); ok {
		return b.rowsOf(words)
	}
	rows := make([][]float64, n)
	for i, w := range words {
		p, err := d.Distribution(w)
		if err != nil {
			return nil, err
		}
		rows[i] = p.Probabilities
	}
	return rows, nil
}
