package experiments

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
	"mldpbench/results/search"
)

const (
	// nearShare and nearPoints are how near two ε around a level are at first: a step
	// of a share, or of a percentage.
	nearShare, nearPoints = 0.05, 2
	// mostSteps limits the ε at which a level is looked for in one go, and mostRounds
	// how often they then come nearer: each time to half the step or less.
	mostSteps, mostRounds = 10, 6
	// drawsOfError are those of each word for E_M where a study does not measure it.
	drawsOfError = 20
)

// AlignedFile is the name of the study with the ε that runAligned found, next to
// its rows.
const AlignedFile = "aligned.yaml"

// aligning is a run of a study at levels of a quantity. The ε of a mechanism are those
// on each data set.
type aligning struct {
	*study.Study
	root     string
	options  engine.Options
	levels   quantity.Levels
	quantity string                      // that of the levels, as it is measured
	searched map[results.Place][]float64 // ε at which that is measured
	around   map[results.Place][]float64 // ε at which all else is measured as well
	near     map[results.Place]float64   // how near two ε around a level are to be
	grew     bool                        // the last search found further ones around a level
}

// newAligning is a run of a study at levels, before its first round.
func newAligning(s *study.Study, root string, o engine.Options, levels quantity.Levels) *aligning {
	return &aligning{
		Study:    s,
		root:     root,
		options:  o,
		levels:   levels,
		quantity: levels.Quantity,
		searched: map[results.Place][]float64{},
		around:   map[results.Place][]float64{},
		near:     map[results.Place]float64{},
	}
}

// runAligned runs a study where a quantity has some levels. It first looks for the ε
// of each mechanism on each data set, beyond those of the study too, and measures
// nothing but the quantity (and E_M where that is asked for and a study does not
// measure it); all else is measured at the two ε around each level only. These come
// nearer until what is not known of the line between them is less than half of all
// else that is not known, or mostRounds have passed, which is said. The study with
// these ε is written to AlignedFile in the folder of the run.
func runAligned(ctx context.Context, a *aligning) (*engine.Summary, error) {
	if err := a.keep(); err != nil {
		return nil, err
	}
	a.options.Force = true // steps of one run replace each other's rows
	log := cmp.Or(a.options.Log, io.Discard)
	for round := 1; ; round++ {
		summary, err := a.search(ctx)
		if err != nil {
			return summary, err
		}
		if round == 1 {
			a.sayLeftOut(log)
		}
		summary, err = a.measure(ctx)
		if err != nil {
			return summary, err
		}
		unclear, err := a.narrow(summary.Rows)
		if err != nil || len(unclear) == 0 {
			return summary, err
		}
		if round == mostRounds || round > 1 && !a.grew {
			fmt.Fprintf(log, "after %d rounds the interpolation error between two ε is still more than half of "+
				"all else: %s\n", round, strings.Join(unclear, ", "))
			return summary, nil
		}
	}
}

// sayLeftOut names the mechanisms of which the quantity is not measured.
func (a *aligning) sayLeftOut(log io.Writer) {
	for k := range a.searched {
		if a.around[k] == nil {
			fmt.Fprintf(log, "left out: %s on %s, of which %s is not measured\n",
				strings.TrimSpace(k.Mechanism+" "+k.Parameters), k.Dataset, a.levels.Quantity)
		}
	}
}

// measure measures all else at the ε around the levels, and writes the study with these.
func (a *aligning) measure(ctx context.Context) (*engine.Summary, error) {
	found, err := a.at(measuring)
	if err != nil {
		return nil, err
	}
	// Also where nothing is new: the folder has the rows of the last run.
	summary, err := runStudy(ctx, found, a.root, a.options)
	if err != nil {
		return summary, err
	}
	return summary, a.write(found, summary.Dir)
}

// write writes the study with the ε that were found to the folder of the run.
func (a *aligning) write(found *study.Study, folder string) error {
	moved, err := found.InFolder(folder, a.root)
	if err != nil {
		return err
	}
	definition, err := moved.YAML()
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(folder, AlignedFile), 0o644, definition)
}

// key is a mechanism on a data set, whose name may say which data of several it has.
func key(p results.Place) results.Place {
	k := p.Instance()
	k.Dataset, _, _ = strings.Cut(p.Dataset, " (")
	return k
}

