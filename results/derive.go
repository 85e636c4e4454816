package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mldpbench/metrics"
	"mldpbench/results/stats"
)

// BaselineMechanism is the mechanism name of records without privatisation.
const BaselineMechanism = "none"

// IsBaseline reports whether nothing was privatised.
func (r Record) IsBaseline() bool { return r.Mechanism == BaselineMechanism }

// Recompute sets every metric that is a function of raw counts from those
// counts. A metric whose counts are absent (a total of 0) is unchanged.
func (r *Record) Recompute() error {
	for _, c := range Registry() {
		c.recount(r)
	}
	if r.SwWords > 0 {
		r.Sw = Float(float64(r.SwDistinct) / float64(r.SwWords))
	}
	if r.CS.Known() && r.CSStdDev.Known() && r.CSDocuments > 1 {
		i := stats.MeanIntervalFrom(float64(r.CS), float64(r.CSStdDev), r.CSDocuments, 0.95)
		r.CSLow, r.CSHigh = Float(i.Low), Float(i.High)
	}
	if r.DeniabilityWords == "" {
		return nil
	}
	words, err := r.Deniability()
	if err != nil {
		return err
	}
	t := metrics.TotalDeniability(words)
	if t.Unchanged != r.NwUnchanged || t.Runs != r.NwRuns || t.Distinct != r.SwDistinct || t.Words != r.SwWords {
		return fmt.Errorf("deniability_words sums to %d of %d unchanged and %d distinct over %d words, the columns "+
			"say %d of %d, %d over %d",
			t.Unchanged, t.Runs, t.Distinct, t.Words, r.NwUnchanged, r.NwRuns, r.SwDistinct, r.SwWords)
	}
	r.NwWorst, r.SwWorst = Float(t.WorstNw), Float(t.WorstSw)
	return nil
}

// SetDeniability fills all columns of the sampled plausible deniability from
// the outcomes per word.
func (r *Record) SetDeniability(words []metrics.Deniability[string]) {
	t := metrics.TotalDeniability(words)
	r.NwUnchanged, r.NwRuns = t.Unchanged, t.Runs
	r.SwDistinct, r.SwWords = t.Distinct, t.Words
	r.Nw, r.Sw = Float(t.Nw()), Float(t.Sw())
	r.NwWorst, r.SwWorst = Float(t.WorstNw), Float(t.WorstSw)
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = fmt.Sprintf("%s:%d:%d", w.Word, w.Unchanged, w.Distinct)
	}
	r.DeniabilityWords = strings.Join(parts, " ")
}

// Deniability parses the outcomes per word. A word may contain colons but no
// space, because tokens are separated by spaces.
func (r Record) Deniability() ([]metrics.Deniability[string], error) {
	fields := strings.Fields(r.DeniabilityWords)
	if len(fields) == 0 {
		return nil, nil
	}
	if r.NwRuns%len(fields) != 0 {
		return nil, fmt.Errorf("deniability_words: %d runs do not divide among %d words", r.NwRuns, len(fields))
	}
	words := make([]metrics.Deniability[string], len(fields))
	for i, f := range fields {
		head, distinct, ok := cutLast(f, ":")
		word, unchanged, ok2 := cutLast(head, ":")
		u, err1 := strconv.Atoi(unchanged)
		d, err2 := strconv.Atoi(distinct)
		if !ok || !ok2 || err1 != nil || err2 != nil {
			return nil, fmt.Errorf("deniability_words: %q: must be word:unchanged:distinct", f)
		}
		words[i] = metrics.Deniability[string]{Word: word, Runs: r.NwRuns / len(fields), Unchanged: u, Distinct: d}
	}
	return words, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// Scene identifies what a cell shares with its baseline. The setting is not
// part of it: without privatisation all settings are one.
type Scene struct {
	Dataset, DatasetFingerprint     string
	Embedding, EmbeddingFingerprint string
	Dimension                       int
	Model, ModelParameters          string
}

// Scene returns the scene of a record.
func (r Record) Scene() Scene {
	return Scene{r.Dataset, r.DatasetFingerprint, r.Embedding, r.EmbeddingFingerprint, r.Dimension, r.Model,
		r.ModelParameters}
}

// Group identifies what all repetitions of one cell share.
type Group struct {
	Scene
	Mechanism, Variant, Parameters string
	Epsilon                        string // as text, so that a missing one equals itself
	Policy, Setting                string
	// Position of a row with one quantity.
	Panel, Series, X, Quantity string
}

// Group returns the group of a record.
func (r Record) Group() Group {
	epsilon, _ := r.Epsilon.MarshalCSV()
	x, _ := r.X.MarshalCSV()
	return Group{r.Scene(), r.Mechanism, r.Variant, r.Parameters, epsilon, r.Policy, r.Setting, r.Panel, r.Series, x,
		r.Quantity}
}

// Derive recomputes all metrics that follow from other columns and records:
// percentages from counts, the baseline's mean accuracy, and the composites.
// It returns a sorted copy.
//
// PUC per repetition uses the repetition's own numbers; where CS was measured
// on some repetitions only, their mean is used. S_w is scaled to 100 runs.
func Derive(records []Record) ([]Record, error) {
	derived := slices.Clone(records)
	Sort(derived)
	baseline := map[Scene][]float64{}
	similarity := map[Group][]float64{}
	for i := range derived {
		r := &derived[i]
		if err := r.Recompute(); err != nil {
			return nil, fmt.Errorf("record %s: %w", r.Key, err)
		}
		if r.IsBaseline() && r.Accuracy.Known() {
			baseline[r.Scene()] = append(baseline[r.Scene()], float64(r.Accuracy))
		}
		if r.CS.Known() {
			similarity[r.Group()] = append(similarity[r.Group()], float64(r.CS))
		}
	}
	for i := range derived {
		r := &derived[i]
		r.BaselineAccuracy, r.PUC75, r.PUC50, r.PUC25 = Missing, Missing, Missing, Missing
		if r.Status != StatusOK {
			continue
		}
		r.BaselineAccuracy = Float(stats.Mean(baseline[r.Scene()]))
		if r.IsBaseline() {
			continue
		}
		cs := float64(r.CS)
		if !r.CS.Known() {
			cs = stats.Mean(similarity[r.Group()])
		}
		c := metrics.Composite{
			Accuracy: float64(r.Accuracy), BaselineAccuracy: float64(r.BaselineAccuracy),
			Nw: float64(r.Nw), Sw: r.swOf100(), PP: float64(r.PP), CS: cs, Low: float64(r.Low),
		}
		r.PUC75, r.PUC50, r.PUC25 = Float(c.PUC(0.75)), Float(c.PUC(0.5)), Float(c.PUC(0.25))
	}
	return derived, nil
}

// swOf100 returns S_w as a percentage of the runs per word.
func (r Record) swOf100() float64 {
	if r.SwWords == 0 || r.NwRuns == 0 {
		return float64(r.Sw)
	}
	return 100 * float64(r.SwDistinct) / float64(r.NwRuns)
}

// SwOthers returns S_w without the word itself, as in the published tables, NaN
// without counts per word.
func (r Record) SwOthers() float64 {
	words, err := r.Deniability()
	if err != nil || len(words) == 0 {
		return math.NaN()
	}
	others := 0
	for _, w := range words {
		others += w.Others()
	}
	return float64(others) / float64(len(words))
}
