// Package external runs mechanisms, attackers, measurements and models that are
// other programs, in any language. A program is started as a command and answers
// requests as JSON lines on its standard input and output; docs/external.md
// describes the protocol.
//
// The package trusts nothing it is told. The guarantee of a command is marked as
// declared, not proved. The form of every answer is checked before any of it is
// used. A command that dies, hangs or answers nonsense causes one clear error and
// is started anew for the next request. Package mechanisms/audit tests whether a
// command keeps its guarantee.
package external

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Protocol is the version of the protocol that mechanisms speak; Roles is the
// one of the other roles.
const (
	Protocol = 1
	Roles    = 2
)

// Role is what a command does.
type Role string

// Roles of a command; see its hello.
const (
	MechanismRole   Role = ""            // privatises documents
	AttackerRole    Role = "attacker"    // finds private labels; see Command.Attack
	MeasurementRole Role = "measurement" // compares texts; see Command.Compare
	ModelRole       Role = "model"       // encodes or scores texts; see Model
)

// maxLine is the longest line that is read, in bytes.
const maxLine = 10 << 20

// Text is the input of a mechanism that reads one string per document; others read
// lists of tokens.
const Text = "text"

// Hello is the first line that a command writes: its description and, of a
// mechanism, its guarantee.
type Hello struct {
	Protocol   int            `json:"protocol"`
	Name       string         `json:"name"`
	Version    string         `json:"version"`
	Guarantee  *Promise       `json:"guarantee,omitempty"`  // nil: none
	Parameters map[string]any `json:"parameters,omitempty"` // anything; a part of the key
	Repeatable bool           `json:"repeatable"`           // the same seed gives the same text
	Aligned    *bool          `json:"aligned,omitempty"`    // each token becomes one, in place; nil means true
	Input      string         `json:"input,omitempty"`      // "tokens", which "" means, or Text
	Code       string         `json:"code,omitempty"`       // fingerprint of all that it runs; "" where it has none
	// Of protocol 2. Title, Unit and Better ("up" or "down", "" for neither) are
	// those of a measurement.
	Role   Role   `json:"role,omitempty"`
	Title  string `json:"title,omitempty"`
	Unit   string `json:"unit,omitempty"`
	Better string `json:"better,omitempty"`
	Error  string `json:"error,omitempty"` // of a model: why there is none
}

// Promise is the guarantee that a command declares: an ε of Factor times that of
// a request. Without Metric nothing is guaranteed.
type Promise struct {
	Metric string  `json:"metric"`           // "euclidean", "discrete", or a name chosen by the maker
	Factor float64 `json:"factor,omitempty"` // 0 means 1
	Delta  float64 `json:"delta,omitempty"`
	Reason string  `json:"reason,omitempty"` // one sentence
}

// Request is one line to a command. A mechanism gets Documents or Texts, and one
// seed of 64 hexadecimal digits for each of them. A service that has a key gets
// Texts of one Column, "" for none, with the id of the record of each instead.
type Request struct {
	ID        uint64     `json:"id"`
	Epsilon   float64    `json:"epsilon,omitempty"`
	Seeds     []string   `json:"seeds,omitempty"`
	Documents [][]string `json:"documents,omitempty"`
	Texts     []string   `json:"texts,omitempty"`
	IDs       []string   `json:"ids,omitempty"`
	Column    string     `json:"column,omitempty"`
	// Of an attacker: [text, label] and texts.
	Seed  string   `json:"seed,omitempty"`
	Train [][2]any `json:"train,omitempty"`
	Test  []string `json:"test,omitempty"`
	// Of a measurement: pairs.
	Original []string `json:"original,omitempty"`
	Private  []string `json:"private,omitempty"`
	// Of a model: one of them.
	Encode     []string `json:"encode,omitempty"`
	LogProb    []string `json:"logprob,omitempty"`
	Score      []Places `json:"score,omitempty"`
	Candidates []string `json:"candidates,omitempty"`
}

// Places are positions of a text of words.
type Places struct {
	Words  []string `json:"words"`
	Places []int    `json:"places"`
}

