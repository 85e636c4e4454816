package metrics

import "fmt"

// Correct counts the predictions that equal their label; accuracy is
// Percent(correct, len(labels)). Source: [M24] §4.1.2, [F20] §5.2.
func Correct(predicted, labels []int) (int, error) {
	if len(predicted) != len(labels) {
		return 0, fmt.Errorf("accuracy: %d predictions for %d labels", len(predicted), len(labels))
	}
	correct := 0
	for i, p := range predicted {
		if p == labels[i] {
			correct++
		}
	}
	return correct, nil
}
