package users

import (
	"fmt"
	"testing"

	"mldpbench/internal/attacktest"
	"mldpbench/models"
	"mldpbench/models/attack"
	"mldpbench/stream"
)

// withUsers is a target with so many users of so many texts each, about words of
// their own.
func withUsers(users, texts int) *attack.Target {
	const words, dimension = 300, 16
	vectors := models.Embedding{Dimension: dimension}
	rng := stream.FromUint64(3).Rand()
	for range words * dimension {
		vectors.Vectors = append(vectors.Vectors, float32(rng.NormFloat64()))
	}
	c := &attack.Corpus{Seed: stream.FromUint64(2)}
	for u := range users {
		own := rng.Perm(words)[:20]
		for range texts {
			d := attack.Document{User: fmt.Sprint(u)}
			for range 10 {
				d.Words = append(d.Words, int32(own[rng.IntN(len(own))]))
			}
			c.Train = append(c.Train, d)
		}
	}
	return &attack.Target{Corpus: c, Words: attack.Words{Count: words, Embedding: vectors}}
}

// Groups of users are by lot, releases by the situation. On unchanged text the users
// are told, on random text not: of 16 + 16 by chance 3 to 29 are judged rightly but
// with probability 2.5e-7. Table 3 of the paper has 1 on unchanged text.
func TestAudit(t *testing.T) {
	t.Parallel()
	s := withUsers(64, 8)
	for keep, within := range map[float64][2]float64{1: {0.85, 1}, 0: {3.0 / 32, 29.0 / 32}} {
		s := attacktest.Response(s, keep)
		out, err := Audit(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if a := out[2]; a.Value.Estimate < within[0] || a.Value.Estimate > within[1] || a.Count != 32 ||
			a.Note != "16 users trained on, 16 others, 32 of the auditor's own" {
			t.Errorf("kept %v: %+v", keep, a)
		}
	}
	s.Corpus.Train = s.Corpus.Train[:4]
	if _, err := Audit(t.Context(), attacktest.Response(s, 0.5)); err == nil {
		t.Error("one user cannot be audited")
	}
}

func TestOutcomes(t *testing.T) {
	member := []bool{true, true, true, false, false}
	if all := outcomes([]float64{1, 2, -1, 4, 3}, member, 0.95, ""); all[0].Count != 4 ||
		all[1].Count != 3 || all[2].Count != 5 { // users named, members, all
		t.Errorf("denominators of %+v", all)
	}
	got := outcomes([]float64{1, 2, -1, -2, 3}, member, 0.95, "")
	narrow := outcomes([]float64{1, 2, -1, -2, 3}, member, 0.5, "")
	for i, want := range []float64{2.0 / 3, 2.0 / 3, 3.0 / 5, 3.0 / 6} {
		if v := got[i].Value; v.Estimate != want || narrow[i].Value.Low <= v.Low {
			t.Errorf("%s = %v, want %v; at half the confidence %v", got[i].Column, v, want, narrow[i].Value)
		}
	}
}
