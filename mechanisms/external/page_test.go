package external

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/mechanisms"
)

// TestPageIsTheProtocol reads the lines of JSON in EXTERNAL.md as the program
// reads those of a client.
func TestPageIsTheProtocol(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "EXTERNAL.md"))
	if err != nil {
		t.Fatal(err)
	}
	kind, hellos, answers := "", 0, 0
	var asked *Request
	for line := range strings.SplitSeq(string(page), "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			kind = strings.TrimPrefix(line, "```")
		case kind == "json hello":
			h, err := parseHello([]byte(line))
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
			data, err := json.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parseHello(data); err != nil {
				t.Errorf("%s: %v", data, err)
			}
			hellos++
		case kind == "json exchange" && asked == nil:
			q, seeds, err := parseRequest([]byte(line))
			if err != nil || len(seeds) == 0 {
				t.Errorf("%s: %v", line, err)
			}
			asked = q
		case kind == "json exchange":
			a, err := parseAnswer([]byte(line), Hello{}, asked)
			var undefined *mechanisms.UndefinedError
			said := a.Error != "" && strings.HasPrefix(err.Error(), "the command says: ")
			if err != nil && !errors.As(err, &undefined) && !said {
				t.Errorf("%s: %v", line, err)
			}
			asked = nil
			answers++
		}
	}
	if hellos != 2 || answers != 4 {
		t.Errorf("EXTERNAL.md has %d hellos and %d exchanges", hellos, answers)
	}
}
