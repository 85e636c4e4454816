package textio

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"mldpbench/internal/gunzip"
)

// array reads an array of JSON objects.
type array struct {
	decoder *json.Decoder
	tape    *tape
	fields  *jsonFields
	before  string // the byte order mark
	begun   bool
	ended   bool
	record  uint64
}

func newArray(r *bufio.Reader, o Options) *array {
	a := &array{before: gunzip.SkipMark(r), tape: &tape{r: r, options: o}, fields: newJSONFields(o)}
	a.decoder = json.NewDecoder(a.tape)
	return a
}

func (a *array) waiting() bool { return false }

func (a *array) next(dst []Piece) ([]Piece, error) {
	if a.ended {
		if err := a.fields.end(); err != nil {
			return dst, fmt.Errorf("%s: %w", a.tape.options.Name, err)
		}
		return dst, io.EOF
	}
	wrong := func(err error) ([]Piece, error) {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the array does not end")
		}
		return dst, fmt.Errorf("%s: after %d objects: %w", a.tape.options.Name, a.record, err)
	}
	if !a.begun {
		if t, err := a.decoder.Token(); err != nil || t != json.Delim('[') {
			return dst, fmt.Errorf("%s: is no JSON array of objects", a.tape.options.Name)
		}
		a.begun = true
	}
	if !a.decoder.More() {
		if _, err := a.decoder.Token(); err != nil {
			return wrong(err)
		}
		if _, err := a.decoder.Token(); !errors.Is(err, io.EOF) {
			return wrong(errors.New("more after the JSON array"))
		}
		a.ended = true
		return append(dst, Piece{Before: a.before + string(a.tape.rest()), Record: a.record}), nil
	}
	var object json.RawMessage
	if err := a.decoder.Decode(&object); err != nil {
		return wrong(err)
	}
	all := string(a.tape.advance(a.decoder.InputOffset()))
	from := len(dst)
	dst, err := a.fields.split(dst, string(object), 0)
	if err != nil {
		return dst[:from], fmt.Errorf("%s: object %d: %w", a.tape.options.Name, a.record+1, err)
	}
	dst[from].Before = a.before + strings.TrimSuffix(all, string(object)) + dst[from].Before
	a.before = ""
	for i := from; i < len(dst); i++ {
		dst[i].Record = a.record
	}
	a.record++
	return dst, nil
}
