package plots

import (
	"reflect"
	"testing"
)

func TestSpans(t *testing.T) {
	for _, c := range []struct {
		line string
		want []span
	}{
		{"plain", []span{{"plain", false}}},
		{"", []span{{"", false}}},
		{"N_w : S_w", []span{{"N", false}, {"w", true}, {" : S", false}, {"w", true}}},
		{"error E_M", []span{{"error E", false}, {"M", true}}},
		{"my_vectors GLOVE_x", []span{{"my_vectors GLOVE_x", false}}},
		{"N_", []span{{"N_", false}}},
	} {
		if got := spans(c.line); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %v, want %v", c.line, got, c.want)
		}
	}
}
