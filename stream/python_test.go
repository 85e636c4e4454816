package stream

import (
	"fmt"
	"testing"
)

// What CPython 3 prints for random.seed(s); random.sample(range(n), k): on both
// sides of the size from which it keeps a set, with a seed of two digits, and
// up to the largest n.
func TestPythonSample(t *testing.T) {
	for _, c := range []struct {
		seed uint64
		n, k int
		want string
	}{
		{19, 27308, 25, "[22188 1417 25719 17054 3954 16760 6537 12895 11376 17340 9481 " +
			"19159 4858 19496 8555 3528 8534 13496 10727 8778 3527 25339 10665 10192 749]"},
		{2759, 40000, 25, "[13237 15187 20287 16267 36415 19844 22873 6682 22962 17288 10736 " +
			"25824 21783 13989 39431 17163 6323 36920 29484 7113 12801 37377 23130 30568 3771]"},
		{0, 10, 10, "[6 9 0 2 4 3 5 1 8 7]"},
		{1, 277, 25, "[68 32 130 60 253 230 241 194 107 48 249 14 199 221 1 228 136 " +
			"117 52 162 15 11 6 166 138]"},
		{1, 278, 25, "[68 32 130 60 253 230 241 194 107 48 249 14 199 221 1 228 136 " +
			"117 52 162 15 11 13 277 4]"},
		{12345678901234, 100, 5, "[3 71 18 54 67]"},
		{7, 1 << 31, 3, "[1390851128 647892279 1695753998]"},
		{3, 21, 5, "[7 18 17 4 11]"},
		{3, 22, 5, "[7 18 17 4 11]"},
		{5, 1, 1, "[0]"},
		{4, 3, 0, "[]"},
	} {
		got, err := PythonSample(c.seed, c.n, c.k)
		if err != nil {
			t.Fatal(err)
		}
		if s := fmt.Sprint(got); s != c.want {
			t.Errorf("seed %d, %d of %d: %s, want %s", c.seed, c.k, c.n, s, c.want)
		}
	}
	for _, c := range [][2]int{{5, 6}, {5, -1}, {1<<31 + 1, 1}} {
		if _, err := PythonSample(1, c[0], c[1]); err == nil {
			t.Errorf("a sample of %d of %d is drawn", c[1], c[0])
		}
	}
}
