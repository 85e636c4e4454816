package attack

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/models"
)

// AuditColumns are the numbers of the auditor.
var AuditColumns = []Column{
	{Name: "auditor-precision", Title: "precision of the auditor"}, // of the users named, those trained on
	{Name: "auditor-recall", Title: "recall of the auditor"},       // of the users trained on, those named
	{Name: "auditor-accuracy", Title: "accuracy of the auditor"},   // users judged correctly
	{Name: "auditor-auc", Title: "AUC of the auditor"},
}

// Audit runs the auditor of Feyisetan et al. 2020 §6.3, Tables 3 and 4, after Song & Shmatikov
// 2019, "Auditing Data Provenance in Text-Generation Models", on the users of the
// training split of a situation.
//
// The target is an LSTM that predicts the next word, trained on the published
// texts of members. The auditor trains a shadow model of the same kind on
// the published texts of a random half of the shadow users. It queries the
// shadow model with every shadow user's own texts. From the histogram of the
// ranks that the model gives to the true next words, a linear SVM learns to
// distinguish the users the model was trained on from the others. The auditor
// then queries the target with the texts of members and others. No user is in
// two of the three groups.
//
// Details that the papers leave open are fixed here. The target is queried with
// plain text (users know what they wrote). Word vectors are frozen. Training runs for
// all its epochs without early stopping, because the auditor looks for what a model
// memorises. Histograms have one bin for each power of two. Words outside the
// most frequent words of the shadow users occur in queries but are never
// predicted.
func Audit(ctx context.Context, s Situation) ([]Outcome, error) {
	own := map[string][][]int32{}
	for _, d := range s.Train {
		if d.User != "" {
			own[d.User] = append(own[d.User], d.Words)
		}
	}
	names := slices.Sorted(maps.Keys(own))
	rng := s.Seed.Derive("auditor", "users").Rand()
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	// At least half of the users are the auditor's own.
	n := min(auditedUsers, len(names)/4)
	if n < 1 {
		return nil, fmt.Errorf("%d users: an audit needs 4 at least", len(names))
	}
	seed := s.Noise.Derive("attack", "auditor")
	users := make([]auditedUser, len(names))
	for i, name := range names {
		published, err := s.Release(ctx, own[name], seed.Derive("user", name))
		if err != nil {
			return nil, err
		}
		users[i] = auditedUser{own: own[name], published: published}
		if i < n {
			users[i].member = 1
		}
	}
	seed = seed.Derive("auditor")
	target, shadow := users[:2*n], users[2*n:]
	a := completer{s.Embedding, frequent(shadow, auditVocabulary)}
	if len(a.classes) < 2 {
		return nil, fmt.Errorf("the shadow users have fewer than two different words")
	}
	ofShadow := seed.Derive("shadow").At(0)
	for _, u := range ofShadow.Derive("half").Rand().Perm(len(shadow))[:len(shadow)/2] {
		shadow[u].member = 1
	}
	known, err := a.ask(ctx, shadow, ofShadow)
	if err != nil {
		return nil, fmt.Errorf("shadow model: %w", err)
	}
	asked, err := a.ask(ctx, target, seed.Derive("target"))
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	// A fifth of the histograms is used to choose the C of the judge.
	train, validation := known.SplitVectors(max(1, known.Len()/5), seed.Derive("judge", "split"))
	judge, err := models.New("svm", models.Options{Classes: 2, Seed: seed.Derive("judge")})
	if err == nil {
		_, err = judge.Fit(ctx, train, validation)
	}
	if err != nil {
		return nil, err
	}
	scores, err := judge.Score(ctx, asked)
	if err != nil {
		return nil, err
	}
	return auditOutcomes(list.Map(scores, func(s []float64) float64 { return s[1] - s[0] }),
		list.Map(asked.Labels, func(l int) bool { return l == 1 }), 0.95,
		fmt.Sprintf("%d users trained on, %d others, %d of the auditor's own", n, n, len(shadow))), nil
}

// auditOutcomes are precision, recall, accuracy and AUC of an auditor, as shares: exact
// intervals over users, or unknown where he names nobody.
func auditOutcomes(margins []float64, member []bool, level float64, note string) (out []Outcome) {
	var found, of [3]int // by column
	for i, m := range margins {
		for k, is := range [3][2]bool{{m > 0, member[i]}, {member[i], m > 0}, {true, m > 0 == member[i]}} {
			if is[0] {
				of[k]++
				if is[1] {
					found[k]++
				}
			}
		}
	}
	area := metrics.AUC(margins, member)
	for k, c := range AuditColumns {
		o := Outcome{Column: c.Name, Floor: 0.5, Ceiling: 1, Count: of[min(k, 2)], Note: note}
		if k < 3 {
			o.Value = stats.ClopperPearson(found[k], of[k], level)
		} else {
			o.Value = metrics.AUCInterval(area, of[1], of[2]-of[1], level)
		}
		out = append(out, o)
	}
	return out
}
