package results

import (
	"bytes"
	"encoding/json"
)

// MarshalJSON writes a missing number as null, because JSON has no NaN.
func (f Float) MarshalJSON() ([]byte, error) {
	if !f.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Float) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		*f = Missing
		return nil
	}
	return json.Unmarshal(data, (*float64)(f))
}
