package attack

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/stream"
)

// labelledBy are documents of some form with their private labels.
type labelledBy[D any] struct {
	documents []D
	labels    []int
}

// labelled are documents as words.
type labelled = labelledBy[[]int32]

func examples(x labelled) models.Examples {
	return models.Examples{Sequences: x.documents, Labels: x.labels}
}

// finder answers for the private labels of documents.
type finder func(ctx context.Context, documents [][]int32) (answers, error)

// answers are the private labels found in documents, and how clear each was.
type answers struct {
	labels []int
	scores [][]float64 // of every label, the highest that of the answer; nil of who names labels only
}

// highest are the answers of scores: the first label among equals.
func highest(scores [][]float64, err error) (answers, error) {
	return answers{list.Map(scores, func(s []float64) int { return floats.MaxIdx(s) }), scores}, err
}

// reader is what an attacker of private labels reads of a text, and how.
type reader struct {
	name, title string
	key         string // with the name, of what is kept; "" for built-in ones
	needs       []Need
	version     int
	releases    int // trained on at most so many own releases; 0: Options.OwnReleases
	fit         func(ctx context.Context, s *Situation, train, validation labelled, seed stream.Seed) (finder,
		string, error)
}

// readers of tokens.
var readers = []reader{
	{"svm", "SVM", "", nil, 3, 0, fitClassifier(tokenModels[0])}, // on tf-idf
	// An epoch of an LSTM costs more than all others together.
	{"lstm", "LSTM", "", []Need{NeedsVectors}, 3, 1, fitClassifier(tokenModels[1])},
	{"ngrams", "n-grams", "", []Need{NeedsWords}, 2, 0, fitNGrams},
	{"encoder", "sentence encoder", "", []Need{NeedsEncoder}, 2, 0, fitEncoder},
}

// trainings are the texts that an attacker of private labels trains on.
var trainings = []struct {
	name, title      string
	adaptive, public bool
}{
	{"static", "static", false, false},    // plain text
	{"adaptive", "adaptive", true, false}, // releases of his own by the same mechanism
	// such releases of the training split and of public text
	{"public", "adaptive with public text", true, true},
}

func init() {
	for _, r := range readers {
		for _, t := range trainings {
			if t.public && r.name != "ngrams" {
				continue
			}
			needs := append([]Need{NeedsPrivate}, r.needs...)
			if t.public {
				needs = append(needs, NeedsPublic)
			}
			d := attributeDefinition("attribute-"+t.name+"-"+r.name, t.title+" "+r.title, needs)
			d.OneRelease, d.Version = true, r.version
			d.Run = func(ctx context.Context, s *Situation) ([]Outcome, error) {
				return s.findPrivate(ctx, d.Name, r, t.adaptive, t.public)
			}
			Register(d)
		}
	}
}

// attributeDefinition has the columns of every attacker of private labels.
func attributeDefinition(name, title string, needs []Need) Definition {
	return Definition{
		Name: name, Needs: needs,
		Columns: []Column{
			{Name: name + "-accuracy", Title: "private label found, " + title, Panel: Label}, // mean over releases
			{Name: name + "-f1", Title: "macro F1, " + title},
			// (F1 − majority)/(plain − majority): 1 where privatising does not hinder the attacker
			{Name: name + "-advantage", Title: "advantage, " + title},
			// the same of accuracy: 0 for an attacker who learns nothing
			{Name: name + "-accuracy-advantage", Title: "advantage in accuracy, " + title},
		},
	}
}

// attributeOnPlain is an attacker trained on plain text with what he finds there.
type attributeOnPlain struct {
	find   finder
	found  []int
	chosen string
}

// onPlain trains a reader on plain text.
func (s *Situation) onPlain(ctx context.Context, r reader, seed stream.Seed) (attributeOnPlain, error) {
	return once(s.Memo, "attribute "+r.name+r.key, func() (attributeOnPlain, error) {
		find, chosen, err := r.fit(ctx, s, labelled{wordsOf(s.Train), privates(s.Train)},
			labelled{wordsOf(s.Validation), privates(s.Validation)}, seed)
		if err != nil {
			return attributeOnPlain{}, err
		}
		found, err := find(ctx, wordsOf(s.Test))
		return attributeOnPlain{find, found.labels, chosen}, err
	})
}

// findPrivate trains and tests an attacker of private labels.
func (s *Situation) findPrivate(ctx context.Context, name string, r reader, adaptive, withPublic bool) ([]Outcome,
	error) {
	// All attackers of a reader start from the same seed and differ only in
	// their input.
	seed := s.DataSeed.Derive("attribute", r.name)
	plain, err := s.onPlain(ctx, r, seed)
	if err != nil {
		return nil, err
	}
	find, chosen := plain.find, plain.chosen
	if adaptive {
		if find, chosen, err = s.adapt(ctx, r, plain, withPublic, seed); err != nil {
			return nil, err
		}
	}
	found, err := s.findInReleases(ctx, find)
	if err != nil {
		return nil, err
	}
	return s.attributeOutcomes(name, found, plain.found, chosen)
}

