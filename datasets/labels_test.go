package datasets

import (
	"context"
	"strings"
	"testing"
)

// A reader that returns a label without a class is an error, not a panic.
func TestLabelsOutOfRange(t *testing.T) {
	for _, label := range []int{-1, 2} {
		name := map[int]string{-1: "test-label-below", 2: "test-label-above"}[label]
		definitions.Add(name, Definition{Name: name, Classes: []string{"a", "b"}, Sizes: Sizes{Train: 1, Validation: 1,
			Test: 1}, Cleaning: CleanWords, Read: func(context.Context, Request) (Rows, error) {
			return Rows{Source: "made up", Rows: []Row{{Text: "x"}, {Text: "y", Label: label}}}, nil
		}})
		_, err := Load(context.Background(), Request{Name: name})
		if err == nil || !strings.Contains(err.Error(), "text 2 has label") {
			t.Errorf("label %d: %v", label, err)
		}
	}
}
