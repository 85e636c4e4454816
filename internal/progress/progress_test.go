package progress

import (
	"strings"
	"testing"
	"time"
)

func TestPlainLines(t *testing.T) {
	var out strings.Builder
	r := New(&out, "cells", 4)
	clock := r.start
	r.now = func() time.Time { return clock }
	r.Add(1, "a") // too soon to be printed
	clock = clock.Add(20 * time.Second)
	r.Add(1, "b")
	r.Note("a %s", "note")
	r.Add(2, "c") // the last is always printed
	r.Close()
	want := "cells 2/4, about 20s left: b\na note\ncells 4/4: c\n"
	if out.String() != want {
		t.Fatalf("got %q, want %q", out.String(), want)
	}
}

func TestDisplayShowsLongWorkOnce(t *testing.T) {
	var out strings.Builder
	d, ctx := NewDisplay(t.Context(), &out)
	outer := Start(ctx, "cells", 3)
	inner := Start(ctx, "samples", 2) // within the other: not shown
	clock := outer.start
	outer.now = func() time.Time { return clock }
	inner.now = func() time.Time { return clock.Add(time.Minute) }
	outer.Add(1, "a") // too soon
	inner.Add(1, "x")
	clock = clock.Add(20 * time.Second)
	outer.Add(1, "b")
	d.Hide()
	outer.Add(1, "c")
	inner.Close()
	outer.Close()
	short := Start(ctx, "words", 2)
	short.Add(2, "d")
	short.Close()
	d.Silence()
	silent := Start(ctx, "more", 2)
	silent.now = func() time.Time { return clock.Add(time.Hour) }
	silent.Add(1, "e")
	silent.Close()
	if want := "cells 2/3, about 10s left: b\ncells 3/3: c\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	Start(t.Context(), "none", 1).Close()
}
