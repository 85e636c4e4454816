// Package vectors is a template: copy it, and import it in cmd/mldp.
package vectors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"mldpbench/embeddings"
)

func init() {
	embeddings.Register(embeddings.Format{
		Name:      "json-lines",
		Version:   1,
		Recognise: recognise,
		Read:      read,
	})
}

func recognise(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte(`{"word":`)) }

// read reads lines such as {"word": "cat", "vector": [1, 0.5]}.
func read(f *embeddings.File, add func(embeddings.Rows) error) error {
	lines := json.NewDecoder(f)
	for line := 1; ; line++ {
		var row struct {
			Word   string    `json:"word"`
			Vector []float32 `json:"vector"`
		}
		err := lines.Decode(&row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", f.Path, line, err)
		}
		err = add(embeddings.Rows{
			Line:    line,
			Words:   []string{row.Word},
			Vectors: row.Vector,
		})
		if err != nil {
			return err
		}
	}
}
