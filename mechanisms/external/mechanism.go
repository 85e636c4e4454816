package external

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// At returns the command as a mechanism at one epsilon.
func (c *Command) At(epsilon float64) (*Mechanism, error) {
	if err := check.Positive("epsilon", epsilon); err != nil {
		return nil, fmt.Errorf("%s: %w", c.hello.Name, err)
	}
	return &Mechanism{command: c, epsilon: epsilon}, nil
}

// Mechanism is a command at one epsilon. It is a mechanisms.Rewriter.
type Mechanism struct {
	command *Command
	epsilon float64
}

var _ mechanisms.Rewriter = (*Mechanism)(nil)

// Settings returns the settings, with the mechanism named as the command names
// it.
func (m *Mechanism) Settings() mechanisms.Settings {
	h := m.command.hello
	return mechanisms.Settings{Mechanism: h.Name, Variant: mechanisms.External, Epsilon: m.epsilon,
		Parameters: h.Parameters}
}

// Guarantee returns what the command declares.
func (m *Mechanism) Guarantee() mechanisms.Guarantee { return m.command.hello.GuaranteeAt(m.epsilon) }

// Aligned returns what the command declares; answers that are not aligned are
// then an error.
func (m *Mechanism) Aligned() bool { return m.command.hello.AlignedTokens() }

// Repeatable returns what the command declares; see CheckRepeatable.
func (m *Mechanism) Repeatable() bool { return m.command.hello.Repeatable }

// Input returns what the command reads. For Text, RewriteTexts sends it whole
// texts, and Rewrite sends tokens joined by spaces.
func (m *Mechanism) Input() Input { return m.command.hello.Input }

// Rewrite sends one request for all documents.
func (m *Mechanism) Rewrite(ctx context.Context, documents [][]string, seeds []stream.Seed) ([][]string, error) {
	if m.Input() == Text {
		texts := list.Map(documents, func(d []string) string { return strings.Join(d, " ") })
		after, err := m.RewriteTexts(ctx, texts, seeds)
		return list.Map(after, strings.Fields), err
	}
	if len(documents) == 0 {
		return nil, nil
	}
	q := &Request{Epsilon: m.epsilon, Seeds: seedTexts(seeds), Documents: whole(documents)}
	return ask(ctx, m.command, q, len(documents), func(a Answer) [][]string { return a.Documents },
		func(i int, after []string) error {
			if m.Aligned() && len(after) != len(documents[i]) {
				return fmt.Errorf("%d tokens for %d, though tokens are declared to stay aligned", len(after), len(documents[i]))
			}
			for _, t := range after {
				if t == "" || strings.ContainsFunc(t, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
					return fmt.Errorf("token %.100q: must be one word without control characters", t)
				}
			}
			return nil
		})
}

// RewriteTexts sends one request for whole texts and returns one text for each.
// The command must read Text.
func (m *Mechanism) RewriteTexts(ctx context.Context, texts []string, seeds []stream.Seed) ([]string, error) {
	if m.Input() != Text {
		return nil, fmt.Errorf("%s reads tokens, not texts", m.command.hello.Name)
	}
	if len(texts) == 0 {
		return nil, nil
	}
	q := &Request{Epsilon: m.epsilon, Seeds: seedTexts(seeds), Texts: texts}
	return ask(ctx, m.command, q, len(texts), func(a Answer) []string { return a.Texts }, func(_ int, t string) error {
		if strings.ContainsFunc(t, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) {
			return errors.New("has control characters other than white space")
		}
		return nil
	})
}

// whole writes an empty document as an empty list, not as null.
func whole(documents [][]string) [][]string {
	return list.Map(documents, func(d []string) []string { return append([]string{}, d...) })
}

// NotRepeatableError means that a command declares to be repeatable but is not.
type NotRepeatableError struct{ text string }

func (e *NotRepeatableError) Error() string { return e.text }

// CheckRepeatable checks a command that declares to be repeatable. It requests
// the same documents twice: together, and then one by one, last first, from a
// new process. Equal seeds must give equal text both times. texts, if not nil,
// are the documents as they are written, for a command that reads Text.
func (m *Mechanism) CheckRepeatable(ctx context.Context, documents [][]string, texts []string,
	seed stream.Seed) error {
	if !m.Repeatable() {
		return nil
	}
	seeds := make([]stream.Seed, len(documents))
	for i := range seeds {
		seeds[i] = seed.At(uint64(i))
	}
	rewrite := func(from, to int) ([]string, error) {
		if texts != nil && m.Input() == Text {
			return m.RewriteTexts(ctx, texts[from:to], seeds[from:to])
		}
		after, err := m.Rewrite(ctx, documents[from:to], seeds[from:to])
		return list.Map(after, func(d []string) string { return strings.Join(d, " ") }), err
	}
	together, err := rewrite(0, len(documents))
	if err != nil {
		return err
	}
	m.command.Restart()
	for i, document := range slices.Backward(together) {
		alone, err := rewrite(i, i+1)
		if err != nil {
			return err
		}
		if document != alone[0] {
			return &NotRepeatableError{fmt.Sprintf("%s: declares to be repeatable, but document %d came out as %.80q and, with "+
				"the same seed, as %.80q: draw all randomness of a document from its seed, or declare \"repeatable\": false",
				m.command.options.who, i, document, alone[0])}
		}
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
	q := &Request{Seed: seedTexts([]stream.Seed{seed})[0], Train: make([][2]any, len(train)), Test: test}
	for i, text := range train {
		q.Train[i] = [2]any{text, labels[i]}
	}
	found, err := ask(ctx, c, q, len(test), func(a Answer) []*int { return a.Labels }, func(_ int, l *int) error {
		if l == nil {
			return errors.New("null")
		}
		if *l < 0 || *l >= classes {
			return fmt.Errorf("label = %d: must be in [0, %d)", *l, classes)
		}
		return nil
	})
	return list.Map(found, func(l *int) int { return *l }), err
}

// pairsTogether is the number of pairs of texts in a request.
const pairsTogether = 256

// Compare returns the number of a measurement for each pair of texts. The
// command must be a measurement.
func (c *Command) Compare(ctx context.Context, original, private []string) ([]float64, error) {
	if len(original) != len(private) {
		return nil, errors.New("a measurement takes pairs of texts")
	}
	var values []float64
	for from := 0; from < len(original); from += pairsTogether {
		to := min(from+pairsTogether, len(original))
		some, err := ask(ctx, c, &Request{Original: original[from:to], Private: private[from:to]}, to-from,
			func(a Answer) []*float64 { return a.Values }, func(_ int, v *float64) error {
				if v == nil {
					return errors.New("null") // NaN and infinity are no JSON
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
		values = append(values, list.Map(some, func(v *float64) float64 { return *v })...)
	}
	return values, nil
}
