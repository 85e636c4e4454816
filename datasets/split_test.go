package datasets

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"mldpbench/stream"
)

func pool(perClass ...int) Rows {
	var r Rows
	for c, n := range perClass {
		r.Classes = append(r.Classes, fmt.Sprintf("class %d", c))
		for i := range n {
			r.Rows = append(r.Rows, Row{Text: fmt.Sprintf("%d of %d", i, c), Label: c})
		}
	}
	return r
}

// Every sample is balanced, disjoint and of the requested size.
func TestSampleIsBalancedAndDisjoint(t *testing.T) {
	rows := pool(50, 60, 70)
	for _, sizes := range []Sizes{{30, 9, 12}, {1, 0, 0}, {100, 20, 10}, {0, 0, 7}} {
		splits, err := split(rows, Request{Sizes: sizes, Seed: stream.FromUint64(3)})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for s, size := range []int{sizes.Train, sizes.Validation, sizes.Test} {
			counts := make([]int, 3)
			for _, d := range splits[s] {
				if seen[d.ID] {
					t.Fatalf("%v: row %d twice", sizes, d.ID)
				}
				seen[d.ID] = true
				if rows.Rows[d.ID].Label != d.Label || rows.Rows[d.ID].Text != d.Text {
					t.Fatalf("%v: row %d is not itself", sizes, d.ID)
				}
				counts[d.Label]++
			}
			if len(splits[s]) != size || counts[0]-counts[2] > 1 || counts[0] < counts[2] {
				t.Errorf("%v: split %d has %v", sizes, s, counts)
			}
		}
	}
}

func TestTooLargeASample(t *testing.T) {
	_, err := split(pool(10, 3), Request{Sizes: Sizes{6, 2, 2}})
	want := `class "class 1" has 3 documents, a sample of 6 + 2 + 2 needs 5`
	if err == nil || err.Error() != want {
		t.Errorf("err = %v, want %s", err, want)
	}
	wrong := pool(3, 3) // of a reader
	for _, r := range []Row{{Label: 2}, {Label: -1}, {Private: 1}} {
		wrong.Rows[4] = r
		for _, byHash := range []bool{false, true} {
			if _, err := split(wrong, Request{ByHash: byHash}); err == nil ||
				!strings.HasPrefix(err.Error(), "row 5: ") {
				t.Error(r, err)
			}
		}
	}
	// Not that its first class is too small.
	_, err = split(pool(10, 3), Request{Sizes: Sizes{Train: 100}, Unbalanced: true, ByHash: true})
	if err == nil || !strings.Contains(err.Error(), "the source has ") {
		t.Error(err)
	}
}

// The whole source is used once, with its own splits where it has them.
func TestWholeSource(t *testing.T) {
	official := pool(20, 20)
	for i := range official.Rows {
		official.Rows[i].Split = []string{"train", "train", "train", "test"}[i%4]
	}
	for name, c := range map[string]struct {
		rows                    Rows
		train, validation, test int
	}{
		"no splits":       {pool(20, 40), 14 + 28, 2 + 4, 4 + 8},
		"train and test":  {official, 30 - 2, 2, 10},
		"a tiny class":    {pool(1, 100), 1 + 70, 10, 20},
		"one class empty": {pool(0, 10), 7, 1, 2},
	} {
		s, err := split(c.rows, Request{Seed: stream.FromUint64(1)})
		if err != nil {
			t.Fatal(err)
		}
		if len(s[0]) != c.train || len(s[1]) != c.validation || len(s[2]) != c.test {
			t.Errorf("%s: %d, %d, %d; want %d, %d, %d", name, len(s[0]), len(s[1]), len(s[2]), c.train, c.validation,
				c.test)
		}
		for _, d := range s[2] {
			if name == "train and test" && official.Rows[d.ID].Split != "test" {
				t.Errorf("row %d is not of the official test split", d.ID)
			}
		}
	}
}

// An unbalanced sample has the shares of the source in every split, up to one
// document, and no document twice.
func TestUnbalancedSampleHasTheSharesOfTheSource(t *testing.T) {
	t.Parallel()
	rows := Rows{Classes: []string{"rare", "common"}, Privates: []string{"x", "y"}}
	for i := range 200 {
		r := Row{Label: 1, Private: i % 2}
		if i%10 == 0 {
			r.Label = 0
		}
		rows.Rows = append(rows.Rows, r)
	}
	draw := func(seed uint64) [3][]Document {
		s, err := split(rows, Request{Sizes: Sizes{100, 20, 40}, Unbalanced: true, Seed: stream.FromUint64(seed)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	seen := map[int]bool{}
	for i, s := range draw(1) {
		count := 0
		for _, d := range s {
			if seen[d.ID] {
				t.Errorf("document %d is drawn twice", d.ID)
			}
			seen[d.ID] = true
			if d.Label == 0 {
				count++
			}
		}
		if want := []int{10, 2, 4}[i]; len(s) != []int{100, 20, 40}[i] || count < want-1 || count > want+1 {
			t.Errorf("split %d: %d of %d documents are of the rare class, want %d", i, count, len(s), want)
		}
	}
	if !reflect.DeepEqual(draw(1), draw(1)) || reflect.DeepEqual(draw(1), draw(2)) {
		t.Error("the sample is not decided by its seed")
	}
}