// Answer is one line back: what the request with that id asked for, in order,
// or the reason why there is nothing.
type Answer struct {
	ID        *uint64    `json:"id"`
	Documents [][]string `json:"documents,omitempty"`
	Texts     []string   `json:"texts,omitempty"`
	// Of texts: how many words they have, how many of the vocabulary became another
	// word, how many are outside it.
	Words   uint64 `json:"words,omitempty"`
	Changed uint64 `json:"changed,omitempty"`
	Unknown uint64 `json:"unknown,omitempty"`

	Labels    []*int     `json:"labels,omitempty"`    // of an attacker
	Values    []*float64 `json:"values,omitempty"`    // of a measurement
	Numbers   [][]byte   `json:"numbers,omitempty"`   // of a model: little-endian float32
	Error     string     `json:"error,omitempty"`     // this request failed
	Undefined string     `json:"undefined,omitempty"` // the mechanism does not exist at this epsilon: a result
}

// guarantee is that declared for a request with the given epsilon. Its Distance
// is nil.
func (h Hello) guarantee(epsilon float64) mechanisms.Guarantee {
	p := cmp.Or(h.Guarantee, &Promise{})
	if p.Metric == "" {
		return mechanisms.Guarantee{Reason: strings.TrimSuffix("the command declares none: "+p.Reason, ": ")}
	}
	g := mechanisms.Guarantee{
		Metric:  p.Metric,
		Epsilon: cmp.Or(p.Factor, 1) * epsilon,
		Delta:   p.Delta,
		Reason:  strings.TrimSuffix("declared by the command, not proved here: "+p.Reason, ": "),
	}
	if g.Metric == "euclidean" {
		g.EuclideanEpsilon = g.Epsilon
	}
	return g
}

// parseHello reads the first line of a command in a role.
func parseHello(line []byte, role Role) (Hello, error) {
	var h Hello
	if err := decode(line, &h); err != nil {
		return h, err
	}
	p := cmp.Or(h.Guarantee, &Promise{})
	err := errors.Join(
		check.OneOf("input", h.Input, "", "tokens", Text),
		check.OneOf("better", h.Better, "", "up", "down"),
		check.NonNegative("guarantee: factor", p.Factor), check.Within("guarantee: delta", p.Delta, 0, 1))
	switch {
	case h.Protocol != Protocol && h.Protocol != Roles:
		err = fmt.Errorf("protocol = %d: must be %d or %d", h.Protocol, Protocol, Roles)
	case h.Role != role:
		err = fmt.Errorf("role = %q: must be %q here", h.Role, role)
	case h.Name == "" || strings.ContainsFunc(h.Name, unicode.IsSpace):
		err = fmt.Errorf("name = %q: must be one word", h.Name)
	}
	for _, text := range []string{h.Name, h.Version, h.Title, h.Unit, p.Metric, p.Reason} {
		err = errors.Join(err, check.Name("a text", text))
	}
	return h, err
}

// parseAnswer reads the answer to the request of an id. It may say why it has
// nothing: refused.
func parseAnswer(line []byte, id uint64) (a Answer, refused, err error) {
	err = decode(line, &a)
	switch {
	case err != nil:
	case a.ID == nil || *a.ID != id:
		err = fmt.Errorf("must have the id of the request, %d: %.80q", id, line)
	case a.Error != "":
		refused = fmt.Errorf("the command says: %.500q", a.Error)
	case a.Undefined != "":
		refused = &mechanisms.UndefinedError{Reason: fmt.Sprintf("%.500q", a.Undefined)}
	}
	return a, refused, err
}

// ask asks a command and returns the list of its answer, which must have n items
// that are valid.
func ask[T any](ctx context.Context, c *Command, q *Request, n int, list func(Answer) []T,
	valid func(i int, item T) error) (items []T, err error) {
	if n == 0 {
		return nil, nil
	}
	err = c.ask(ctx, q, func(a Answer) error {
		if items = list(a); len(items) != n {
			return fmt.Errorf("%d answers for %d", len(items), n)
		}
		for i, item := range items {
			if err := valid(i, item); err != nil {
				return fmt.Errorf("answer %d of %d: %w", i+1, n, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}

// decode reads one JSON object that is the whole line, without unknown fields.
func decode(line []byte, v any) error {
	if !utf8.Valid(line) {
		return errors.New("not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) { // its text has Go types
		err = fmt.Errorf("a %s at %q", wrong.Value, wrong.Field)
	} else if _, more := d.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("more than one object")
	}
	if err != nil {
		return fmt.Errorf("not a line of the protocol: %s: %.80q", strings.TrimPrefix(err.Error(), "json: "), line)
	}
	return nil
}

// seedTexts returns seeds in the form used in a request.
func seedTexts(seeds ...stream.Seed) []string {
	return list.Map(seeds, func(s stream.Seed) string { return hex.EncodeToString(s[:]) })
}
