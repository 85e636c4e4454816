package attack

import (
	"testing"

	"mldpbench/datasets"
	"mldpbench/models"
	"mldpbench/stream"
)

// users are texts of the generated users as ids over their own words.
func users(t testing.TB, count int) (all []AuditedUser, words int, embedding models.Embedding) {
	t.Helper()
	d, err := datasets.Load(t.Context(), datasets.Request{Name: "generated-users", Seed: stream.FromUint64(1)})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]int32{}
	for _, u := range datasets.ByUser(d.Train, d.Validation, d.Test)[:count] {
		var a AuditedUser
		for _, doc := range u.Documents {
			var text []int32
			for _, w := range doc.Tokens {
				id, known := ids[w]
				if !known {
					id = int32(len(ids))
					ids[w] = id
				}
				text = append(text, id)
			}
			a.Own = append(a.Own, text)
		}
		a.Published = a.Own
		all = append(all, a)
	}
	embedding.Dimension = 16
	rng := stream.FromUint64(3).Rand()
	for range len(ids) * embedding.Dimension {
		embedding.Vectors = append(embedding.Vectors, float32(rng.NormFloat64()))
	}
	return all, len(ids), embedding
}

func TestAuditorCeilingAndFloor(t *testing.T) {
	if testing.Short() {
		t.Skip("trains language models")
	}
	all, words, embedding := users(t, 64)
	for i := range all {
		all[i].Own = all[i].Own[:10]
		all[i].Published = all[i].Own
	}
	o := AuditOptions{Shadows: 1, Vocabulary: 300, Hidden: 24, Epochs: 12, Window: 4, LearningRate: 0.01, Batch: 32}
	plain, err := Audit(t.Context(), all[32:], all[:16], all[16:32], embedding, o, stream.FromUint64(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("plain: %+v", plain)
	// Table 3 of the paper: 1.0 on all. Chance is .5; 16 + 16 users.
	if plain.Accuracy.Estimate < 0.9 || plain.AUC.Estimate < 0.95 {
		t.Errorf("plain text: accuracy %v, AUC %v: a working auditor comes near 1", plain.Accuracy, plain.AUC)
	}
	rng := stream.FromUint64(4).Rand()
	random := make([]AuditedUser, len(all))
	for i, u := range all {
		random[i].Own = u.Own
		for _, text := range u.Own {
			noise := make([]int32, len(text))
			for j := range noise {
				noise[j] = int32(rng.IntN(words))
			}
			random[i].Published = append(random[i].Published, noise)
		}
	}
	floor, err := Audit(t.Context(), random[32:], random[:16], random[16:32], embedding, o, stream.FromUint64(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("random: %+v", floor)
	// By chance 32 users are judged rightly 3 to 29 times but with probability
	// 2.5e-7.
	if a := floor.Accuracy.Estimate; a < 3.0/32 || a > 29.0/32 {
		t.Errorf("random text: accuracy %v", floor.Accuracy)
	}
}

// From the registry: groups of users by lot, releases by the situation.
func TestAuditorOfASituation(t *testing.T) {
	all, words, embedding := users(t, 9)
	s := Situation{Embedding: embedding, Words: words, Seed: stream.FromUint64(1), DataSeed: stream.FromUint64(2),
		Options: Options{
			Audit: AuditOptions{Shadows: 1, Vocabulary: 20, Hidden: 4, Epochs: 1},
		}}
	for i, u := range all {
		for _, text := range u.Own[:4] {
			s.Train = append(s.Train, Document{Words: text, User: string(rune('a' + i))})
		}
	}
	got := run(t, "auditor", response(s, 0.5))
	if a := got["auditor-accuracy"]; a.Count != 4 ||
		a.Note != "2 users trained on, 2 others, 5 of the auditor's own" {
		t.Errorf("%+v", a)
	}
	s.Train = s.Train[:4]
	if _, err := Run(t.Context(), "auditor", response(s, 0.5)); err == nil {
		t.Error("one user cannot be audited")
	}
}

func TestAuditScores(t *testing.T) {
	got, err := auditScores([]float64{1, 2, -1, -2, 3}, []bool{true, true, true, false, false})
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string][2]float64{
		"precision": {got.Precision.Estimate, 2.0 / 3}, "recall": {got.Recall.Estimate, 2.0 / 3},
		"accuracy": {got.Accuracy.Estimate, 3.0 / 5}, "auc": {got.AUC.Estimate, 3.0 / 6},
	} {
		if v[0] != v[1] {
			t.Errorf("%s = %v, want %v", name, v[0], v[1])
		}
	}
	if _, err := Audit(t.Context(), nil, nil, nil, models.Embedding{}, AuditOptions{},
		stream.FromUint64(1)); err == nil {
		t.Error("an audit without users must be an error")
	}
}
