package external

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// inRole has the blocks of the page that are questions and answers of a role.
var inRole = map[string]Role{"json exchange": MechanismRole, "json attack": AttackerRole,
	"json measurement": MeasurementRole, "json model": ModelRole}

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
		role, isRole := inRole[kind]
		switch {
		case strings.HasPrefix(line, "```"):
			kind = strings.TrimPrefix(line, "```")
			continue
		case kind == "json hello":
			_, err = parseHello([]byte(line))
		case !isRole:
			continue
		case question == nil:
			question = &Request{}
			err = decode([]byte(line), question)
			// what the program would send itself
			if data, failed := json.Marshal(question); failed != nil || string(data) != line {
				t.Errorf("%s: sent as %s, %v", line, data, failed)
			}
		default:
			var own bool
			if _, own, err = parseAnswer([]byte(line), role, question.ID, func(Answer) error { return nil }); own {
				err = nil
			}
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