// search measures the quantity until two ε near each other enclose each level, and
// notes these.
func (a *aligning) search(ctx context.Context) (summary *engine.Summary, err error) {
	a.grew = false
	for round := 0; ; round++ {
		s, err := a.at(searching)
		if err != nil || len(s.Mechanisms)+len(s.Scenes) == 0 {
			return nil, err
		}
		p, err := plan.New(s)
		if err != nil {
			return nil, err
		}
		p.Only(a.quantity)
		summary, err = p.Run(ctx, a.root, a.options)
		if err != nil {
			return summary, err
		}
		prepared, err := results.Prepare(results.Run{Name: a.Name, Rows: summary.Rows})
		if err != nil {
			return summary, err
		}
		further := map[results.Place][]float64{}
		for _, trace := range analysis.Traces(prepared, a.levels.Quantity) {
			k := key(trace[0].Place)
			further[k] = append(further[k], a.further(k, a.points(k, trace), round)...)
		}
		done := true
		for k, epsilons := range further {
			done = done && len(epsilons) == 0
			a.searched[k] = distinct(append(a.searched[k], epsilons...)...)
		}
		if done {
			return summary, nil
		}
		fmt.Fprintf(cmp.Or(a.options.Log, io.Discard), "round %d of at most %d: %s\n", round+2, mostSteps+1,
			a.asked(further))
	}
}

// asked says at which ε a round measures the quantity, of three mechanisms at most.
func (a *aligning) asked(further map[results.Place][]float64) string {
	const most = 3
	var all []string
	for k, epsilons := range further {
		for _, epsilon := range epsilons {
			name := strings.TrimSpace(k.Mechanism + " " + k.Label)
			all = append(all, fmt.Sprintf("%s at ε = %.4g (%s)", name, epsilon, results.DatasetTitle(k.Dataset)))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	text := quantity.Must(a.quantity).Title + " of " + strings.Join(all[:min(most, len(all))], ", ")
	if len(all) > most {
		text += fmt.Sprintf(" and %d more", len(all)-most)
	}
	return text
}

// points are the values of the quantity at the ε of a trace; it is not defined at the
// others at which it was looked for.
func (a *aligning) points(k results.Place, trace []results.Cells) []search.Point {
	points := list.Map(trace, func(g results.Cells) search.Point {
		return search.Point{Epsilon: g.Epsilon.Float(), Value: stats.Mean(g.Values(a.levels.Quantity))}
	})
	for _, epsilon := range a.searched[k] {
		isMeasured := func(p search.Point) bool { return p.Epsilon == epsilon }
		if !slices.ContainsFunc(points, isMeasured) {
			points = append(points, search.Point{Epsilon: epsilon, Value: math.NaN()})
		}
	}
	return points
}

// further are the ε at which the quantity is to be measured next, for those levels whose
// search goes on; the ε around the others are noted.
func (a *aligning) further(k results.Place, points []search.Point, round int) (epsilons []float64) {
	privacy := quantity.Must(a.levels.Quantity)
	near := nearShare
	if privacy.Unit == "%" {
		near = nearPoints
	}
	for _, level := range a.levels.At {
		question := search.Question{
			Level:  level,
			Falls:  privacy.Direction == quantity.Up,
			Near:   cmp.Or(a.near[k], near),
			Low:    search.LeastEpsilon,
			High:   search.MostEpsilon,
			Step:   search.Doubled,
			Rounds: mostSteps,
		}
		answer := question.Next(points, round)
		if answer.Done == search.Going {
			epsilons = append(epsilons, answer.Next)
			continue
		}
		if answer.Done == search.Nowhere {
			continue
		}
		around := distinct(append(a.around[k], answer.Around[0].Epsilon, answer.Around[1].Epsilon)...)
		a.grew = a.grew || len(around) > len(a.around[k])
		a.around[k] = around
	}
	return epsilons
}

// narrow asks for nearer ε where what is not known of the line between two is more
// than half of all else that is not known at a level, and names these mechanisms.
func (a *aligning) narrow(rows []results.Row) (unclear []string, err error) {
	measured, err := analysis.New(a.levels, results.Run{Name: a.Name, Rows: rows})
	if err != nil {
		return nil, err
	}
	for _, level := range a.levels.At {
		for _, scene := range measured.Alignments("", level) {
			for _, l := range scene.Lines {
				rest := math.Sqrt(max(0, l.Error*l.Error-l.Interpolation*l.Interpolation))
				if scene.Datasets == 0 && l.Reached && l.Interpolation > rest/2 {
					a.near[key(l.Place)] = l.Step / 2
					unclear = append(unclear, l.Name+" on "+results.DatasetTitle(l.Dataset))
				}
			}
		}
	}
	slices.Sort(unclear)
	return slices.Compact(unclear), nil
}

// distinct are numbers in order, each once.
func distinct(x ...float64) []float64 { return slices.Compact(slices.Sorted(slices.Values(x))) }
