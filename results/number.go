package results

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Optional is a number that may be missing: an empty cell in CSV, null in JSON.
// A value that was not measured is missing, never 0. Optionals are comparable;
// the zero value is missing.
type Optional struct {
	value float64
	known bool
}

// Missing is the value of what was not measured.
var Missing Optional

// Float is a known number, missing for NaN.
func Float(v float64) Optional {
	if math.IsNaN(v) {
		return Missing
	}
	return Optional{v, true}
}

// Known reports whether the number was measured.
func (o Optional) Known() bool { return o.known }

// Float is the number, NaN where it is missing.
func (o Optional) Float() float64 {
	if !o.known {
		return math.NaN()
	}
	return o.value
}

// String returns the shortest form that reads back exactly, "" for a missing
// number.
func (o Optional) String() string {
	if !o.known {
		return ""
	}
	return strconv.FormatFloat(o.value, 'g', -1, 64)
}

// MarshalCSV writes String.
func (o Optional) MarshalCSV() (string, error) { return o.String(), nil }

// UnmarshalCSV reads numbers written by MarshalCSV.
func (o *Optional) UnmarshalCSV(s string) error {
	*o = Missing
	if s == "" {
		return nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", s)
	}
	*o = Float(v)
	return nil
}

// MarshalJSON writes a missing number as null, and an infinite one as text,
// because JSON has neither.
func (o Optional) MarshalJSON() ([]byte, error) {
	if !o.known {
		return []byte("null"), nil
	} else if math.IsInf(o.value, 0) {
		return json.Marshal(o.String())
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON reads numbers written by MarshalJSON.
func (o *Optional) UnmarshalJSON(data []byte) error {
	return o.UnmarshalCSV(strings.Trim(strings.TrimPrefix(string(data), "null"), `"`))
}
