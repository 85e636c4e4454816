package progress

import (
	"strings"
	"testing"
	"time"
)

func TestPlainLines(t *testing.T) {
	var out strings.Builder
	r := New(&out, "cells", 4, 10)
	clock := r.start
	r.now = func() time.Time { return clock }
	r.Add(1, 1, "a") // too soon to be printed
	clock = clock.Add(20 * time.Second)
	r.Add(1, 4, "b")
	r.Note("a %s", "note")
	r.Add(2, 5, "c") // the last is always printed
	r.Close()
	want := "cells 2/4, about 20s left: b\na note\ncells 4/4: c\n"
	if out.String() != want {
		t.Fatalf("got %q, want %q", out.String(), want)
	}
}
