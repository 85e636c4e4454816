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

// Mechanism is a command at one epsilon. It is a mechanisms.Rewriter: its
// guarantee, and whether tokens stay in place and text can be repeated, is what
// the command declares.
type Mechanism struct {
	command *Command
	epsilon float64
}

// At returns the command as a mechanism at one epsilon.
func (c *Command) At(epsilon float64) (*Mechanism, error) {
	if err := check.Positive("epsilon", epsilon); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Hello.Name, err)
	}
	return &Mechanism{c, epsilon}, nil
}

// Settings has the name that the command gives itself, and ε.
func (m *Mechanism) Settings() mechanisms.Settings {
	return mechanisms.Settings{
		Mechanism: m.command.Hello.Name,
		Variant:   mechanisms.External,
		Epsilon:   m.epsilon,
	}
}

// Guarantee is what the command declares, at ε.
func (m *Mechanism) Guarantee() mechanisms.Guarantee { return m.command.Hello.guarantee(m.epsilon) }

// Aligned is what the command declares; true, if it declares nothing.
func (m *Mechanism) Aligned() bool { return m.command.Hello.Aligned == nil || *m.command.Hello.Aligned }

// Repeatable is what the command declares.
func (m *Mechanism) Repeatable() bool { return m.command.Hello.Repeatable }

// ReadsText reports whether RewriteTexts sends it whole texts. Rewrite then sends
// tokens joined by spaces.
func (m *Mechanism) ReadsText() bool { return m.command.Hello.Input == Text }

// Rewrite sends one request for all documents.
func (m *Mechanism) Rewrite(ctx context.Context, documents [][]string, seeds []stream.Seed) ([][]string, error) {
	if m.ReadsText() {
		texts := list.Map(documents, func(d []string) string { return strings.Join(d, " ") })
		after, err := m.RewriteTexts(ctx, texts, seeds)
		return list.Map(after, strings.Fields), err
	}
	q := &Request{
		Epsilon:   m.epsilon,
		Seeds:     seedTexts(seeds...),
		Documents: whole(documents),
	}
	valid := func(i int, after []string) error {
		if n := len(documents[i]); m.Aligned() && len(after) != n {
			return fmt.Errorf("%d tokens for %d, though tokens are declared to stay aligned", len(after), n)
		}
		return checkTokens(after)
	}
	return ask(ctx, m.command, q, len(documents), func(a Answer) [][]string {
		return a.Documents
	}, valid)
}

// checkTokens returns an error for tokens one of which is not a word.
func checkTokens(tokens []string) error {
	breaks := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	for _, t := range tokens {
		if t == "" || strings.ContainsFunc(t, breaks) {
			return fmt.Errorf("token %.100q: must be one word without control characters", t)
		}
	}
	return nil
}

// RewriteTexts sends one request for whole texts, to a command that reads them,
// and returns one text for each.
func (m *Mechanism) RewriteTexts(ctx context.Context, texts []string, seeds []stream.Seed) ([]string, error) {
	q := &Request{
		Epsilon: m.epsilon,
		Seeds:   seedTexts(seeds...),
		Texts:   texts,
	}
	return ask(ctx, m.command, q, len(texts), func(a Answer) []string {
		return a.Texts
	}, func(_ int, t string) error {
		if strings.ContainsFunc(t, func(r rune) bool {
			return unicode.IsControl(r) && !unicode.IsSpace(r)
		}) {
			return errors.New("has control characters other than white space")
		}
		return nil
	})
}

// whole writes an empty document as an empty list, not as null.
func whole(documents [][]string) [][]string {
	return list.Map(documents, func(d []string) []string { return append([]string{}, d...) })
}

// CheckRepeatable checks a command that declares to be repeatable: another process
// that is asked for the same documents one by one, last first, must give the same
// text.
func (m *Mechanism) CheckRepeatable(ctx context.Context, documents [][]string, seed stream.Seed) error {
	if !m.Repeatable() {
		return nil
	}
	c := m.command
	fresh := &Command{
		Options: c.Options,
		args:    c.args,
		Hello:   c.Hello,
		free:    make(chan *process, 1),
	}
	defer fresh.Close()
	other := &Mechanism{fresh, m.epsilon}
	seeds := make([]stream.Seed, len(documents))
	for i := range seeds {
		seeds[i] = seed.At(uint64(i))
	}
	together, err := m.Rewrite(ctx, documents, seeds)
	if err != nil {
		return err
	}
	for i, document := range slices.Backward(together) {
		alone, err := other.Rewrite(ctx, documents[i:i+1], seeds[i:i+1])
		if err != nil {
			return err
		}
		if !slices.Equal(document, alone[0]) {
			return fmt.Errorf("%s: declares to be repeatable, but document %d came out as %.80q and, with the same "+
				"seed, as %.80q: draw all randomness of a document from its seed, or declare \"repeatable\": false",
				c.Who, i, strings.Join(document, " "), strings.Join(alone[0], " "))
		}
	}
	return nil
}