// findInReleases are the labels found in each release of the test split.
func (s *Situation) findInReleases(ctx context.Context, find finder) ([]answers, error) {
	var found []answers
	for i := range s.number(s.Options.TestReleases) {
		test, err := s.release(ctx, Test, i)
		if err != nil {
			return nil, err
		}
		got, err := find(ctx, test)
		if err != nil {
			return nil, err
		}
		found = append(found, got)
	}
	return found, nil
}

// agree counts the labels found.
func agree(found, labels []int) int {
	n := 0
	for i, label := range labels {
		if found[i] == label {
			n++
		}
	}
	return n
}

// adapt trains a reader on own releases, without and with public text. It
// returns the one that is best on own releases of the validation split, the one
// trained on plain text among them, so it is not below a simpler one but by
// chance. Ties go to the one that knows more.
func (s *Situation) adapt(ctx context.Context, r reader, plain attributeOnPlain, withPublic bool, seed stream.Seed) (
	finder, string, error) {
	train, err := s.ownReleases(ctx, Train, s.Train, r.releases)
	if err != nil {
		return nil, "", err
	}
	validation, err := s.ownReleases(ctx, Validation, s.Validation, r.releases)
	if err != nil {
		return nil, "", err
	}
	type trained struct {
		find         finder
		chosen, from string
	}
	fit := func(train labelled, from string) (trained, error) {
		find, chosen, err := r.fit(ctx, s, train, validation, seed)
		return trained{find, chosen, from}, err
	}
	own, err := once(s.Releases, "attribute adaptive "+r.name+r.key, func() (trained, error) {
		return fit(train, "own releases")
	})
	if err != nil {
		return nil, "", err
	}
	all := []trained{{plain.find, plain.chosen, "plain text"}, own}
	if withPublic {
		more, err := s.ownReleases(ctx, public, s.Public, 1)
		if err != nil {
			return nil, "", err
		}
		both, err := fit(labelled{slices.Concat(train.documents, more.documents), slices.Concat(train.labels,
			more.labels)}, "own releases and public text")
		if err != nil {
			return nil, "", err
		}
		all = append(all, both)
	}
	best, bestHits := all[0], -1
	for _, t := range all {
		found, err := t.find(ctx, validation.documents)
		if err != nil {
			return nil, "", err
		}
		if hits := agree(found.labels, validation.labels); hits >= bestHits {
			best, bestHits = t, hits
		}
	}
	note := "trained on " + best.from
	if best.chosen != "" {
		note += ": " + best.chosen
	}
	return best.find, note, nil
}

// number returns how many of so many releases there are.
func (s *Situation) number(releases int) int {
	if s.Single {
		return 1
	}
	return releases
}

// ownReleases are releases of documents that an attacker makes himself, one
// after the other; most = 0 means Options.OwnReleases.
func (s *Situation) ownReleases(ctx context.Context, split string, documents []Document, most int) (labelled, error) {
	n := s.Options.OwnReleases
	if most > 0 {
		n = min(n, most)
	}
	return releases(s, documents, n, func(i int) ([][]int32, error) { return s.release(ctx, split, i) })
}

// releases are so many releases of documents, by number.
func releases[D any](s *Situation, documents []Document, n int, release func(i int) ([]D, error)) (out labelledBy[D],
	err error) {
	for i := range s.number(n) {
		noisy, err := release(i)
		if err != nil {
			return out, err
		}
		out.documents, out.labels = append(out.documents, noisy...), append(out.labels, privates(documents)...)
	}
	return out, nil
}

