package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Float is a number that may be missing (NaN): an empty cell in CSV, null in
// JSON. A value that was not measured is missing, never 0.
type Float float64

// Missing is the value of what was not measured.
var Missing = Float(math.NaN())

// Known reports whether the number was measured.
func (f Float) Known() bool { return !math.IsNaN(float64(f)) }

// String returns the shortest form that reads back exactly, "" for a missing
// number.
func (f Float) String() string {
	if !f.Known() {
		return ""
	}
	return strconv.FormatFloat(float64(f), 'g', -1, 64)
}

// MarshalCSV writes String.
func (f Float) MarshalCSV() (string, error) { return f.String(), nil }

// UnmarshalCSV reads numbers written by MarshalCSV.
func (f *Float) UnmarshalCSV(s string) error {
	if s == "" {
		*f = Missing
		return nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", s)
	}
	*f = Float(v)
	return nil
}

// MarshalJSON writes a missing number as null, and an infinite one as text,
// because JSON has neither.
func (f Float) MarshalJSON() ([]byte, error) {
	switch {
	case !f.Known():
		return []byte("null"), nil
	case math.IsInf(float64(f), 0):
		return json.Marshal(f.String())
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads numbers written by MarshalJSON.
func (f *Float) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		*f = Missing
		return nil
	}
	if text, err := strconv.Unquote(string(data)); err == nil {
		return f.UnmarshalCSV(text)
	}
	return json.Unmarshal(data, (*float64)(f))
}
