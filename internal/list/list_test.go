package list

import (
	"slices"
	"strconv"
	"testing"
)

func TestLists(t *testing.T) {
	x := []int{3, 1, 2}
	if got := Map(x, strconv.Itoa); !slices.Equal(got, []string{"3", "1", "2"}) {
		t.Errorf("map: %q", got)
	}
	if got := Map([]int(nil), strconv.Itoa); got == nil || len(got) != 0 {
		t.Errorf("map of nothing: %#v", got)
	}
	if got := Sum(x, func(v int) int { return v * v }); got != 14 {
		t.Errorf("sum: %d", got)
	}
	if got := Count(x, func(v int) bool { return v > 1 }); got != 2 {
		t.Errorf("count: %d", got)
	}
}
