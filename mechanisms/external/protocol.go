// Package external runs mechanisms in other programs, in any language. A
// program is started as a command and answers requests as JSON lines on its
// standard input and output; docs/external.md describes the protocol.
//
// The package trusts nothing it is told. The guarantee of a command is marked
// as declared, not proved. The form of every answer is checked before any of
// its tokens is used. A command that dies, hangs or answers nonsense causes one
// clear error and is restarted for the next request. Package mechanisms/audit
// tests whether a command keeps its guarantee.
package external

import (
	"bytes"
	"cmp"
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
// one that also has attackers and measurements.
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

// String returns the role for messages.
func (r Role) String() string {
	if r == MechanismRole {
		return "mechanism"
	}
	return string(r)
}

// MaxLine is the longest line accepted from either side, in bytes.
const MaxLine = 10 << 20

// Input is the form in which a command reads documents.
type Input string

const (
	Tokens Input = "tokens" // lists of tokens; the default
	Text   Input = "text"   // one string per document
)

// Hello is the first line that a command writes: its description and its
// guarantee.
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

	classes int // of the labels that an attacker may find
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
	if err := decode(line, &h); err != nil {
		return h, err
	}
	if err := h.checkRole(); err != nil {
		return h, err
	}
	if h.Name == "" || !check.Printable(h.Name) || strings.ContainsFunc(h.Name, unicode.IsSpace) {
		return h, fmt.Errorf("name = %q: must be one word", h.Name)
	}
	if !check.Printable(h.Version) {
		return h, fmt.Errorf("version = %q: must be printable", h.Version)
	}
	if h.Role == MechanismRole {
		h.Input = cmp.Or(h.Input, Tokens)
		if err := check.OneOf("input", string(h.Input), string(Tokens), string(Text)); err != nil {
			return h, err
		}
	}
	if p := h.Guarantee; p != nil {
		err := errors.Join(
			check.NonNegative("guarantee: factor", p.Factor),
			check.NonNegative("guarantee: epsilon", p.Epsilon),
			check.Within("guarantee: delta", p.Delta, 0, 1),
		)
		if err == nil && p.Factor != 0 && p.Epsilon != 0 {
			err = errors.New("guarantee: has factor and epsilon: must have one of them")
		}
		if err == nil && (!check.Printable(p.Metric) || !check.Printable(p.Reason)) {
			err = errors.New("guarantee: metric and reason must be printable")
		}
		if err != nil {
			return h, err
		}
	}
	for name, v := range h.Parameters {
		if !check.Printable(name) || name == "" {
			return h, fmt.Errorf("parameter %q: its name must be printable", name)
		}
		value, err := parameter(v)
		if err != nil {
			return h, fmt.Errorf("parameter %s: %w", name, err)
		}
		h.Parameters[name] = value
	}
	return h, nil
}

// parameter converts a JSON value to the type it has in mechanisms.Parameters.
func parameter(v any) (any, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case bool:
		if v {
			return "yes", nil
		}
		return "no", nil
	case string:
		if check.Printable(v) {
			return v, nil
		}
	case []any:
		list := make([]float64, len(v))
		for i, x := range v {
			f, ok := x.(float64)
			if !ok {
				return nil, errors.New("a list must hold numbers")
			}
			list[i] = f
		}
		return list, nil
	}
	return nil, errors.New("must be a number, a text, yes or no, or a list of numbers")
}

// parseAnswer reads the answer to a question. own means that the error is what
// the command says itself.
func parseAnswer(line []byte, h Hello, q *Request) (a Answer, own bool, err error) {
	if err := decode(line, &a); err != nil {
		return a, false, err
	}
	switch {
	case a.ID == nil:
		return a, false, errors.New("no id")
	case *a.ID != q.ID:
		return a, false, fmt.Errorf("id = %d: must be %d, that of the request", *a.ID, q.ID)
	case a.Error != "":
		return a, true, fmt.Errorf("the command says: %.500q", a.Error)
	case a.Undefined != "" && h.Role == MechanismRole:
		return a, true, &mechanisms.UndefinedError{Reason: fmt.Sprintf("%.500q", a.Undefined)}
	}
	return a, false, q.check(a, h)
}

// check checks everything in an answer that is used.
func (q *Request) check(a Answer, h Hello) error {
	switch h.Role {
	case AttackerRole:
		return q.checkLabels(a.Labels)
	case MeasurementRole:
		return q.checkValues(a.Values)
	case ModelRole:
		return q.checkNumbers(a.Numbers)
	}
	if q.Texts != nil {
		if len(a.Texts) != len(q.Texts) {
			return fmt.Errorf("%d texts for %d", len(a.Texts), len(q.Texts))
		}
		for i, t := range a.Texts {
			if strings.ContainsFunc(t, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) {
				return fmt.Errorf("text %d: has control characters other than white space", i)
			}
		}
		return nil
	}
	if len(a.Documents) != len(q.Documents) {
		return fmt.Errorf("%d documents for %d", len(a.Documents), len(q.Documents))
	}
	for i, d := range a.Documents {
		if h.AlignedTokens() && len(d) != len(q.Documents[i]) {
			return fmt.Errorf("document %d: %d tokens for %d, though tokens are declared to stay aligned", i, len(d),
				len(q.Documents[i]))
		}
		for j, t := range d {
			if t == "" || strings.ContainsFunc(t, unicode.IsSpace) || strings.ContainsFunc(t, unicode.IsControl) {
				return fmt.Errorf("document %d: token %d = %.100q: must be one word without control characters", i,
					j, t)
			}
		}
	}
	return nil
}

// decode reads one JSON object that is the whole line, without unknown fields.
func decode(line []byte, v any) error {
	if !utf8.Valid(line) {
		return errors.New("not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		why := strings.TrimPrefix(err.Error(), "json: ")
		if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) { // its text has Go types
			why = fmt.Sprintf("a %s at %q", wrong.Value, wrong.Field)
		}
		return fmt.Errorf("not a line of the protocol: %s: %.80q", why, line)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("not a line of the protocol: more than one object: %.80q", line)
	}
	return nil
}

// parseRequest reads a request on the serving side.
func parseRequest(line []byte) (*Request, []stream.Seed, error) {
	q := &Request{}
	if err := decode(line, q); err != nil {
		return q, nil, err
	}
	if err := check.Positive("epsilon", q.Epsilon); err != nil {
		return q, nil, err
	}
	if q.Documents != nil && q.Texts != nil {
		return q, nil, errors.New("has documents and texts: must have one of them")
	}
	if n := len(q.Documents) + len(q.Texts); len(q.Seeds) != n {
		return q, nil, fmt.Errorf("%d seeds for %d documents", len(q.Seeds), n)
	}
	seeds := make([]stream.Seed, len(q.Seeds))
	for i, s := range q.Seeds {
		if n, err := hex.Decode(seeds[i][:], []byte(s[:min(len(s), 2*len(seeds[i]))])); err != nil ||
			n != len(seeds[i]) || len(s) != 2*n {
			return q, nil, fmt.Errorf("seed %d = %.80q: must be %d hexadecimal digits", i, s, 2*len(seeds[i]))
		}
	}
	return q, seeds, nil
}

// seedTexts returns seeds in the form used in a request.
func seedTexts(seeds []stream.Seed) []string {
	return list.Map(seeds, func(s stream.Seed) string { return hex.EncodeToString(s[:]) })
}
