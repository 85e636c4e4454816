package labels

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/models/attack"
	"mldpbench/stream"
)

// What is written keeps all but the words: signs, case and the number of words.
func TestWritten(t *testing.T) {
	v, err := embeddings.NewVocabulary([]string{"ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"})
	if err != nil {
		t.Fatal(err)
	}
	space, err := embeddings.NewSpace("animals", v, 2, spacetest.Gaussian(t, 8, 2, 1, 3).Vectors)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mechanisms.New(mechanisms.Environment{Space: space}, mechanisms.Settings{Mechanism: "uniform", Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	a, b := "cat", "dog"
	texts := []string{strings.ToUpper(a) + ", " + b + "!", "", a + "\n\t(" + b + ")"}
	write := attack.Write(m, mechanisms.Random, 1)
	one, err := write(t.Context(), texts, stream.FromUint64(1))
	if err != nil {
		t.Fatal(err)
	}
	again, err := write(t.Context(), texts, stream.FromUint64(1))
	if err != nil || !slices.Equal(one, again) {
		t.Errorf("%q, then %q, %v", one, again, err)
	}
	other, err := write(t.Context(), texts, stream.FromUint64(2))
	if err != nil || slices.Equal(one, other) {
		t.Errorf("two seeds write %q, %v", other, err)
	}
	p := pieces{reader: newReader()}
	q := pieces{reader: newReader()}
	for i, text := range texts {
		before, after := p.read(text), q.read(one[i])
		same := len(before) == len(after)
		for j := range before {
			same = same && p.ids.Word(before[j]) == q.ids.Word(after[j])
		}
		if !same {
			t.Errorf("%q was written as %q", text, one[i])
		}
	}
	var got []string
	for id := range p.ids.Len() {
		got = append(got, p.ids.Word(int32(id)))
	}
	if !slices.Contains(got, "\x00AA,") || !slices.Contains(got, "\x00(a)") || slices.Contains(got, a) {
		t.Errorf("pieces %q", got)
	}
}

// Who learned from plain text reads releases of several mechanisms at once, with words that none of them had before.
func TestReadersAreSafeForConcurrentUse(t *testing.T) {
	p := pieces{words: true, reader: newReader()}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 200 {
				text := fmt.Sprintf("w%d, w%d", i*j, j)
				for _, id := range p.read(text)[:1] {
					if want := "w"; p.word(id) != want {
						t.Errorf("the first word of %q is read as %q, want %q", text, p.word(id), want)
					}
				}
			}
		})
	}
	all.Wait()
}
