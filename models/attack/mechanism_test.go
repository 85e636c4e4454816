package attack

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/list"
	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// A mechanism attacked from outside: the exact channel of the selection family
// and one learned from the noise family.
func TestAttackedMechanisms(t *testing.T) {
	space := spacetest.Gaussian(t, 120, 5, 1, 1)
	for _, name := range []string{"tem", "cmp"} {
		m, err := mechanisms.New(mechanisms.Environment{Space: space}, mechanisms.Settings{Mechanism: name,
			Epsilon: 6})
		if err != nil {
			t.Fatal(err)
		}
		l := NewLexicon(m.Vocabulary())
		rng := stream.FromUint64(1).Rand()
		s := Situation{Known: Known{Seed: stream.FromUint64(1)}, Noise: stream.FromUint64(1),
			Options: sizes(map[string]any{"candidates": 12, "learn_draws": 60, "measure_draws": 20})}
		for range 50 {
			var d Document
			d.Words = append(d.Words, l.IDs([]string{"nobody knows this word"})...)
			for range 20 {
				d.Words = append(d.Words, int32(rng.IntN(120)))
			}
			s.Test, s.Validation, s.Shadow = append(s.Test, d), append(s.Validation, d), append(s.Shadow, d.Words)
		}
		Attacked(&s, m, mechanisms.Keep, l)
		if name == "cmp" {
			if _, err := RunAll(t.Context(), []string{"linkage-aligned"}, s); err == nil {
				t.Error("distances without vectors must be an error")
			}
		}
		s.Embedding = l.Embedding(space)
		if exact := s.Channel != nil; exact != (name == "tem") {
			t.Errorf("%s: exact channel: %v", name, exact)
		}
		one, all := run(t, "inversion", s)["inversion-1"], run(t, "map", s)
		if one.Count != 50*20 {
			t.Errorf("%s: %d words, want those that the mechanism knows", name, one.Count)
		}
		t.Logf("%s: unchanged %.3f, E_M %.3f, capacity %.2f", name, one.Value.Estimate,
			all["em-uniform"].Value.Estimate, all["capacity"].Value.Estimate)
		// MAP knows at least as much as who takes the output for the word: the
		// text's words are uniform. 1,000 words have a standard deviation of .016.
		if 1-all["em-uniform"].Value.Estimate < one.Value.Estimate-5*0.016 {
			t.Errorf("%s: MAP is right for %.3f, the output itself for %.3f", name,
				1-all["em-uniform"].Value.Estimate, one.Value.Estimate)
		}
		if l.Word(120) != "nobody knows this word" || l.Embedding(space).Len() != 121 {
			t.Error("an unknown word is lost")
		}
		// By its words in their places a document of 21 is linked, by the exact
		// channel and by distances; length alone finds one of 50.
		linked := run(t, "linkage-aligned", s)["linkage-aligned-p1"]
		if linked.Value.Estimate < 0.9 || math.Abs(linked.Floor-0.02) > 1e-9 || len(linked.Items) != 50 {
			t.Errorf("%s: linked %+v", name, linked)
		}
		context := run(t, "context", s)["context-accuracy"]
		if context.Count != 50*20 || (context.Draws == 0) != (name == "tem") {
			t.Errorf("%s: %+v", name, context)
		}
	}
}

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
	write := Written(m, mechanisms.Random, 1)
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
	p, q := pieces{ids: map[string]int32{}}, pieces{ids: map[string]int32{}}
	for i, text := range texts {
		before, after := p.read(text), q.read(one[i])
		same := len(before) == len(after)
		for j := range before {
			same = same && p.of[before[j]] == q.of[after[j]]
		}
		if !same {
			t.Errorf("%q was written as %q", text, one[i])
		}
	}
	if got := p.of; !slices.Contains(got, "\x00AA,") || !slices.Contains(got, "\x00(a)") || slices.Contains(got, a) {
		t.Errorf("pieces %q", got)
	}
}

// Texts are found by what stands between their words where that is copied, by their
// number of words where nothing else is, and by nothing where all have one length.
func TestLinkageByLayout(t *testing.T) {
	t.Parallel()
	rng := stream.FromUint64(3).Rand()
	words := func(n int, all ...string) (out []string) {
		for range n {
			out = append(out, all[rng.IntN(len(all))])
		}
		return out
	}
	var documents []Document
	for range 100 {
		text := ""
		for range 20 + rng.IntN(20) {
			text += words(1, "the", "Reuters", "oil-price", "it's", "2004", "said")[0] + words(1, " ", " ", " ", ", ", ". ")[0]
		}
		documents = append(documents, Document{Text: text})
	}
	s := Situation{Known: Known{Test: documents, Seed: stream.FromUint64(1)}}
	for _, c := range []struct {
		name        string
		write       func(text string) string
		keep, lower [2]float64 // least and most
	}{
		{"as written", func(text string) string {
			return aWord.ReplaceAllStringFunc(text, func(w string) string {
				out := words(1, "cat", "u.s.", "don't", "a-b")[0]
				if w == "Reuters" {
					out = strings.ToUpper(out[:1]) + out[1:]
				}
				return out
			})
		}, [2]float64{0.98, 1}, [2]float64{0.9, 1}},
		{"plain", func(text string) string {
			return strings.Join(words(len(strings.Fields(text)), "cat", "dog"), " ")
		}, [2]float64{0.05, 0.3}, [2]float64{0.05, 0.3}},
		{"fixed", func(string) string { return strings.Join(words(30, "cat", "dog"), " ") }, [2]float64{0, 0.05}, [2]float64{0, 0.05}},
	} {
		s.Write = func(_ context.Context, texts []string, _ stream.Seed) ([]string, error) {
			return list.Map(texts, c.write), nil
		}
		got := run(t, "linkage-layout", s)
		keep, lower := got["linkage-layout-p1"].Value.Estimate, got["linkage-layout-lower-p1"].Value.Estimate
		if keep < c.keep[0] || keep > c.keep[1] || lower < c.lower[0] || lower > c.lower[1] {
			t.Errorf("%s: found %v with capitals, %v without", c.name, keep, lower)
		}
	}
}
