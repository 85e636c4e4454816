package attack

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/stream"
)

func init() {
	Register(Definition{
		Name:  "auditor",
		Needs: []Need{NeedsUsers, NeedsVectors},
		Columns: []Column{
			{Name: "auditor-precision", Title: "precision of the auditor"}, // of the users named, those trained on
			{Name: "auditor-recall", Title: "recall of the auditor"},       // of the users trained on, those named
			{Name: "auditor-accuracy", Title: "accuracy of the auditor"},   // users judged correctly
			{Name: "auditor-auc", Title: "AUC of the auditor"},
		},
		Run: runAuditor,
	})
}

// auditedUser is a user whose texts an auditor has: the originals, with which he
// queries the model, and the same as they are used for training a model.
type auditedUser struct{ own, published [][]int32 }

// AuditOptions are the sizes of an audit, by default those with which the paper's tables are made here: small enough
// to train two models for each ε in a minute, and to remember what they read.
type AuditOptions struct {
	Shadows      int     // shadow models: 1
	Vocabulary   int     // most frequent words that the models can predict: 1,000
	Window       int     // previous words that the model reads: 4
	Epochs       int     // over the text: 12
	Hidden       int     // size of the LSTM's state: 32
	Batch        int     // documents of a step: 32
	LearningRate float64 // of Adam: 0.01
}

func (o AuditOptions) withDefaults() AuditOptions {
	return AuditOptions{
		Shadows: cmp.Or(o.Shadows, 1), Vocabulary: cmp.Or(o.Vocabulary, 1000), Window: cmp.Or(o.Window, 4),
		Epochs: cmp.Or(o.Epochs, 12), Hidden: cmp.Or(o.Hidden, 32), Batch: cmp.Or(o.Batch, 32),
		LearningRate: cmp.Or(o.LearningRate, 0.01),
	}
}

// audit runs the auditor of Feyisetan et al. 2020 §6.3, Tables 3 and 4, after Song & Shmatikov
// 2019, "Auditing Data Provenance in Text-Generation Models".
//
// The target is an LSTM that predicts the next word, trained on the published
// texts of members. The auditor trains shadow models of the same kind, each on
// the published texts of a random half of the shadow users. It queries each
// shadow model with every shadow user's own texts. From the histogram of the
// ranks that the model gives to the true next words, a linear SVM learns to
// distinguish the users the model was trained on from the others. The auditor
// then queries the target with the texts of members and others. No user is in
// two of the three groups.
//
// Details that the papers leave open are fixed here. The target is queried with
// plain text (users know what they wrote). Word vectors are frozen. The model
// reads the Window previous words. Training runs for all its epochs without
// early stopping, because the auditor looks for what a model memorises.
// Histograms have one bin for each power of two. Words outside the Vocabulary
// most frequent words of the shadow users occur in queries but are never
// predicted.
func audit(ctx context.Context, shadow, members, others []auditedUser, embedding models.Embedding, o AuditOptions,
	level float64, seed stream.Seed) (auditScores, error) {
	var out auditScores
	if err := cmp.Or(check.AtLeast("shadow users", len(shadow), 4), check.AtLeast("members", len(members), 1),
		check.AtLeast("others", len(others), 1), check.AtLeast("shadow models", o.Shadows, 1),
		check.AtLeast("vocabulary", o.Vocabulary, 2), check.AtLeast("window", o.Window, 1)); err != nil {
		return out, err
	}
	a := auditor{options: o, embedding: embedding, classes: frequent(shadow, o.Vocabulary),
		seed: seed.Derive("auditor")}
	if len(a.classes) < 2 {
		return out, fmt.Errorf("the shadow users have fewer than two different words")
	}
	var known models.Examples
	for i := range o.Shadows {
		own := a.seed.Derive("shadow").At(uint64(i))
		half := own.Derive("half").Rand().Perm(len(shadow))[:len(shadow)/2]
		slices.Sort(half)
		trained := list.Map(half, func(u int) auditedUser { return shadow[u] })
		x, err := a.ask(ctx, trained, own, shadow, func(u int) bool { return slices.Contains(half, u) })
		if err != nil {
			return out, fmt.Errorf("shadow model %d: %w", i, err)
		}
		known.Vectors, known.Labels = append(known.Vectors, x.Vectors...), append(known.Labels, x.Labels...)
	}
	judge, err := a.judge(ctx, known)
	if err != nil {
		return out, err
	}
	asked, err := a.ask(ctx, members, a.seed.Derive("target"), slices.Concat(members, others),
		func(u int) bool { return u < len(members) })
	if err != nil {
		return out, fmt.Errorf("target: %w", err)
	}
	scores, err := judge.Score(ctx, asked)
	if err != nil {
		return out, err
	}
	return scoresOf(list.Map(scores, func(s []float64) float64 { return s[1] - s[0] }),
		list.Map(asked.Labels, func(l int) bool { return l == 1 }), level)
}