// attributeOutcomes measures what was found in each release of the test split.
func (s *Situation) attributeOutcomes(name string, answered []answers, plain []int, chosen string) ([]Outcome,
	error) {
	labels := privates(s.Test)
	found := list.Map(answered, func(a answers) []int { return a.labels })
	a, err := metrics.MeasureAttribute(found, plain, labels, s.Privates, s.Options.Resamples, s.Options.Level, s.own)
	if err != nil {
		return nil, err
	}
	items := make([]Item, len(labels))
	for i, label := range labels {
		items[i] = Item{Document: i, Position: Whole}
		for _, f := range found {
			if f[i] == label {
				items[i].Right += 1 / float64(len(found))
			}
		}
	}
	note := fmt.Sprintf("plain text: accuracy %.3f, F1 %.3f; most frequent label: %.3f, %.3f; %d releases",
		a.PlainAccuracy, a.PlainF1, a.MajorityAccuracy, a.MajorityF1, len(found))
	if chosen != "" {
		note += "; " + chosen
	}
	n := len(labels)
	// F1 and advantages are no means over documents, so where a bootstrap of them has no
	// width, as of answers that are all right, there is no interval.
	score := func(column string, v stats.Interval, floor, ceiling float64, note string) Outcome {
		switch {
		case math.IsNaN(v.Estimate):
			note = "on plain text no better than the most frequent label"
		case v.Low == v.High:
			v.Low, v.High = math.NaN(), math.NaN()
			if note != "" {
				note += "; "
			}
			note += fmt.Sprintf("no interval: the same in every bootstrap of the %d documents", n)
		}
		return Outcome{Column: name + column, Value: v, Floor: floor, Ceiling: ceiling, Count: n, Note: note}
	}
	return []Outcome{
		{Column: name + "-accuracy", Value: a.Accuracy, Floor: a.MajorityAccuracy, Ceiling: a.PlainAccuracy,
			Count: n, Note: note, Items: items},
		score("-f1", a.MacroF1, a.GuessF1, a.PlainF1, note),
		score("-advantage", a.Advantage, a.AdvantageFloor, 1, ""),
		score("-accuracy-advantage", a.AccuracyAdvantage, 0, 1, ""),
	}, nil
}

func privates(documents []Document) []int {
	return list.Map(documents, func(d Document) int { return d.Private })
}

// tokenModels are the classifiers that take Options.Model.
var tokenModels = []string{"svm", "lstm"}

// checkModel refuses parameters that no classifier has.
func checkModel(parameters map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if !slices.ContainsFunc(tokenModels, func(model string) bool {
			d, err := models.Find(model)
			return err == nil && d.Has(name)
		}) {
			return check.Wrong("model: %q is no parameter of the models %q", name, tokenModels)
		}
	}
	return nil
}

// fitClassifier trains a registered classifier. One that can choose its features
// reads tf-idf, which needs no vectors and distinguishes words with the same
// meaning; these carry the style.
func fitClassifier(model string) func(context.Context, *Situation, labelled, labelled, stream.Seed) (finder, string,
	error) {
	return func(ctx context.Context, s *Situation, train, validation labelled, seed stream.Seed) (finder, string,
		error) {
		d, err := models.Find(model)
		if err != nil {
			return nil, "", err
		}
		parameters := map[string]any{}
		if d.Has("features") {
			parameters["features"] = "tfidf"
		}
		for name, v := range s.Options.Model {
			if d.Has(name) {
				parameters[name] = v
			}
		}
		m, err := models.New(model, models.Options{Classes: s.Privates, Embedding: s.Embedding, Seed: seed,
			Parameters: parameters})
		if err != nil {
			return nil, "", err
		}
		_, err = m.Fit(ctx, examples(train), examples(validation))
		return func(ctx context.Context, documents [][]int32) (answers, error) {
			return highest(m.Score(ctx, models.Examples{Sequences: documents}))
		}, "", err
	}
}

func fitNGrams(ctx context.Context, s *Situation, train, validation labelled, _ stream.Seed) (finder, string, error) {
	m, h, err := models.FitNGrams(ctx, models.NGramOptions{Classes: s.Privates, Spelling: s.Spelling,
		Embedding: s.Embedding}, examples(train), examples(validation))
	if err != nil {
		return nil, "", err
	}
	return func(ctx context.Context, documents [][]int32) (answers, error) {
		return highest(m.Score(ctx, models.Examples{Sequences: documents}))
	}, h.Chosen, nil
}

// headLayers are the hidden layers of the network on sentence vectors.
var headLayers = []int{64}

func fitEncoder(ctx context.Context, s *Situation, train, validation labelled, seed stream.Seed) (finder, string,
	error) {
	vectors := func(x labelled) (models.Examples, error) {
		v, err := s.Encode(ctx, x.documents)
		return models.Examples{Vectors: v, Labels: x.labels}, err
	}
	a, err := vectors(train)
	if err != nil {
		return nil, "", err
	}
	b, err := vectors(validation)
	if err != nil {
		return nil, "", err
	}
	head, h, err := models.FitHead(ctx, a, b, s.Privates, headLayers, seed)
	if err != nil {
		return nil, "", err
	}
	return func(ctx context.Context, documents [][]int32) (answers, error) {
		v, err := s.Encode(ctx, documents)
		if err != nil {
			return answers{}, err
		}
		return highest(head.Score(ctx, models.Examples{Vectors: v}))
	}, h.Chosen, nil
}
