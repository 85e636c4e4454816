package attack_test

import (
	"math"
	"testing"

	"mldpbench/internal/attacktest"
	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/models/attack"
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
		l := attack.NewLexicon(m.Vocabulary())
		rng := stream.FromUint64(1).Rand()
		c := &attack.Corpus{Seed: stream.FromUint64(1)}
		for range 50 {
			var d attack.Document
			d.Words = append(d.Words, l.IDs([]string{"nobody knows this word"})...)
			for range 20 {
				d.Words = append(d.Words, int32(rng.IntN(120)))
			}
			c.Test = append(c.Test, d)
			c.Validation = append(c.Validation, d)
			c.Shadow = append(c.Shadow, d.Words)
		}
		s := attack.NewTarget(m, mechanisms.Keep, l, stream.FromUint64(1), 1)
		s.Corpus = c
		s.Options = attacktest.Options(map[string]any{"candidates": 12, "learn_draws": 60, "measure_draws": 20})
		if name == "cmp" {
			if _, err := attack.RunAll(t.Context(), []string{"linkage-aligned"}, s); err == nil {
				t.Error("distances without vectors must be an error")
			}
		}
		s.Words.Embedding = l.Embedding(space)
		if exact := s.Channel != nil; exact != (name == "tem") {
			t.Errorf("%s: exact channel: %v", name, exact)
		}
		one, all := attacktest.Run(t, "inversion", s)["inversion-1"], attacktest.Run(t, "map", s)
		if one.Count != 50*20 {
			t.Errorf("%s: %d words, want those that the mechanism knows", name, one.Count)
		}
		t.Logf("%s: unchanged %.3f, E_M %.3f, capacity %.2f", name, one.Value.Estimate,
			all["map-em-frequency"].Value.Estimate, all["capacity"].Value.Estimate)
		// MAP knows at least as much as who takes the output for the word: the
		// text's words are uniform. 1,000 words have a standard deviation of .016.
		if 1-all["map-em-frequency"].Value.Estimate < one.Value.Estimate-5*0.016 {
			t.Errorf("%s: MAP is right for %.3f, the output itself for %.3f", name,
				1-all["map-em-frequency"].Value.Estimate, one.Value.Estimate)
		}
		if l.Word(120) != "nobody knows this word" || l.Embedding(space).Len() != 121 {
			t.Error("an unknown word is lost")
		}
		// By its words in their places a document of 21 is linked, by the exact
		// channel and by distances; length alone finds one of 50.
		linked := attacktest.Run(t, "linkage-aligned", s)["linkage-aligned-p1"]
		if linked.Value.Estimate < 0.9 || math.Abs(linked.Floor-0.02) > 1e-9 || len(linked.Items) != 50 {
			t.Errorf("%s: linked %+v", name, linked)
		}
		context := attacktest.Run(t, "context", s)["context-accuracy"]
		if context.Count != 50*20 || (context.Draws == 0) != (name == "tem") {
			t.Errorf("%s: %+v", name, context)
		}
	}
}
