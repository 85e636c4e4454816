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

// inRole has the blocks of the page that are questions and answers of a role.
var inRole = map[string]Role{"json attack": AttackerRole, "json measurement": MeasurementRole, "json model": ModelRole}

// TestPageIsTheProtocol reads the lines of JSON in docs/external.md as the program
// reads those of a client.
func TestPageIsTheProtocol(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "external.md"))
	if err != nil {
		t.Fatal(err)
	}
	kind, hellos, answers, roles := "", 0, 0, 0
	var asked, question *Request
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
		case inRole[kind] != "" && question == nil:
			question = &Request{classes: 2}
			if err := decode([]byte(line), question); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			// what the program would send itself
			if data, err := json.Marshal(question); err != nil || string(data) != line {
				t.Errorf("%s: sent as %s, %v", line, data, err)
			}
		case inRole[kind] != "":
			if _, _, err := parseAnswer([]byte(line), Hello{Role: inRole[kind]}, question); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			question = nil
			roles++
		case kind == "json exchange" && asked == nil:
			q, seeds, err := parseRequest([]byte(line))
			if err != nil || len(seeds) == 0 {
				t.Errorf("%s: %v", line, err)
			}
			asked = q
		case kind == "json exchange":
			a, _, err := parseAnswer([]byte(line), Hello{}, asked)
			var undefined *mechanisms.UndefinedError
			said := a.Error != "" && strings.HasPrefix(err.Error(), "the command says: ")
			if err != nil && !errors.As(err, &undefined) && !said {
				t.Errorf("%s: %v", line, err)
			}
			asked = nil
			answers++
		}
	}
	if hellos != 4 || answers != 4 || roles != 5 {
		t.Errorf("docs/external.md has %d hellos, %d exchanges and %d of roles", hellos, answers, roles)
	}
}
