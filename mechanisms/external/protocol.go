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

const (
	MechanismRole   Role = ""            // privatises documents
	AttackerRole    Role = "attacker"    // finds private labels; see Command.Attack
	MeasurementRole Role = "measurement" // compares texts; see Command.Compare
	ModelRole       Role = "model"       // encodes or scores texts; see Model
)

// MaxLine is the longest line accepted from either side, in bytes.
const MaxLine = 10 << 20

// Input is the form in which a mechanism reads documents.
type Input string

const (
	Tokens Input = "tokens" // lists of tokens; the default
	Text   Input = "text"   // one string per document
)

// Hello is the first line that a command writes: its description and, of a
// mechanism, its guarantee.
type Hello struct {
	Protocol   int                   `json:"protocol"`
	Name       string                `json:"name"`
	Version    string                `json:"version"`
	Guarantee  *Promise              `json:"guarantee,omitempty"` // nil: none
	Parameters mechanisms.Parameters `json:"parameters,omitempty"`
	// Repeatable means that the same seed gives the same text.
	Repeatable bool `json:"repeatable"`
	// Aligned means that each token becomes one token at the same position; nil
	// means true.
	Aligned *bool `json:"aligned,omitempty"`
	Input   Input `json:"input,omitempty"`
	// Of protocol 2. Title, Unit and Better ("up" or "down", "" for neither) are
	// those of a measurement.
	Role   Role   `json:"role,omitempty"`
	Title  string `json:"title,omitempty"`
	Unit   string `json:"unit,omitempty"`
	Better string `json:"better,omitempty"`
	Error  string `json:"error,omitempty"` // of a model: why there is none
}

// Promise is the guarantee that a command declares for a request with epsilon
// e: an ε of Factor·e, or of Epsilon whatever e is. Without Metric nothing is
// guaranteed.
type Promise struct {
	Metric  string  `json:"metric"`            // "euclidean", "discrete", or a name chosen by the maker
	Factor  float64 `json:"factor,omitempty"`  // 0 means 1 where Epsilon is 0
	Epsilon float64 `json:"epsilon,omitempty"` // a guarantee that does not depend on the request
	Delta   float64 `json:"delta,omitempty"`
	Reason  string  `json:"reason,omitempty"` // one sentence
}

// Request is one line to a command. A mechanism gets Documents or Texts, and one
// seed of 64 hexadecimal digits for each of them.
type Request struct {
	ID        uint64     `json:"id"`
	Epsilon   float64    `json:"epsilon,omitempty"`
	Seeds     []string   `json:"seeds,omitempty"`
	Documents [][]string `json:"documents,omitempty"`
	Texts     []string   `json:"texts,omitempty"`
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
	Counts
	Labels    []*int     `json:"labels,omitempty"`    // of an attacker
	Values    []*float64 `json:"values,omitempty"`    // of a measurement
	Numbers   [][]byte   `json:"numbers,omitempty"`   // of a model: little-endian float32
	Error     string     `json:"error,omitempty"`     // this request failed
	Undefined string     `json:"undefined,omitempty"` // the mechanism does not exist at this epsilon: a result
}

// Counts describes the words of the texts of an answer.
type Counts struct {
	Words   uint64 `json:"words,omitempty"`
	Changed uint64 `json:"changed,omitempty"` // words of the vocabulary that became another word
	Unknown uint64 `json:"unknown,omitempty"` // words outside the vocabulary
}

// AlignedTokens reports whether tokens stay in place.
func (h Hello) AlignedTokens() bool { return h.Aligned == nil || *h.Aligned }

