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

// audited is a situation with so many users of so many texts each.
func audited(t testing.TB, count, texts int) Situation {
	t.Helper()
	all, words, embedding := users(t, count)
	s := Situation{Embedding: embedding, Words: words, Seed: stream.FromUint64(1), DataSeed: stream.FromUint64(2),
		Options: Options{Audit: AuditOptions{Shadows: 1, Vocabulary: 200, Hidden: 16, Epochs: 10, Window: 3,
			LearningRate: 0.02, Batch: 32}}}
	for i, u := range all {
		for _, text := range u.own[:texts] {
			s.Train = append(s.Train, Document{Words: text, User: fmt.Sprint(i)})
		}
	}
	return s
}

// From the registry: groups of users by lot, releases by the situation.
func TestAuditorOfASituation(t *testing.T) {
	s := audited(t, 9, 4)
	s.Options.Audit = AuditOptions{Shadows: 1, Vocabulary: 20, Hidden: 4, Epochs: 1}
	got := run(t, "auditor", response(s, 0.5))
	if a := got["auditor-accuracy"]; a.Count != 4 ||
		a.Note != "2 users trained on, 2 others, 5 of the auditor's own" {
		t.Errorf("%+v", a)
	}
	s.Train = s.Train[:4]
	if _, err := RunAll(t.Context(), []string{"auditor"}, response(s, 0.5)); err == nil {
		t.Error("one user cannot be audited")
	}
}

func TestAuditScores(t *testing.T) {
	all, err := scoresOf([]float64{1, 2, -1, 4, 3}, []bool{true, true, true, false, false}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if all.of != [4]int{4, 3, 5, 5} { // users named, members, all, all
		t.Errorf("denominators %v", all.of)
	}
	if all, err = scoresOf([]float64{1, 2, -1, -2, 3}, []bool{true, true, true, false, false}, 0.95); err != nil {
		t.Fatal(err)
	}
	got := all.shares
	for name, v := range map[string][2]float64{
		"precision": {got[0].Estimate, 2.0 / 3}, "recall": {got[1].Estimate, 2.0 / 3},
		"accuracy": {got[2].Estimate, 3.0 / 5}, "auc": {got[3].Estimate, 3.0 / 6},
	} {
		if v[0] != v[1] {
			t.Errorf("%s = %v, want %v", name, v[0], v[1])
		}
	}
	narrow, err := scoresOf([]float64{1, 2, -1, -2, 3}, []bool{true, true, true, false, false}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if narrow.shares[i].Low <= got[i].Low {
			t.Errorf("half the confidence must narrow %v, got %v", got[i], narrow.shares[i])
		}
	}
	if _, err := audit(t.Context(), nil, nil, nil, models.Embedding{}, AuditOptions{}, 0.95,
		stream.FromUint64(1)); err == nil {
		t.Error("an audit without users must be an error")
	}
}
