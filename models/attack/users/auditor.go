// Package users has an auditor who finds out whose texts trained a language model.
package users

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/models/attack"
	"mldpbench/stream"
)

// Columns are the numbers of the auditor.
var Columns = []attack.Column{
	{Name: "auditor-precision", Title: "precision of the auditor"}, // of the users named, those trained on
	{Name: "auditor-recall", Title: "recall of the auditor"},       // of the users trained on, those named
	{Name: "auditor-accuracy", Title: "accuracy of the auditor"},   // users judged correctly
	{Name: "auditor-auc", Title: "AUC of the auditor"},
}

// level is the confidence of intervals.
const level = 0.95

// Audit runs the auditor of Feyisetan et al. 2020 §6.3, Tables 3 and 4, after Song & Shmatikov
// 2019, "Auditing Data Provenance in Text-Generation Models", on the users of the
// training split of a target.
//
// The audited model is an LSTM that predicts the next word, trained on the published
// texts of members. The auditor trains a shadow model of the same kind on
// the published texts of a random half of the shadow users. It queries the
// shadow model with every shadow user's own texts. From the histogram of the
// ranks that the model gives to the true next words, a linear SVM learns to
// distinguish the users the model was trained on from the others. The auditor
// then queries the audited model with the texts of members and others. No user is in
// two of the three groups.
//
// Details that the papers leave open are fixed here. The audited model is queried with
// plain text (users know what they wrote). Word vectors are frozen. Training runs for
// all its epochs without early stopping, because the auditor looks for what a model
// memorises. Histograms have one bin for each power of two. Words outside the
// most frequent words of the shadow users occur in queries but are never
// predicted.
func Audit(ctx context.Context, t *attack.Target) ([]attack.Outcome, error) {
	seed := t.Releases.Noise.Derive("attack", "auditor")
	users, n, err := publish(ctx, t, seed)
	if err != nil {
		return nil, err
	}
	seed = seed.Derive("auditor")
	audited := users[:2*n]
	shadow := users[2*n:]
	p := predictor{t.Words.Embedding, frequent(shadow, auditVocabulary)}
	if len(p.classes) < 2 {
		return nil, fmt.Errorf("the shadow users have fewer than two different words")
	}
	ofShadow := seed.Derive("shadow").At(0)
	for _, u := range ofShadow.Derive("half").Rand().Perm(len(shadow))[:len(shadow)/2] {
		shadow[u].member = 1
	}
	known, err := p.ask(ctx, shadow, ofShadow)
	if err != nil {
		return nil, fmt.Errorf("shadow model: %w", err)
	}
	asked, err := p.ask(ctx, audited, seed.Derive("target"))
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	margins, err := judge(ctx, known, asked, seed)
	if err != nil {
		return nil, err
	}
	member := list.Map(asked.Labels, func(l int) bool { return l == 1 })
	note := fmt.Sprintf("%d users trained on, %d others, %d of the auditor's own", n, n, len(shadow))
	return outcomes(margins, member, level, note), nil
}

// publish releases the texts of all users, who are in a random order: the first n are members
// of the audited model, the next n are not, and the others, at least half of all, are the
// auditor's own.
func publish(ctx context.Context, t *attack.Target, seed stream.Seed) (users []user, n int, err error) {
	own := map[string][][]int32{}
	for _, d := range t.Corpus.Train {
		if d.User != "" {
			own[d.User] = append(own[d.User], d.Words)
		}
	}
	names := slices.Sorted(maps.Keys(own))
	rng := t.Corpus.Seed.Derive("auditor", "users").Rand()
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	n = min(auditedUsers, len(names)/4)
	if n < 1 {
		return nil, 0, fmt.Errorf("%d users: an audit needs 4 at least", len(names))
	}
	for i, name := range names {
		published, err := t.Releases.Words(ctx, own[name], seed.Derive("user", name))
		if err != nil {
			return nil, 0, err
		}
		u := user{own: own[name], published: published}
		if i < n {
			u.member = 1
		}
		users = append(users, u)
	}
	return users, n, nil
}

// judge learns from the histograms of known users and returns, of those asked, by how much
// each seems a member. A fifth of the known ones is used to choose the C of the SVM.
func judge(ctx context.Context, known, asked models.Examples, seed stream.Seed) ([]float64, error) {
	train, validation := known.SplitVectors(max(1, known.Len()/5), seed.Derive("judge", "split"))
	svm, err := models.New("svm", models.Options{Classes: 2, Seed: seed.Derive("judge")})
	if err != nil {
		return nil, err
	}
	if _, err := svm.Fit(ctx, train, validation); err != nil {
		return nil, err
	}
	scores, err := svm.Score(ctx, asked)
	if err != nil {
		return nil, err
	}
	return list.Map(scores, func(s []float64) float64 { return s[1] - s[0] }), nil
}

// outcomes are precision, recall, accuracy and AUC of an auditor, as shares: exact
// intervals over users, or unknown where he names nobody.
func outcomes(margins []float64, member []bool, level float64, note string) []attack.Outcome {
	var named, members, truePositive, right int
	for i, m := range margins {
		if m > 0 {
			named++
		}
		if member[i] {
			members++
		}
		if m > 0 && member[i] {
			truePositive++
		}
		if m > 0 == member[i] {
			right++
		}
	}
	all := len(margins)
	area := metrics.AUC(margins, member)
	outcome := func(c attack.Column, value stats.Interval, count int) attack.Outcome {
		return attack.Outcome{
			Column:  c.Name,
			Value:   value,
			Floor:   0.5,
			Ceiling: 1,
			Count:   count,
			Note:    note,
		}
	}
	return []attack.Outcome{
		outcome(Columns[0], stats.ClopperPearson(truePositive, named, level), named),
		outcome(Columns[1], stats.ClopperPearson(truePositive, members, level), members),
		outcome(Columns[2], stats.ClopperPearson(right, all, level), all),
		outcome(Columns[3], metrics.AUCInterval(area, members, all-members, level), all),
	}
}
