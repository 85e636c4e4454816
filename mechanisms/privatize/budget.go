package privatize

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mldpbench/internal/check"
)

// ReadWeights reads lines "word weight". Words that are not listed have the
// smallest weight of the list. name is for errors.
func ReadWeights(r io.Reader, name string) (func(word string) float64, error) {
	weights := map[string]float64{}
	least := 0.0
	s := bufio.NewScanner(r)
	for line := 1; s.Scan(); line++ {
		f := strings.Fields(s.Text())
		if len(f) == 0 {
			continue
		}
		if len(f) != 2 {
			return nil, fmt.Errorf("%s:%d: %d fields, want a word and its weight", name, line, len(f))
		}
		w, err := strconv.ParseFloat(f[1], 64)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: weight %q is no number", name, line, f[1])
		}
		if err := check.Positive("weight", w); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if _, dup := weights[f[0]]; dup {
			return nil, fmt.Errorf("%s:%d: %q comes twice", name, line, f[0])
		}
		weights[f[0]] = w
		if least == 0 || w < least {
			least = w
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(weights) == 0 {
		return nil, fmt.Errorf("%s: no weights in it", name)
	}
	return func(word string) float64 {
		if w, ok := weights[word]; ok {
			return w
		}
		return least
	}, nil
}
