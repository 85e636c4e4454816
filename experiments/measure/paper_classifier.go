package measure

import (
	"context"
	"slices"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

func init() {
	Register(Measurement{
		Name: "classifier", Version: 1, Of: OfAllRepeats, Model: true, Setting: true, Baseline: true,
		Columns: columns("accuracy", "mia_auc"),
		Metric:  entry[classifier]("classifier", true, true, nil),
		Asked: func(_ *study.Study, scene *study.Scene) (any, bool) {
			o, ok := scene.Metrics["classifier"].(*classifier)
			if !ok {
				return nil, false
			}
			return &classifier{o.Membership, len(scene.Settings) > 1, scene.Settings}, true
		},
		Applies: hasText, Place: placeOfSetting,
		Measure: measureClassifier,
	})
}

// placeOfSetting is a curve per setting where the scene has several.
func placeOfSetting(p *results.Place, s *Spec, q *Query) {
	if s.Panel == "" {
		return
	}
	p.XName = "epsilon"
	if q.Options.(*classifier).Several && q.Setting != "" {
		p.Series = s.Series + ", " + map[string]string{study.TrainOnly: "at training time",
			study.TestOnly: "at test time", study.Local: "at both times"}[q.Setting]
	}
}

// classifier is test accuracy against ε of a classifier of texts: Feyisetan et
// al. 2020, Figure 5, and Carvalho et al. 2023, Figure 1a. The classifier of a
// repetition starts from the same weights for every mechanism and ε.
type classifier struct {
	// Membership also attacks the model (Carvalho et al. 2023, Figure 1b).
	// Training and test texts are then halved: one half for the model, one for the
	// attacker's shadow model.
	Membership bool `yaml:"membership,omitempty"`
	// Several settings are told apart by the names of curves.
	Several  bool     `yaml:"-" json:",omitempty"`
	settings []string // of the scene
}

// half are the parts of a text on which one model is trained, validated and
// tested.
type half [3]int

// The parts of a text, in the order in which they are privatised; the
// attacker's test text is not. Those of the shadow model are empty without an
// attack.
var target, shadow = half{0, 1, 4}, half{2, 3, 5}

const privateParts = 5

// splitOf are the splits of the private parts.
var splitOf = [privateParts]int{0, 1, 0, 1, 2}

// halves are the parts of a data set, as tokens and as a classifier reads them.
type halves struct {
	tokens [privateParts + 1][][]string
	plain  parts
}

type parts [privateParts + 1]models.Examples

// halve gives every other document to each side. Sources are shuffled when
// they are sampled, so the halves are random and nearly balanced.
func (o *classifier) halve(r *Release) *halves {
	h := &halves{}
	for split, documents := range r.Corpus.Tokens {
		labels := r.Corpus.Labels(split)
		for i, d := range documents {
			part := target[split]
			if o.Membership && i%2 == 1 {
				part = shadow[split]
			}
			h.tokens[part] = append(h.tokens[part], d)
			h.plain[part].Labels = append(h.plain[part].Labels, labels[i])
		}
	}
	for i := range h.plain {
		h.plain[i].Sequences = r.Space.Wide.Vocabulary.Rows(h.tokens[i])
	}
	return h
}

// privatize returns the private parts of each repetition, the plain ones where
// no setting of the scene privatises them. All repetitions are passed to the
// mechanism at once, because the selection family makes one table per distinct
// word of its input.
func (o *classifier) privatize(ctx context.Context, r *Release, h *halves, threads int) ([]parts, error) {
	m, err := r.Words(ctx)
	if err != nil {
		return nil, err
	}
	needed := study.Privatizes(o.settings...)
	var documents [][]string
	for part, text := range h.tokens[:privateParts] {
		if !needed[splitOf[part]] { // empty, so that each document keeps its position and thus its stream
			text = make([][]string, len(text))
		}
		documents = append(documents, text...)
	}
	copies, err := Privatize(ctx, m, r.Policy, slices.Repeat([][][]string{documents}, r.Repetitions),
		len(documents), labelled(r, "private").Derive("text"), threads)
	if err != nil {
		return nil, err
	}
	private := slices.Repeat([]parts{h.plain}, r.Repetitions)
	for i, noisy := range copies {
		for part, text := range h.tokens[:privateParts] {
			private[i][part].Sequences = r.Space.Wide.Vocabulary.Rows(noisy[:len(text)])
			noisy = noisy[len(text):]
		}
	}
	return private, nil
}

// measureClassifier trains, tests and attacks in every repetition.
func measureClassifier(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o := q.Options.(*classifier)
	id := []any{r.Root(), r.Corpus.Fingerprint, r.Space.Wide.Fingerprint(), o.Membership}
	h, err := lab.Once(r.Lab, engine.MakeID("halves", id), func() (*halves, error) { return o.halve(r), nil })
	if err != nil {
		return nil, err
	}
	private, yes := slices.Repeat([]parts{h.plain}, r.Repetitions), [3]bool{}
	if !r.IsBaseline() {
		yes = study.Privatizes(q.Setting)
		if private, err = Once(r, engine.MakeID("halves", id), func() ([]parts, error) {
			return o.privatize(ctx, r, h, q.Threads)
		}); err != nil {
			return nil, err
		}
	}
	row := r.Row(q)
	placeOfSetting(&row.Place, &r.Spec, q)
	var rows []results.Row
	for i := range r.Repetitions {
		seed, read := r.Root().Derive("model").At(uint64(i)), h.plain
		for part := range privateParts {
			if yes[splitOf[part]] {
				read[part] = private[i][part]
			}
		}
		train := func(of half, seed stream.Seed) (*Trained, error) {
			return Train(ctx, q.Model, len(r.Corpus.Classes), r.Space.Table, seed, read[of[0]], read[of[1]])
		}
		fit := func() (*Trained, error) { return train(target, seed.Derive("target")) }
		var t *Trained
		key := engine.MakeID("target", id, q.Model, i)
		if yes[0] {
			t, err = Once(r, key, fit)
		} else { // the same model for every unit that trains on plain text
			t, err = lab.Once(r.Lab, key, fit)
		}
		if err != nil {
			return nil, err
		}
		s, err := Test(ctx, t.Model, len(r.Corpus.Classes), read[target[2]])
		if err != nil {
			return nil, err
		}
		rows = append(rows, of(row, i+1, "accuracy", rightly(s)))
		if !o.Membership {
			continue
		}
		imitation, err := train(shadow, seed.Derive("shadow"))
		if err != nil {
			return nil, err
		}
		auc, err := h.attack(ctx, t.Model, imitation.Model, seed.Derive("attack"))
		if err != nil {
			return nil, err
		}
		rows = append(rows, of(row, i+1, "mia_auc", results.Number(auc)))
	}
	return rows, nil
}

// attack is that of Carvalho et al. 2023, Appendix C: the shadow model is
// trained like the target, on different texts. Both are queried with plain
// texts, which a person would recognise as theirs: were they trained on?
func (h *halves) attack(ctx context.Context, model, imitation models.Classifier, seed stream.Seed) (float64, error) {
	side := func(m models.Classifier, of half) models.Membership {
		return models.Membership{Model: m, Members: h.plain[of[0]], Others: h.plain[of[2]]}
	}
	scores, member, err := models.MembershipInference(ctx, side(imitation, shadow), side(model, target), seed)
	if err != nil {
		return 0, err
	}
	return metrics.AUC(scores, member)
}
