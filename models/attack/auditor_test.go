package attack

import (
	"testing"

	"mldpbench/datasets"
	"mldpbench/metrics"
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
	o := AuditOptions{Shadows: 2, Hidden: 32, Epochs: 10, Window: 5, LearningRate: 0.01, Batch: 64}
	plain, err := Audit(t.Context(), all[32:], all[:16], all[16:32], embedding, o, stream.FromUint64(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("plain: %+v", plain)
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
}

func TestAuditScores(t *testing.T) {
	got, err := auditScores([]float64{1, 2, -1, -2, 3}, []bool{true, true, true, false, false})
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string][2]float64{
		"precision": {got.Precision.Estimate, 2.0 / 3}, "recall": {got.Recall.Estimate, 2.0 / 3}, "accuracy": {got.Accuracy.Estimate, 3.0 / 5}, "auc": {got.AUC, 3.0 / 6},
	} {
		if v[0] != v[1] {
			t.Errorf("%s = %v, want %v", name, v[0], v[1])
		}
	}
	if _, err := Audit(t.Context(), nil, nil, nil, models.Embedding{}, AuditOptions{}, stream.FromUint64(1)); err == nil {
		t.Error("an audit without users must be an error")
	}
	_ = metrics.Interval{}
}
