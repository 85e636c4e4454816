package external

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"mldpbench/internal/check"
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
	if err := check.OneOf("role", string(h.Role), string(AttackerRole), string(MeasurementRole)); err != nil {
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

// Labelled is a text with its private label, written as [text, label].
type Labelled struct {
	Text  string
	Label int
}

// MarshalJSON writes [text, label].
func (l Labelled) MarshalJSON() ([]byte, error) { return json.Marshal([]any{l.Text, l.Label}) }

// UnmarshalJSON reads [text, label].
func (l *Labelled) UnmarshalJSON(data []byte) error {
	parts := []any{&l.Text, &l.Label}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if len(parts) != 2 {
		return fmt.Errorf("%d values: must be a text and its label", len(parts))
	}
	return nil
}

// reply is the answer of an attacker or a measurement.
type reply struct {
	ID     *uint64    `json:"id"`
	Labels []*int     `json:"labels"`
	Values []*float64 `json:"values"`
	Error  string     `json:"error"`
}

// parse reads a reply to the request with that id.
func (a *reply) parse(line []byte, id uint64) (own bool, err error) {
	if err := decode(line, a); err != nil {
		return false, err
	}
	switch {
	case a.ID == nil:
		return false, errors.New("no id")
	case *a.ID != id:
		return false, fmt.Errorf("id = %d: must be %d, that of the request", *a.ID, id)
	case a.Error != "":
		return true, fmt.Errorf("the command says: %.500q", a.Error)
	}
	return false, nil
}

// attack is the question to an attacker.
type attack struct {
	ID    uint64     `json:"id"`
	Seed  string     `json:"seed"`
	Train []Labelled `json:"train"`
	Test  []string   `json:"test"`

	classes int
	labels  []int
}

func (a *attack) number(id uint64) { a.ID = id }

func (a *attack) read(line []byte, _ Hello) (own bool, err error) {
	var r reply
	if own, err := r.parse(line, a.ID); err != nil {
		return own, err
	}
	if r.Values != nil || len(r.Labels) != len(a.Test) {
		return false, fmt.Errorf("%d labels for %d test texts", len(r.Labels), len(a.Test))
	}
	a.labels = make([]int, len(r.Labels))
	for i, l := range r.Labels {
		switch {
		case l == nil:
			return false, fmt.Errorf("label %d: null", i)
		case *l < 0 || *l >= a.classes:
			return false, fmt.Errorf("label %d = %d: must be in [0, %d)", i, *l, a.classes)
		}
		a.labels[i] = *l
	}
	return false, nil
}

// Attack trains an attacker on texts with labels in [0, classes) and returns the
// label that it finds for each test text. The command must be an attacker.
func (c *Command) Attack(ctx context.Context, train []Labelled, test []string, classes int,
	seed stream.Seed) ([]int, error) {
	if len(test) == 0 {
		return nil, nil
	}
	a := &attack{Seed: hex.EncodeToString(seed[:]), Train: train, Test: test, classes: classes}
	err := c.ask(ctx, a)
	return a.labels, err
}

// comparison is the question to a measurement.
type comparison struct {
	ID       uint64   `json:"id"`
	Original []string `json:"original"`
	Private  []string `json:"private"`

	values []float64
}

func (q *comparison) number(id uint64) { q.ID = id }

func (q *comparison) read(line []byte, _ Hello) (own bool, err error) {
	var r reply
	if own, err := r.parse(line, q.ID); err != nil {
		return own, err
	}
	if r.Labels != nil || len(r.Values) != len(q.Original) {
		return false, fmt.Errorf("%d values for %d pairs", len(r.Values), len(q.Original))
	}
	q.values = make([]float64, len(r.Values))
	for i, v := range r.Values {
		if v == nil {
			return false, fmt.Errorf("value %d: null", i) // NaN and infinity are no JSON
		}
		q.values[i] = *v
	}
	return false, nil
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
		q := &comparison{Original: original[from:to], Private: private[from:to]}
		if err := c.ask(ctx, q); err != nil {
			return nil, err
		}
		values = append(values, q.values...)
	}
	return values, nil
}
