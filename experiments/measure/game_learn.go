package measure

import (
	"context"
	"math"

	"gonum.org/v1/gonum/stat"

	"mldpbench/internal/list"
	"mldpbench/models"
	"mldpbench/stream"
)

// leastTrained are the rounds below which no model is trained.
const leastTrained = 40

// gameVectors are the vectors of the texts of some rounds, of length one; none without an encoder.
type gameVectors struct {
	originals [][2][]float32 // by pair
	released  [][]float32    // by round
}

// encode encodes the texts of rounds.
func (g *game) encode(ctx context.Context, pairs []gamePair, rounds []gameRound) (v gameVectors, err error) {
	if g.encoder == nil || len(rounds) == 0 {
		return v, nil
	}
	var texts []string
	for _, p := range pairs {
		texts = append(texts, joined(p.originals[0]), joined(p.originals[1]))
	}
	for _, r := range rounds {
		texts = append(texts, joined(r.released))
	}
	all, err := g.encoder.Encode(ctx, texts)
	if err != nil {
		return v, err
	}
	for _, x := range all {
		normalise(x)
	}
	for i := range pairs {
		v.originals = append(v.originals, [2][]float32{all[2*i], all[2*i+1]})
	}
	v.released = all[2*len(pairs):]
	return v, nil
}

// normalise gives a vector length one; zero stays.
func normalise(x []float32) {
	length := math.Sqrt(dot(x, x))
	if length == 0 {
		return
	}
	for i := range x {
		x[i] = float32(float64(x[i]) / length)
	}
}

// addCosines adds margins by the cosine of vectors to rounds.
func (v gameVectors) addCosines(rounds []gameRound) {
	for i, r := range rounds {
		both := v.originals[r.pair]
		margin := dot(v.released[i], both[0]) - dot(v.released[i], both[1])
		rounds[i].margins = append(r.margins, margin)
	}
}

// gameModel is a logistic model of which original was released. Its features change their sign
// when the originals change places: the margins of the other adversaries and, of each coordinate
// of the encoder, the products and distances with one original less those with the other.
type gameModel struct {
	scales     []float64 // of margins
	classifier models.Classifier
}

// learnGame trains on rounds, each also with its originals in the other order. Every fourth round
// validates.
func learnGame(ctx context.Context, rounds []gameRound, v gameVectors, seed stream.Seed) (*gameModel, error) {
	m := &gameModel{}
	for k := range rounds[0].margins {
		column := list.Map(rounds, func(r gameRound) float64 { return r.margins[k] })
		m.scales = append(m.scales, max(stat.StdDev(column, nil), 1e-9))
	}
	var train, validation models.Examples
	for i, r := range rounds {
		x := m.features(r, v, i)
		opposite := list.Map(x, func(f float32) float32 { return -f })
		part := &train
		if r.pair%4 == 3 {
			part = &validation
		}
		part.Vectors = append(part.Vectors, x, opposite)
		part.Labels = append(part.Labels, r.coin, 1-r.coin)
	}
	classifier, err := models.New("logistic", models.Options{Classes: 2, Seed: seed})
	if err != nil {
		return nil, err
	}
	m.classifier = classifier
	_, err = classifier.Fit(ctx, train, validation)
	return m, err
}

// features are those of round i.
func (m *gameModel) features(r gameRound, v gameVectors, i int) []float32 {
	var x []float32
	for k, scale := range m.scales {
		x = append(x, float32(max(-3, min(3, r.margins[k]/scale))))
	}
	if v.released == nil {
		return x
	}
	a := v.originals[r.pair][0]
	b := v.originals[r.pair][1]
	for k, y := range v.released[i] {
		nearer := math.Abs(float64(y-b[k])) - math.Abs(float64(y-a[k]))
		x = append(x, y*(a[k]-b[k]), float32(nearer))
	}
	return x
}

// addMargins adds those of the model to rounds.
func (m *gameModel) addMargins(ctx context.Context, rounds []gameRound, v gameVectors) error {
	var x models.Examples
	for i, r := range rounds {
		x.Vectors = append(x.Vectors, m.features(r, v, i))
	}
	scores, err := m.classifier.Score(ctx, x)
	if err != nil {
		return err
	}
	for i, s := range scores {
		rounds[i].margins = append(rounds[i].margins, s[0]-s[1])
	}
	return nil
}
