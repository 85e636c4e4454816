package privatize

import (
	"strings"
	"testing"

	"mldpbench/datasets/table"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Of a plain layout nothing is written but words: texts that differ in spaces, signs and
// capitals alone become the same. A fixed one has its length whatever the text.
func TestLayouts(t *testing.T) {
	t.Parallel()
	strange := "Cat, DOG! d'john+tag@x.org see http://x.org/a?b=c. U.S. 1,2:3/4 \U0001fae9\U0001fae9 \ue000 İdea--good\n\n…\n"
	for layout, words := range map[Layout]int{Plain: 0, 2: 2, 40: 40} {
		for _, policy := range mechanisms.Policies {
			got := runOn(t, newStream(t, Options{Layout: layout, Policy: policy, Workers: 2}), strings.NewReader(strange), table.Options{})
			rows := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
			for i, row := range rows {
				n := len(strings.Fields(row))
				if row != strings.ToLower(strings.Join(strings.Fields(row), " ")) || words > 0 && n != words ||
					words == 0 && (n > 0) != (i == 0) || strings.ContainsAny(row, "!?…") && i > 0 {
					t.Errorf("%d, %s: row %d: %q", layout, policy, i, row)
				}
			}
			if len(rows) != 3 {
				t.Errorf("%d: %q", layout, rows)
			}
		}
	}
	seed := []stream.Seed{stream.FromUint64(1), stream.FromUint64(1)}
	for _, layout := range []Layout{Plain, 3, 9} {
		got, _, err := newStream(t, Options{Layout: layout}).Texts(t.Context(), []string{" Cat,  DOG…good\n", "cat dog Good"}, seed)
		if err != nil || got[0] != got[1] {
			t.Errorf("%d: %q, %v", layout, got, err)
		}
	}
}

// What is filled in is an output of the mechanism, at any place; a document's budget is
// shared by as many words in every text, and what was cut or filled in is counted.
func TestFixedLength(t *testing.T) {
	t.Parallel()
	m, err := mechanisms.New(mechanisms.Environment{Space: small(t)}, mechanisms.Settings{Mechanism: "identity", Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := newStream(t, Options{Mechanism: m, Layout: 3, Document: 6, Seed: stream.FromUint64(1)})
	got := runOn(t, s, strings.NewReader(strings.Repeat("thought\n", 300)+"good bad good bad good\n"), table.Options{})
	first, words := map[string]int{}, map[string]int{}
	for line := range strings.Lines(got) {
		first[strings.Fields(line)[0]]++
		for _, w := range strings.Fields(line) {
			words[w]++
		}
	}
	// A word of the text is first in a third of 300 lines and a few more, where it is filled in; of 600 words filled in
	// the most frequent is one in four, the rarest one in ten.
	if n := first["thought"]; n < 90 || n > 160 || words["cat"] < 120 || words["idea"] < 40 || words["thought"] < 325 {
		t.Errorf("%v, %v", first, words)
	}
	if !strings.HasSuffix(got, "good bad good\n") {
		t.Errorf("%q", got[len(got)-30:])
	}
	if sum := s.Summary(); sum.Cut != 2 || sum.Filled != 600 || sum.Words != 305 || sum.Known != 303 || sum.EpsilonMost != 6 {
		t.Errorf("%+v", sum)
	}
	if n := s.Layouts.Texts; n != 0 {
		t.Errorf("%d layouts are kept", n)
	}
}
