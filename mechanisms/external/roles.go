package external

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/stream"
)

// checkRole validates the fields of a hello that depend on its protocol.
func (h Hello) checkRole() error {
	switch h.Protocol {
	case Protocol:
		if h.Role != "" || h.Title != "" || h.Unit != "" || h.Better != "" {
			return errors.New("role, title, unit and better belong to protocol 2")
		}
		return nil
	case Roles:
	default:
		return fmt.Errorf("protocol = %d: must be %d or %d", h.Protocol, Protocol, Roles)
	}
	if err := check.OneOf("role", string(h.Role), string(AttackerRole), string(MeasurementRole), string(ModelRole)); err != nil {
		return fmt.Errorf("%w; a mechanism speaks protocol 1", err)
	}
	if h.Guarantee != nil || h.Aligned != nil || h.Input != "" {
		return errors.New("guarantee, aligned and input are those of a mechanism")
	}
	if h.Role == AttackerRole && (h.Title != "" || h.Unit != "" || h.Better != "") {
		return errors.New("title, unit and better are those of a measurement")
	}
	if !check.Printable(h.Title) || !check.Printable(h.Unit) {
		return errors.New("title and unit must be printable")
	}
	return check.OneOf("better", h.Better, "", "up", "down")
}

func (q *Request) checkLabels(labels []*int) error {
	if len(labels) != len(q.Test) {
		return fmt.Errorf("%d labels for %d test texts", len(labels), len(q.Test))
	}
	for i, l := range labels {
		if l == nil {
			return fmt.Errorf("label %d: null", i)
		}
		if *l < 0 || *l >= q.classes {
			return fmt.Errorf("label %d = %d: must be in [0, %d)", i, *l, q.classes)
		}
	}
	return nil
}

func (q *Request) checkValues(values []*float64) error {
	if len(values) != len(q.Original) {
		return fmt.Errorf("%d values for %d pairs", len(values), len(q.Original))
	}
	if null := slices.Index(values, nil); null >= 0 {
		return fmt.Errorf("value %d: null", null) // NaN and infinity are no JSON
	}
	return nil
}

// Attack trains an attacker on texts, each with a label in [0, classes), and
// returns the label that it finds for each test text. The command must be an
// attacker.
func (c *Command) Attack(ctx context.Context, train []string, labels []int, test []string, classes int,
	seed stream.Seed) ([]int, error) {
	if len(test) == 0 {
		return nil, nil
	}
	q := &Request{Seed: hex.EncodeToString(seed[:]), Train: make([][2]any, len(train)), Test: test, classes: classes}
	for i, text := range train {
		q.Train[i] = [2]any{text, labels[i]}
	}
	got, err := c.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	return list.Map(got.Labels, func(l *int) int { return *l }), nil
}

// pairsTogether is the number of pairs of texts in a request.
const pairsTogether = 256

// Compare returns the number of a measurement for each pair of texts. The
// command must be a measurement.
func (c *Command) Compare(ctx context.Context, original, private []string) ([]float64, error) {
	if len(original) != len(private) {
		return nil, fmt.Errorf("%d texts for %d", len(private), len(original))
	}
	var values []float64
	for from := 0; from < len(original); from += pairsTogether {
		to := min(from+pairsTogether, len(original))
		got, err := c.ask(ctx, &Request{Original: original[from:to], Private: private[from:to]})
		if err != nil {
			return nil, err
		}
		for _, v := range got.Values {
			values = append(values, *v)
		}
	}
	return values, nil
}
