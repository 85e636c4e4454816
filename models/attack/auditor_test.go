package attack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	"mldpbench/datasets"
	"mldpbench/models"
	"mldpbench/stream"
)

// users are texts of the generated users as ids over their own words.
func users(t testing.TB, count int) (all []auditedUser, words int, embedding models.Embedding) {
	t.Helper()
	d, err := datasets.Load(t.Context(), datasets.Request{Name: "generated-users", Seed: stream.FromUint64(1)})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]int32{}
	texts := map[string][]datasets.Document{}
	for _, doc := range slices.Concat(d.Train, d.Validation, d.Test) {
		texts[doc.User] = append(texts[doc.User], doc)
	}
	for _, user := range slices.Sorted(maps.Keys(texts))[:count] {
		var a auditedUser
		slices.SortStableFunc(texts[user], func(a, b datasets.Document) int { return cmp.Compare(a.ID, b.ID) })
		for _, doc := range texts[user] {
			var text []int32
			for _, w := range doc.Tokens {
				id, known := ids[w]
				if !known {
					id = int32(len(ids))
					ids[w] = id
				}
				text = append(text, id)
			}
			a.own = append(a.own, text)
		}
		a.published = a.own
		all = append(all, a)
	}
	embedding.Dimension = 16
	rng := stream.FromUint64(3).Rand()
	for range len(ids) * embedding.Dimension {
		embedding.Vectors = append(embedding.Vectors, float32(rng.NormFloat64()))
	}
	return all, len(ids), embedding
}

// withUsers is a situation with so many users of so many texts each.
func withUsers(t testing.TB, count, texts int) Situation {
	t.Helper()
	all, words, embedding := users(t, count)
	s := Situation{Known: Known{Embedding: embedding, Words: words, Seed: stream.FromUint64(2)},
		Noise: stream.FromUint64(1)}
	for i, u := range all {
		for _, text := range u.own[:texts] {
			s.Train = append(s.Train, Document{Words: text, User: fmt.Sprint(i)})
		}
	}
	return s
}

// Groups of users are by lot, releases by the situation. On unchanged text the users
// are told, on random text not: of 16 + 16 by chance 3 to 29 are judged rightly but
// with probability 2.5e-7. Table 3 of the paper has 1 on unchanged text.
func TestAudit(t *testing.T) {
	t.Parallel()
	s := withUsers(t, 64, 8)
	for keep, within := range map[float64][2]float64{1: {0.85, 1}, 0: {3.0 / 32, 29.0 / 32}} {
		s := response(s, keep)
		out, err := Audit(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if a := out[2]; a.Value.Estimate < within[0] || a.Value.Estimate > within[1] || a.Count != 32 ||
			a.Note != "16 users trained on, 16 others, 32 of the auditor's own" {
			t.Errorf("kept %v: %+v", keep, a)
		}
	}
	s.Train = s.Train[:4]
	if _, err := Audit(t.Context(), response(s, 0.5)); err == nil {
		t.Error("one user cannot be audited")
	}
}

func TestAuditOutcomes(t *testing.T) {
	member := []bool{true, true, true, false, false}
	if all, err := auditOutcomes([]float64{1, 2, -1, 4, 3}, member, 0.95); err != nil ||
		all[0].Count != 4 || all[1].Count != 3 || all[2].Count != 5 { // users named, members, all
		t.Errorf("denominators of %+v, %v", all, err)
	}
	got, err := auditOutcomes([]float64{1, 2, -1, -2, 3}, member, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := auditOutcomes([]float64{1, 2, -1, -2, 3}, member, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{2.0 / 3, 2.0 / 3, 3.0 / 5, 3.0 / 6} {
		if v := got[i].Value; v.Estimate != want || narrow[i].Value.Low <= v.Low {
			t.Errorf("%s = %v, want %v; at half the confidence %v", got[i].Column, v, want, narrow[i].Value)
		}
	}
}
