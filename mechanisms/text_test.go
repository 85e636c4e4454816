package mechanisms

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

func documents(n int, vocabulary int) [][]string {
	rng := stream.FromUint64(9).Rand()
	docs := make([][]string, n)
	for i := range docs {
		for range rng.IntN(40) {
			docs[i] = append(docs[i], fmt.Sprintf("w%d", rng.IntN(vocabulary+vocabulary/10))) // a tenth unknown
		}
	}
	return docs
}

func TestTextDoesNotDependOnWorkers(t *testing.T) {
	s := spacetest.Gaussian(t, 200, 8, 1, 5)
	docs := documents(400, s.Len())
	for _, name := range []string{"cmp", "vickrey", "tem", "santext"} {
		m := mustNew(t, Environment{Space: s}, Settings{Mechanism: name, Epsilon: 4})
		want, err := Text(context.Background(), m, Random, docs, stream.FromUint64(10), 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{2, 5} {
			got, err := Text(context.Background(), m, Random, docs, stream.FromUint64(10), workers)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %d workers give another text", name, workers)
			}
		}
		half, err := PrivatizeText(context.Background(), m, docs[150:],
			TextOptions{Policy: Random, First: 150, Seed: stream.FromUint64(10)})
		if err != nil || !reflect.DeepEqual(half, want[150:]) {
			t.Errorf("%s: documents from 150 on differ (%v)", name, err)
		}
		// A document is privatised alone exactly as among others.
		ids := m.Vocabulary().Encode(nil, []string{"w1", "w2", "w3"})
		_ = m.Privatize(ctx, ids, ids, stream.FromUint64(10).At(0).Rand())
		alone, err := Text(context.Background(), m, Random, [][]string{{"w1", "w2", "w3"}}, stream.FromUint64(10), 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if alone[0][i] != m.Vocabulary().Word(id) {
				t.Errorf("%s: Text and Privatize differ", name)
			}
		}
	}
}

func TestTextPolicies(t *testing.T) {
	s := spacetest.Gaussian(t, 100, 4, 1, 6)
	m := mustNew(t, Environment{Space: s}, Settings{Mechanism: "cmp", Epsilon: 2})
	docs := [][]string{{"w1", "stranger", "w2"}, nil, {"stranger"}}
	texts := map[Policy][][]string{}
	for _, p := range []Policy{Keep, Drop, Random} {
		var err error
		if texts[p], err = Text(context.Background(), m, p, docs, stream.FromUint64(11), 1); err != nil {
			t.Fatal(err)
		}
	}
	if got := texts[Keep]; got[0][1] != "stranger" || got[2][0] != "stranger" {
		t.Errorf("keep: %q", got)
	}
	if got := texts[Drop]; len(got[0]) != 2 || len(got[2]) != 0 {
		t.Errorf("drop: %q", got)
	}
	if got := texts[Random]; len(got[0]) != 3 || got[0][1] == "stranger" || m.Vocabulary().ID(got[2][0]) < 0 {
		t.Errorf("random: %q", got)
	}
	for p := range texts {
		if len(texts[p]) != 3 || len(texts[p][1]) != 0 {
			t.Errorf("%s: an empty document became %q", p, texts[p][1])
		}
		if got, want := texts[p][0][0], texts[Keep][0][0]; got != want {
			t.Errorf("%s: the policy changed a known word: %q, %q", p, got, want)
		}
	}
	if _, err := Text(context.Background(), m, "guess", docs, stream.FromUint64(11), 1); err == nil {
		t.Error("an unknown policy is no error")
	}
	if _, err := Text(context.Background(), m, Keep, docs, stream.FromUint64(11), 0); err == nil {
		t.Error("no workers is no error")
	}
}

func TestTextStops(t *testing.T) {
	s := spacetest.Gaussian(t, 100, 4, 1, 6)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, name := range []string{"cmp", "santext"} {
		m := mustNew(t, Environment{Space: s}, Settings{Mechanism: name, Epsilon: 2})
		if _, err := Text(ctx, m, Keep, documents(1000, 100), stream.FromUint64(1), 2); !errors.Is(err,
			context.Canceled) {
			t.Errorf("%s: err = %v after cancelling", name, err)
		}
	}
}

func TestKeptWords(t *testing.T) {
	s := spacetest.Gaussian(t, 50, 4, 1, 6)
	for _, name := range []string{"cmp", "santext"} {
		inner := mustNew(t, Environment{Space: s}, Settings{Mechanism: name, Epsilon: 0.001})
		m := KeepWords(inner, []string{"w3", "the"})
		docs := [][]string{{"w3", "w1", "the", "w2", "stranger"}, {"w3"}}
		got, err := Text(context.Background(), m, Drop, docs, stream.FromUint64(13), 2)
		if err != nil {
			t.Fatal(err)
		}
		// The other words are privatised as if the kept ones were absent.
		want, err := Text(context.Background(), inner, Drop, [][]string{{"w1", "w2", "stranger"}},
			stream.FromUint64(13), 1)
		if err != nil {
			t.Fatal(err)
		}
		full := []string{"w3", want[0][0], "the", want[0][1]}
		if !reflect.DeepEqual(got, [][]string{full, {"w3"}}) {
			t.Errorf("%s: %q, want %q", name, got, full)
		}
		src := []WordID{3, 1, 3, 2}
		sure, err := m.At(1e9)
		if err == nil {
			err = sure.Privatize(ctx, src, src, stream.FromUint64(14).Rand())
		}
		if err != nil || !reflect.DeepEqual(src, []WordID{3, 1, 3, 2}) {
			t.Errorf("%s: kept and certain words became %v", name, src)
		}
		g := m.Guarantee()
		if g.Scope == "" || g.Promises(1, 3) || g.Promises(3, 1) || !g.Promises(1, 2) || g.Promises(3, 3) {
			t.Errorf("%s: guarantee %s", name, g)
		}
		if w := (TextOptions{Policy: Keep}).Warnings(g); len(w) != 2 {
			t.Errorf("%s: warnings %q", name, w)
		}
		if m.Closed() != inner.Closed() {
			t.Fatalf("%s: closed %v, the mechanism %v", name, m.Closed(), inner.Closed())
		}
		if !m.Closed() {
			continue
		}
		kept, err := m.Row(3)
		if err != nil || kept[3] != 1 {
			t.Errorf("%s: a kept word stays with probability %v, %v", name, kept[3], err)
		}
	}
	inner := mustNew(t, Environment{Space: s}, Settings{Mechanism: "cmp", Epsilon: 1})
	if KeepWords(inner, nil) != inner {
		t.Error("no words to keep make another mechanism")
	}
}