// ask trains a model on some users and returns the histogram of each of those
// that it is queried with, and whether it was trained on them (1) or not (0).
func (a *auditor) ask(ctx context.Context, trained []auditedUser, seed stream.Seed, queried []auditedUser,
	member func(u int) bool) (x models.Examples, err error) {
	model, err := a.train(ctx, trained, seed)
	if err != nil {
		return x, err
	}
	for u, user := range queried {
		h, err := a.histogram(ctx, model, user)
		if err != nil {
			return x, err
		}
		label := 0
		if member(u) {
			label = 1
		}
		x.Vectors, x.Labels = append(x.Vectors, h), append(x.Labels, label)
	}
	return x, nil
}

// auditor holds what all models of an audit have in common.
type auditor struct {
	options   AuditOptions
	embedding models.Embedding
	classes   map[int32]int // of the words that can be predicted
	seed      stream.Seed
}

// frequent numbers the most frequent words of users, ties by the smaller id.
func frequent(users []auditedUser, most int) map[int32]int {
	counts := map[int32]int{}
	for _, u := range users {
		for _, text := range slices.Concat(u.own, u.published) {
			for _, w := range text {
				counts[w]++
			}
		}
	}
	words := slices.SortedFunc(maps.Keys(counts), func(a, b int32) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	classes := map[int32]int{}
	for i, w := range words[:min(most, len(words))] {
		classes[w] = i
	}
	return classes
}

// nextWords returns the queries for texts: up to Window words, with the next
// word as the answer.
func (a *auditor) nextWords(texts [][]int32) models.Examples {
	var x models.Examples
	for _, text := range texts {
		for i := 1; i < len(text); i++ {
			class, known := a.classes[text[i]]
			if !known {
				continue
			}
			x.Sequences = append(x.Sequences, text[max(0, i-a.options.Window):i])
			x.Labels = append(x.Labels, class)
		}
	}
	return x
}

func (a *auditor) train(ctx context.Context, users []auditedUser, seed stream.Seed) (models.Classifier, error) {
	var texts [][]int32
	for _, u := range users {
		texts = append(texts, u.published...)
	}
	x := a.nextWords(texts)
	if x.Len() == 0 {
		return nil, fmt.Errorf("no text of two words to learn from")
	}
	m, err := models.New("lstm", models.Options{
		Classes: len(a.classes), Embedding: a.embedding, Seed: seed.Derive("model"),
		Parameters: map[string]any{
			"hidden": a.options.Hidden, "epochs": a.options.Epochs, "patience": a.options.Epochs,
			"batch": a.options.Batch, "learning_rate": a.options.LearningRate,
		},
	})
	if err != nil {
		return nil, err
	}
	// A model keeps the weights with the lowest loss on the validation set.
	// That set is a part of the training set, so the model keeps what it has
	// memorised.
	var validation models.Examples
	step := max(1, x.Len()/1000)
	for i := 0; i < x.Len(); i += step {
		validation.Sequences, validation.Labels = append(validation.Sequences, x.Sequences[i]),
			append(validation.Labels, x.Labels[i])
	}
	_, err = m.Fit(ctx, x, validation)
	return m, err
}

// scoredAtOnce is the number of queries scored together; each takes a score for
// every word of the vocabulary.
const scoredAtOnce = 512

// histogram returns the share of a user's queries whose true word the model
// ranks 1st, 2nd, 3rd–4th, 5th–8th, …: one bin for each power of two.
func (a *auditor) histogram(ctx context.Context, model models.Classifier, user auditedUser) ([]float32, error) {
	counts := make([]int, bits.Len(uint(len(a.classes)))+1)
	x := a.nextWords(user.own)
	for from := 0; from < x.Len(); from += scoredAtOnce {
		to := min(x.Len(), from+scoredAtOnce)
		scores, err := model.Score(ctx, models.Examples{Sequences: x.Sequences[from:to], Labels: x.Labels[from:to]})
		if err != nil {
			return nil, err
		}
		for i, s := range scores {
			rank := metrics.RankOf(s, x.Labels[from+i])
			counts[bits.Len(uint(rank.Above))]++
		}
	}
	h := make([]float32, len(counts))
	for i, n := range counts {
		h[i] = float32(n) / float32(max(1, x.Len()))
	}
	return h, nil
}

// judge learns from the histograms of the shadow models; a fifth of them is
// used to choose its C.
func (a *auditor) judge(ctx context.Context, known models.Examples) (models.Classifier, error) {
	train, validation := known.SplitVectors(max(1, known.Len()/5), a.seed.Derive("judge", "split"))
	m, err := models.New("svm", models.Options{Classes: 2, Seed: a.seed.Derive("judge")})
	if err != nil {
		return nil, err
	}
	_, err = m.Fit(ctx, train, validation)
	return m, err
}

// auditScores are precision, recall, accuracy and AUC of an auditor, as shares:
// exact intervals over users, or unknown where he names nobody. That of the AUC is
// of Hanley & McNeil 1982, with z to two decimals (1.96 at 95%); where all members score above all others, or
// below, that has no width, and the one for as many successes in a row as there
// are users in the smaller group is used.
type auditScores struct {
	shares [4]stats.Interval
	of     [4]int // users: those named, the members, all, all
}

func scoresOf(margins []float64, member []bool, level float64) (out auditScores, err error) {
	members, named, hits, right := 0, 0, 0, 0
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	for i, m := range margins {
		count(&members, member[i])
		count(&named, m > 0)
		count(&hits, m > 0 && member[i])
		count(&right, (m > 0) == member[i])
	}
	out.of = [4]int{named, members, len(member), len(member)}
	for i, v := range []int{hits, hits, right} {
		if out.shares[i], err = proportion(v, out.of[i], level); err != nil {
			return out, err
		}
	}
	area, err := metrics.AUC(margins, member)
	if err != nil {
		return out, err
	}
	if area == 0 || area == 1 {
		n := min(members, len(member)-members)
		out.shares[3], err = proportion(int(area)*n, n, level)
		return out, err
	}
	p, n := float64(members), float64(len(member)-members)
	q1, q2, square := area/(2-area), 2*area*area/(1+area), area*area
	z := math.Round(100*distuv.UnitNormal.Quantile((1+level)/2)) / 100
	half := z * math.Sqrt(max(0, (area*(1-area)+(p-1)*(q1-square)+(n-1)*(q2-square))/(p*n)))
	out.shares[3] = stats.Interval{Estimate: area, Low: max(0, area-half), High: min(1, area+half)}
	return out, nil
}

// auditedUsers is the largest number of members, and of others: the 100 + 100
// of the paper.
const auditedUsers = 100

func runAuditor(ctx context.Context, s *Situation) ([]Outcome, error) {
	own := map[string][][]int32{}
	for _, d := range slices.Concat(s.Train, s.Validation, s.Test) {
		if d.User != "" {
			own[d.User] = append(own[d.User], d.Words)
		}
	}
	names := slices.Sorted(maps.Keys(own))
	rng := s.DataSeed.Derive("auditor", "users").Rand()
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	// At least half of the users are the auditor's own.
	n := min(auditedUsers, len(names)/4)
	if n < 1 {
		return nil, fmt.Errorf("%d users: an audit needs 4 at least", len(names))
	}
	users := make([]auditedUser, len(names))
	for i, name := range names {
		published, err := s.Release(ctx, own[name], s.own.Derive("user", name))
		if err != nil {
			return nil, err
		}
		users[i] = auditedUser{own[name], published}
	}
	scores, err := audit(ctx, users[2*n:], users[:n], users[n:2*n], s.Embedding, s.Options.Audit,
		s.Options.Level, s.own)
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("%d users trained on, %d others, %d of the auditor's own", n, n, len(names)-2*n)
	var out []Outcome
	for i, column := range []string{"precision", "recall", "accuracy", "auc"} {
		out = append(out, Outcome{Column: "auditor-" + column, Value: scores.shares[i], Floor: 0.5, Ceiling: 1,
			Count: scores.of[i], Note: note})
	}
	return out, nil
}