// GuaranteeAt returns the guarantee declared for a request with the given
// epsilon. Its Distance is nil.
func (h Hello) GuaranteeAt(epsilon float64) mechanisms.Guarantee {
	p := h.Guarantee
	if p == nil {
		return mechanisms.Guarantee{Reason: "the command declares none"}
	}
	if p.Metric == "" {
		return mechanisms.Guarantee{Reason: "the command declares none: " + p.Reason}
	}
	g := mechanisms.Guarantee{Metric: p.Metric, Epsilon: p.Epsilon, Delta: p.Delta,
		Reason: "declared by the command, not proved here"}
	if p.Epsilon == 0 {
		g.Epsilon = cmp.Or(p.Factor, 1) * epsilon
	}
	if g.Metric == "euclidean" {
		g.EuclideanEpsilon = g.Epsilon
	}
	if p.Reason != "" {
		g.Reason += ": " + p.Reason
	}
	return g
}

// parseHello reads the first line of a command.
func parseHello(line []byte) (Hello, error) {
	var h Hello
	err := decode(line, &h)
	if err == nil {
		err = h.check()
	}
	return h, err
}

// check checks a hello, and makes its parameters numbers and texts.
func (h *Hello) check() error {
	switch {
	case h.Protocol != Protocol && h.Protocol != Roles:
		return fmt.Errorf("protocol = %d: must be %d or %d", h.Protocol, Protocol, Roles)
	case (h.Protocol == Protocol) != (h.Role == MechanismRole):
		return fmt.Errorf("role = %q in protocol %d: a mechanism has no role and speaks protocol %d, others %d", h.Role,
			h.Protocol, Protocol, Roles)
	case h.Name == "" || strings.ContainsFunc(h.Name, unicode.IsSpace):
		return fmt.Errorf("name = %q: must be one word", h.Name)
	}
	if h.Role == MechanismRole {
		h.Input = cmp.Or(h.Input, Tokens)
	}
	p := Promise{}
	if h.Guarantee != nil {
		p = *h.Guarantee
	}
	err := errors.Join(check.OneOf("input", string(h.Input), "", string(Tokens), string(Text)),
		check.OneOf("better", h.Better, "", "up", "down"),
		check.NonNegative("guarantee: factor", p.Factor), check.NonNegative("guarantee: epsilon", p.Epsilon),
		check.Within("guarantee: delta", p.Delta, 0, 1))
	if p.Factor != 0 && p.Epsilon != 0 {
		err = errors.Join(err, errors.New("guarantee: has factor and epsilon: must have one of them"))
	}
	for _, text := range []string{h.Name, h.Version, h.Title, h.Unit, p.Metric, p.Reason} {
		err = errors.Join(err, check.Name("a text", text))
	}
	for name, v := range h.Parameters {
		switch v.(type) {
		case float64, string:
		default: // a list, yes or no: as it is written
			data, _ := json.Marshal(v) // it was read from JSON
			h.Parameters[name] = string(data)
		}
		err = errors.Join(err, check.Name("a parameter", fmt.Sprint(name, v)))
	}
	return err
}

// parseAnswer reads the answer to the request of an id. own means that the error
// is what the command says itself.
func parseAnswer(line []byte, role Role, id uint64, valid func(Answer) error) (a Answer, own bool, err error) {
	if err := decode(line, &a); err != nil {
		return a, false, err
	}
	switch {
	case a.ID == nil:
		return a, false, errors.New("no id")
	case *a.ID != id:
		return a, false, fmt.Errorf("id = %d: must be %d, that of the request", *a.ID, id)
	case a.Error != "":
		return a, true, fmt.Errorf("the command says: %.500q", a.Error)
	case a.Undefined != "" && role == MechanismRole:
		return a, true, &mechanisms.UndefinedError{Reason: fmt.Sprintf("%.500q", a.Undefined)}
	}
	return a, false, valid(a)
}

// ask asks a command and returns the list of its answer, which must have n items
// that are valid.
func ask[T any](ctx context.Context, c *Command, q *Request, n int, list func(Answer) []T,
	valid func(i int, item T) error) ([]T, error) {
	a, err := c.ask(ctx, q, func(a Answer) error {
		items := list(a)
		if len(items) != n {
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
	return list(a), nil
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
func seedTexts(seeds []stream.Seed) []string {
	return list.Map(seeds, func(s stream.Seed) string { return hex.EncodeToString(s[:]) })
}
