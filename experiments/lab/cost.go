package lab

import (
	"fmt"
	"math"

	"mldpbench/experiments/engine"
	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/results"
)

// costTable holds mean seconds of earlier records at several levels of detail.
type costTable []map[string]*costMean

// costMean sums up records; shared is the part of their seconds in which text
// was privatised, which several records may report.
type costMean struct{ sum, shared, n float64 }

// costLevels describe a record from the closest to the weakest similarity that
// still suggests a similar duration.
func costLevels(r results.Record) []string {
	what := fmt.Sprintf("%s %s %s %s", r.Panel, r.Mechanism, r.Variant, r.Model)
	epsilon, _ := r.Epsilon.MarshalCSV() // never fails
	return []string{
		fmt.Sprintf("%s %s %d %s %s", what, r.Dataset, r.Dimension, r.Setting, epsilon),
		fmt.Sprintf("%s %s %d", what, r.Dataset, r.Dimension),
		fmt.Sprintf("%s %s", what, r.Dataset),
	}
}

func newCostTable(records []results.Record) costTable {
	var t costTable
	for _, r := range records {
		if !r.TotalSeconds.Known() {
			continue
		}
		for i, name := range costLevels(r) {
			if i == len(t) {
				t = append(t, map[string]*costMean{})
			}
			m, ok := t[i][name]
			if !ok {
				m = &costMean{}
				t[i][name] = m
			}
			m.sum += float64(r.TotalSeconds)
			if r.PrivatizeSeconds.Known() {
				m.shared += float64(r.PrivatizeSeconds)
			}
			m.n++
		}
	}
	return t
}

// Rough seconds of the work of a cell on one core, from the records of
// the comparative study; only used to divide cells evenly where no records are
// given.
const (
	costPerCell       = 0.2   // fixed
	costPerDistance   = 6e-12 // one component of one distance, privatising one token
	costPerRow        = 5e-11 // the same, preparing a word whose outputs have a row of probabilities
	costPerDraw       = 1e-6  // one token, from such a row
	costPerExact      = 3e-10 // one component of one distance, for E_M over all words from whole rows
	costPerRecurrent  = 12e-6 // one token in training of an LSTM
	costPerLinear     = 3e-6  // one token in training of anything else
	costPerSimilarity = 0.2   // one document before and after, in a sentence encoder
)

// Work is what a unit does, in numbers that its cost depends on.
type Work struct {
	Tokens     float64 // in the text
	Size       float64 // components of the space: words × dimension
	Private    float64 // tokens privatised; 0 where another unit has the same text
	Trainings  float64 // times that the model is trained
	Similarity float64 // documents in a sentence encoder
	Draws      float64 // of every word, for E_M over all words where there are no rows
}

// Reading is the work of opening a data set with vectors of so many dimensions.
func (l *Lab) Reading(s Sample, dimensions int) Work {
	t := l.size(s)
	return Work{Tokens: float64(t.all()), Size: float64(t.words * dimensions)}
}

// Tokens returns those of the training and validation documents of a data set,
// and those of its test documents.
func (l *Lab) Tokens(s Sample) (training, testing float64) {
	t := l.size(s)
	return float64(t.tokens[0] + t.tokens[1]), float64(t.tokens[2])
}

// Cost estimates the unit of a row from records of similar units or else from
// speeds and rough constants.
func (l *Lab) Cost(row results.Record, w Work) engine.Cost {
	levels := costLevels(row)
	for i, level := range l.measured() {
		if m, ok := level[levels[i]]; ok {
			seconds := m.sum
			if w.Private == 0 {
				seconds -= m.shared
			}
			return engine.Cost{Seconds: max(costPerCell, seconds/m.n), Source: engine.FromRecords}
		}
	}
	cost := engine.Cost{Seconds: costPerCell + costPerSimilarity*w.Similarity, Source: engine.FromDefaults}
	perToken := costPerLinear
	if d, err := models.Find(row.Model); err == nil && !d.Vectors {
		perToken = costPerRecurrent
	}
	cost.Seconds += perToken * w.Tokens * w.Trainings
	if w.Private == 0 {
		return cost
	}
	if perToken, ok := secondsPerToken(l.Speeds, row.Mechanism, w.Size); ok {
		cost.Seconds += perToken * w.Private
		cost.Source = engine.FromSpeeds
		return cost
	}
	d, err := mechanisms.Find(row.Mechanism)
	words := w.Size / float64(max(1, row.Dimension))
	if err != nil || !d.PerWord {
		cost.Seconds += costPerDistance * w.Size * (w.Private + w.Draws*words)
		return cost
	}
	cost.Seconds += costPerRow*w.Size*min(words, w.Private) + costPerDraw*w.Private
	if w.Draws > 0 {
		cost.Seconds += costPerExact * w.Size * words
	}
	return cost
}

// secondsPerToken scales the mean of the measurements nearest in size (words ×
// dimension) to another size.
func secondsPerToken(speeds []Speed, mechanism string, size float64) (float64, bool) {
	nearest, sum, n := math.Inf(1), 0.0, 0.0
	for _, v := range speeds {
		measured := float64(v.Vocabulary) * float64(v.Dimension)
		if v.Mechanism != mechanism || v.Workers != 1 || !(v.WordsPerSecond > 0) || !(measured > 0) {
			continue
		}
		distance := math.Abs(math.Log(measured / size))
		if distance < nearest {
			nearest, sum, n = distance, 0, 0
		}
		if distance == nearest {
			sum += size / measured / v.WordsPerSecond
			n++
		}
	}
	return sum / max(n, 1), n > 0
}

// Memory returns an estimate, as the function Memory does, of a unit that trains
// a model on a data set.
func (l *Lab) Memory(s Sample, model string) int64 {
	t := l.size(s)
	return Memory(model, t.all(), t.words)
}

// Memory returns a generous estimate, in bytes, of the memory of a unit on top
// of shared data. The unit trains model, "" for none, on a text of so many
// tokens and words.
func Memory(model string, tokens, words int) int64 {
	const process = 64 << 20
	const perToken = 64     // string header, ids, features
	const perWord = 8 << 10 // tables of the selection family
	const recurrentNet = 400 << 20
	weight := process + perToken*int64(tokens) + perWord*int64(words)
	if d, err := models.Find(model); err == nil && !d.Vectors {
		weight += recurrentNet
	}
	return weight
}
