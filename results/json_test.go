package results

import (
	"encoding/json"
	"testing"
)

func TestFloatJSONKeepsMissing(t *testing.T) {
	data, err := json.Marshal([]Float{Missing, 0, 0.1, 1e-300})
	if err != nil {
		t.Fatal(err)
	}
	if want := `[null,0,0.1,1e-300]`; string(data) != want {
		t.Fatalf("got %s, want %s", data, want)
	}
	var back []Float
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if back[0].Known() || back[1] != 0 || back[2] != 0.1 || back[3] != 1e-300 {
		t.Fatalf("read back %v", back)
	}
}
