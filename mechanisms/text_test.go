package mechanisms

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// privatized is the text of documents, word by word.
func privatized(t *testing.T, m *Mechanism, docs [][]string, o TextOptions) [][]string {
	t.Helper()
	o.Seed, o.Aligned = stream.FromUint64(34), true
	out, err := PrivatizeText(ctx, m, docs, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// requireText: text does not depend on workers or parts, and a document may have an
// ε of its own; a policy decides about unknown words and changes no known one; a
// cancelled call says so.
func requireText(t *testing.T, m *Mechanism) {
	t.Helper()
	docs, rng := [][]string{{"w1", "stranger", "w2"}, nil, {"stranger"}}, stream.FromUint64(9).Rand()
	for len(docs) < 80 {
		docs = append(docs, nil)
		for range rng.IntN(30) {
			docs[len(docs)-1] = append(docs[len(docs)-1], fmt.Sprintf("w%d", rng.IntN(44))) // a tenth unknown
		}
	}
	want, v := privatized(t, m, docs, TextOptions{}), m.Vocabulary()
	for _, workers := range []int{2, 5} {
		if !reflect.DeepEqual(privatized(t, m, docs, TextOptions{Workers: workers}), want) {
			t.Errorf("%d workers give another text", workers)
		}
	}
	other, err := m.At(2 * m.Settings().Epsilon)
	if err != nil {
		t.Fatal(err)
	}
	epsilons := slices.Repeat([]float64{m.Settings().Epsilon, 2 * m.Settings().Epsilon}, len(docs)/2)
	own := privatized(t, m, docs, TextOptions{Epsilons: epsilons, Workers: 2})
	for i, twice := range privatized(t, other, docs, TextOptions{}) {
		if !slices.Equal(own[i], [][]string{want[i], twice}[i%2]) {
			t.Fatalf("document %d is not that of its ε", i)
		}
	}
	keep, drop := privatized(t, m, docs, TextOptions{Policy: Keep}), privatized(t, m, docs, TextOptions{Policy: Drop})
	for i, words := range docs {
		if len(want[i]) != len(words) || len(keep[i]) != len(words) || len(drop[i]) != len(words) {
			t.Fatalf("%q became %q, %q and %q", words, want[i], keep[i], drop[i])
		}
		for j, w := range words {
			known := v.ID(w) != embeddings.Unknown
			if known && (keep[i][j] != want[i][j] || drop[i][j] != want[i][j]) {
				t.Errorf("the policy changed a known word: %q, %q, %q", want[i][j], keep[i][j], drop[i][j])
			}
			if !known && (keep[i][j] != w || drop[i][j] != "" || v.ID(want[i][j]) == embeddings.Unknown) {
				t.Errorf("unknown: random %q, keep %q, drop %q", want[i][j], keep[i][j], drop[i][j])
			}
		}
	}
	requireWords(t, m, docs, map[Policy][][]string{Random: want, Keep: keep, Drop: drop})
	if out, err := textOf(ctx, m, Drop, docs[:3], stream.FromUint64(34), 1); err != nil || len(out[2]) != 0 ||
		!slices.Equal(out[0], slices.DeleteFunc(drop[0], func(w string) bool { return w == "" })) {
		t.Errorf("not aligned: %q, %v", out, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := textOf(cancelled, m, Keep, docs, stream.FromUint64(1), 2); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v after cancelling", err)
	}
	if _, err := textOf(ctx, m, "guess", docs, stream.FromUint64(11), 1); err == nil {
		t.Error("an unknown policy is no error")
	}
	if _, err := textOf(ctx, m, Keep, docs, stream.FromUint64(11), -1); err == nil {
		t.Error("no workers is no error")
	}
}

// requireWords: words that are found already become what their spellings do.
func requireWords(t *testing.T, m *Mechanism, docs [][]string, want map[Policy][][]string) {
	t.Helper()
	v := m.Vocabulary()
	words := make([][]WordID, len(docs))
	for i, tokens := range docs {
		words[i] = v.Encode(nil, tokens)
	}
	for policy, texts := range want {
		got, err := PrivatizeWords(ctx, m, words, TextOptions{Policy: policy, Seed: stream.FromUint64(34), Workers: 2})
		if err != nil {
			t.Fatalf("policy %s: %v", policy, err)
		}
		for i, ids := range got {
			if spelled := spell(v, docs[i], ids); !slices.Equal(spelled, texts[i]) {
				t.Fatalf("policy %s: the words of %q became %q, want %q, as their spellings did", policy, docs[i],
					spelled, texts[i])
			}
		}
	}
}

// spell writes what PrivatizeWords returned for the words of a document.
func spell(v *embeddings.Vocabulary, document []string, ids []WordID) []string {
	out := slices.Clone(document)
	for i, id := range ids {
		switch id {
		case Kept:
		case Removed:
			out[i] = ""
		default:
			out[i] = v.Word(id)
		}
	}
	return out
}

// requireKept: words that are kept pass unchanged, and the others are privatised as if
// they were absent.
func requireKept(t *testing.T, m *Mechanism) {
	t.Helper()
	drop := privatized(t, m, [][]string{{"w1", "w2"}}, TextOptions{})
	kept := KeepWords(m, []string{"w3", "the"})
	got := privatized(t, kept, [][]string{{"w3", "w1", "the", "w2", "stranger"}, {"w3"}}, TextOptions{Policy: Drop, Workers: 2})
	if full := [][]string{{"w3", drop[0][0], "the", drop[0][1], ""}, {"w3"}}; !reflect.DeepEqual(got, full) {
		t.Errorf("with words to keep: %q, want %q", got, full)
	}
	words, err := PrivatizeWords(ctx, kept, [][]WordID{{Kept, 1, Kept, 2, embeddings.Unknown}},
		TextOptions{Policy: Drop, Seed: stream.FromUint64(34)})
	if err != nil {
		t.Fatal(err)
	}
	spelled := spell(m.Vocabulary(), []string{"w3", "w1", "the", "w2", "stranger"}, words[0])
	if !slices.Equal(spelled, got[0]) {
		t.Errorf("with kept words that are found: %q, want %q", spelled, got[0])
	}
	twice := privatized(t, KeepWords(KeepWords(m, []string{"the"}), []string{"w3"}), [][]string{{"w3", "the"}},
		TextOptions{Policy: Drop})
	if !slices.Equal(twice[0], []string{"w3", "the"}) {
		t.Errorf("kept by two lists: %q, want w3 and the", twice[0])
	}
	g, inner := kept.Guarantee(), m.Guarantee()
	if g.Holds() && g.Scope == "" || g.Promises(1, 3) || g.Promises(3, 3) || g.Promises(1, 2) != inner.Promises(1, 2) ||
		len((TextOptions{Policy: Keep}).Warnings(g)) != 2 || kept.Closed() != m.Closed() || KeepWords(m, nil) != m {
		t.Errorf("with words to keep: guarantee %s, closed %v", g, kept.Closed())
	}
	if kept.Closed() && lawOf(t, kept, 3)[3] != 1 {
		t.Errorf("a kept word stays with probability %v", lawOf(t, kept, 3)[3])
	}
	src := []WordID{3, 1, 3}
	other, err := kept.At(2 * m.Settings().Epsilon)
	if err == nil {
		err = other.Privatize(ctx, src, src, stream.FromUint64(9).Rand())
	}
	if err != nil || src[0] != 3 || src[2] != 3 {
		t.Errorf("kept words became %v, %v", src, err)
	}
}

// Text does not depend on path, workers, batches, or on what is kept.
func TestTextIsTheSame(t *testing.T) {
	middle, uneven := spacetest.Gaussian(t, 2000, 12, 1, 53), unevenSpace(t, 5000, 17, 76)
	for name, epsilons := range map[string][]float64{"santext": {0.5, 40}, "tem": {3}, "santext-plus": {0.5, 40},
		"syntf": {5, 9}, "table": {2}} {
		for _, epsilon := range epsilons {
			// fresh has memory for a few rows only where few is set.
			fresh := func(few bool) *Mechanism {
				limit := int64(math.MaxInt64)
				if few {
					limit = 20 << 10
				}
				switch name {
				case "table":
					m := mustNew(t, Environment{Space: middle}, Settings{Mechanism: "santext", Epsilon: epsilon})
					samplerOf[*tables](t, m).made.limit = limit
					return m
				case "syntf":
					m, x, _ := cosinesOf(t, uneven, epsilon)
					x.made.limit = limit
					return m
				}
				m, x, _ := distancesOf(t, middle, name, epsilon)
				x.made.limit = limit
				return m
			}
			requireSameText(t, fmt.Sprintf("%s, ε = %v", name, epsilon), fresh)
		}
	}
}

func requireSameText(t *testing.T, name string, fresh func(few bool) *Mechanism) {
	t.Helper()
	rng := stream.FromUint64(54).Rand()
	documents := make([][]string, 20)
	for i := range documents {
		for range 30 {
			documents[i] = append(documents[i], fmt.Sprint("w", rng.IntN(150)))
		}
	}
	var want [][]string
	kernel.OnPaths(func(path string) {
		for _, workers := range []int{1, 3} {
			m := fresh(workers == 3 && path == kernel.Paths()[0])
			for range 2 { // once without rows, once with
				got, err := textOf(ctx, m, Random, documents, stream.FromUint64(55), workers)
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
					t.Fatalf("%s: text differs on %s with %d workers", name, path, workers)
				}
			}
		}
	})
	m := fresh(false)
	for d, document := range documents { // one at a time
		ids := m.Vocabulary().Encode(nil, document)
		if err := m.Privatize(ctx, ids, ids, stream.FromUint64(55).At(uint64(d)).Rand()); err != nil {
			t.Fatal(err)
		}
		for j, id := range ids {
			if m.Vocabulary().Word(id) != want[d][j] {
				t.Fatalf("%s: document %d alone differs at %d", name, d, j)
			}
		}
	}
}

// An ε of a document is shared by all of its words, known or not; nothing is promised
// where their number is hidden.
func TestOfDocument(t *testing.T) {
	space := spacetest.Gaussian(t, 40, 3, 1, 8)
	build := func(name string, epsilon float64) *Mechanism {
		return mustNew(t, Environment{Space: space}, Settings{Mechanism: name, Epsilon: epsilon})
	}
	words, whole := build("cmp", 2), build("cmp", 8)
	shared, err := OfDocument(whole, Random)
	if err != nil {
		t.Fatal(err)
	}
	docs := [][]string{{"w1", "w2", "stranger", "w3"}, nil, {"w5", "w6", "w7", "w8"}}
	o := TextOptions{Seed: stream.FromUint64(3)}
	want, _ := PrivatizeText(t.Context(), words, docs, o)
	got, err := PrivatizeText(t.Context(), shared, docs, o)
	if g := shared.Guarantee(); err != nil || !reflect.DeepEqual(got, want) || g.Metric != "document euclidean" || g.Epsilon != 8 ||
		!strings.Contains(g.Reason, "between texts of the same length") || shared.TakesWords() {
		t.Errorf("%v, want %v; %+v, %v", got, want, g, err)
	}
	for _, hidden := range []struct {
		name   string
		policy Policy
	}{{"cmp", Drop}, {"delete", Random}} {
		if m, err := OfDocument(build(hidden.name, 8), hidden.policy); err != nil || m.Guarantee().Holds() {
			t.Errorf("%s, %s: %+v, %v", hidden.name, hidden.policy, m.Guarantee(), err)
		}
	}
}
