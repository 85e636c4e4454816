package registry

import (
	"slices"
	"testing"
)

func TestRegistry(t *testing.T) {
	r := New[int]("thing")
	r.Add("two", 2)
	r.Add("one", 1)
	if d, err := r.Find("two"); err != nil || d != 2 || !r.Has("one") || r.Has("three") {
		t.Errorf("found %d, %v", d, err)
	}
	if got := r.Names(); !slices.Equal(got, []string{"one", "two"}) || !slices.Equal(r.All(), []int{1, 2}) {
		t.Errorf("%q, %v", got, r.All())
	}
	want := `thing = "tow": must be one of ["one" "two"]; did you mean "two"?`
	if _, err := r.Find("tow"); err == nil || err.Error() != want {
		t.Error(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a name is registered twice")
		}
	}()
	r.Add("one", 3)
}
