package external

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPageIsTheProtocol reads the lines of JSON in docs/external.md as the program
// reads those of a client.
func TestPageIsTheProtocol(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "external.md"))
	if err != nil {
		t.Fatal(err)
	}
	kind, question := "", (*Request)(nil)
	counts := map[string]int{}
	for line := range strings.SplitSeq(string(page), "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			kind = strings.TrimPrefix(line, "```")
			continue
		case kind == "json hello":
			h := Hello{}
			if err = decode([]byte(line), &h); err == nil {
				_, err = parseHello([]byte(line), h.Role)
			}
		case !strings.HasPrefix(kind, "json "):
			continue
		case question == nil:
			question = &Request{}
			err = decode([]byte(line), question)
			// what the program would send itself
			if data, failed := json.Marshal(question); failed != nil || string(data) != line {
				t.Errorf("%s: sent as %s, %v", line, data, failed)
			}
		default:
			_, _, err = parseAnswer([]byte(line), question.ID)
			question = nil
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		counts[kind]++
	}
	if want := map[string]int{"json hello": 4, "json exchange": 8, "json attack": 2, "json measurement": 2,
		"json model": 6}; !maps.Equal(counts, want) {
		t.Errorf("docs/external.md has %v, want %v", counts, want)
	}
}
