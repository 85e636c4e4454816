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

// UnmarshalJSON reads numbers written by MarshalJSON.
func (f *Float) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		*f = Missing
		return nil
	}
	return json.Unmarshal(data, (*float64)(f))
}

// UnmarshalJSON reads a record; fields absent from the text are missing, not 0.
func (r *Record) UnmarshalJSON(data []byte) error {
	type plain Record // a type without this method
	p := plain(NewRecord())
	p.Schema = 0
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	*r = Record(p)
	return nil
}
