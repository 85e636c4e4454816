package experiments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/compare"
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

// AlignedFile is the name of the study with the ε that RunAligned found, next to
// its rows.
const AlignedFile = "aligned.yaml"

// aligning is a run of a study at levels of a quantity. The ε of a mechanism are those
// on each data set.
type aligning struct {
	*study.Study
	root     string
	options  engine.Options
	levels   results.Levels
	quantity string                      // that of the levels, as it is measured
	searched map[results.Place][]float64 // ε at which that is measured
	around   map[results.Place][]float64 // ε at which all else is measured as well
	near     map[results.Place]float64   // how near two ε around a level are to be
	grew     bool                        // the last search found further ones around a level
}

// RunAligned runs a study where a quantity has some levels. It first looks for the ε
// of each mechanism on each data set, beyond those of the study too, and measures
// nothing but the quantity (and E_M where that is asked for and a study does not
// measure it); all else is measured at the two ε around each level only. These come
// nearer until what is not known of the line between them is less than half of all
// else that is not known, or mostRounds have passed, which is said. The study with
// these ε is written to AlignedFile in the folder of the run.
func RunAligned(ctx context.Context, s *study.Study, root string, o engine.Options,
	levels results.Levels) (*engine.Summary, error) {
	a := &aligning{s, root, o, levels, levels.Quantity, map[results.Place][]float64{}, map[results.Place][]float64{},
		map[results.Place]float64{}, false}
	if a.quantity == results.EM {
		a.quantity = "e_m_full_uniform"
	}
	if err := a.keep(); err != nil {
		return nil, err
	}
	a.options.Force = true // steps of one run replace each other's rows
	log := cmp.Or(o.Log, io.Discard)
	for round := 1; ; round++ {
		if summary, err := a.search(ctx); err != nil {
			return summary, err
		}
		for k := range a.searched {
			if a.around[k] == nil && round == 1 {
				fmt.Fprintf(log, "left out: %s on %s, of which %s is not measured\n",
					strings.TrimSpace(k.Mechanism+" "+k.Parameters), k.Dataset, levels.Quantity)
			}
		}
		found, err := a.at(true)
		if err != nil {
			return nil, err
		}
		// Also where nothing is new: the folder has the rows of the last run.
		summary, err := Run(ctx, found, root, a.options)
		if err != nil {
			return summary, err
		}
		if err := a.write(found, summary.Dir); err != nil {
			return summary, err
		}
		unclear, err := a.narrow(summary.Rows)
		if err != nil || len(unclear) == 0 {
			return summary, err
		}
		if round == mostRounds || round > 1 && !a.grew {
			fmt.Fprintf(log, "after %d rounds what is not known of the line between two ε is still more than half of all "+
				"else: %s\n", round, strings.Join(unclear, ", "))
			return summary, nil
		}
	}
}

// keep copies the run that the folder holds to a folder in it where rows of it would be
// replaced: those at other levels, or of mechanisms, data sets, spaces or models that this
// run does not have. The ε differ from run to run.
func (a *aligning) keep() error {
	folder := cmp.Or(a.options.Out, filepath.Join("runs", a.Name))
	m, err := engine.ReadManifest(filepath.Join(folder, "manifest.json"))
	if errors.Is(err, fs.ErrNotExist) || a.options.Force {
		return nil
	}
	if err != nil {
		return err
	}
	if m.Records == 0 { // interrupted before the first rows
		return nil
	}
	lost := "rows at other epsilons"
	if alignedAt(m.Command) == alignedAt(a.options.Command) {
		if lost, err = a.lost(filepath.Join(folder, "results.csv")); lost == "" || err != nil {
			return err
		}
	}
	kept := filepath.Join(folder, "before")
	for i := 2; ; i++ {
		if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) {
			break
		}
		kept = filepath.Join(folder, fmt.Sprintf("before-%d", i))
	}
	if err := os.Mkdir(kept, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"results.csv", "manifest.json", "report.html"} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = atomicfile.WriteBytes(filepath.Join(kept, name), 0o644, data)
		}
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(cmp.Or(a.options.Log, io.Discard),
		"%s holds %s, which this run does not have: its rows and page are kept in %s\n", folder, lost, kept)
	return nil
}

// lost names a row of a file that is of what this run does not have, "" for none.
func (a *aligning) lost(file string) (string, error) {
	p, err := plan.New(a.Study)
	if err != nil {
		return "", err
	}
	where := func(p results.Place) results.Place {
		return results.Place{Dataset: p.Dataset, Embedding: p.Embedding, Dimension: p.Dimension, Mechanism: p.Mechanism,
			Variant: p.Variant, Parameters: p.Parameters, Model: p.Model, ModelParameters: p.ModelParameters}
	}
	own := map[results.Place]bool{}
	for _, place := range p.Places() {
		own[where(place)] = true
		own[where(place.Text())] = true
	}
	rows, err := results.Read(file)
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		if !own[where(r.Place)] {
			names := strings.Fields(r.Dataset + " " + r.Embedding + " " + r.Mechanism + " " + r.Model)
			return "rows of " + strings.Join(names, ", "), nil
		}
	}
	return "", nil
}

// alignedAt is the value of --align in a command line, "" for none.
func alignedAt(command []string) string {
	for i, word := range command {
		if value, found := strings.CutPrefix(word, "--align="); found {
			return value
		}
		if word == "--align" && i+1 < len(command) {
			return command[i+1]
		}
	}
	return ""
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

// distinct are numbers in order, each once.
func distinct(x ...float64) []float64 { return slices.Compact(slices.Sorted(slices.Values(x))) }

// at is the study with an entry for each setting of a mechanism on each data set: at
// the ε at which the quantity is looked for, a middle one of the study at first, or at
// those around the levels. There are texts too, at the ε at which they were released.
func (a *aligning) at(around bool) (*study.Study, error) {
	found := &study.Study{Header: a.Header}
	for _, p := range a.Parts() {
		var entries []study.MechanismSpec
		sets := list.Map(p.Datasets, func(d study.DatasetSpec) string { return d.Name })
		if len(sets) == 0 { // words are measured
			sets = []string{""}
		}
		for _, m := range p.Mechanisms {
			settings, _ := p.Expand(m)
			if m.Text != "" {
				if settings = nil; around {
					entries = append(entries, m)
				}
			}
			for _, x := range settings {
				for _, d := range sets {
					own, spec := m, measure.Spec{Mechanism: x, KeepWords: m.KeepWords, Budget: m.Budget, Label: m.Label}
					if own.Name, own.Parameters = x.Mechanism, x.Parameters; !m.Is() {
						own.Variant = x.Variant
					}
					if spec.Dataset.Name = d; d != "" {
						own.Datasets = []string{d}
					}
					k := key(spec.Place())
					if all := distinct(m.Over(p.Epsilons)...); a.searched[k] == nil {
						a.searched[k] = []float64{all[len(all)/2]}
					}
					own.Epsilons = map[bool][]float64{true: a.around[k], false: a.searched[k]}[around]
					if len(own.Epsilons) > 0 && study.On(m.Datasets, d) {
						entries = append(entries, own)
					}
				}
			}
		}
		if _, measured := p.Metrics["inference_error"]; a.levels.Quantity == results.EM && !measured {
			p.Metrics = maps.Collect(maps.All(p.Metrics))
			p.Metrics["inference_error"] = &measure.InferenceOptions{Samples: drawsOfError}
		}
		p.Mechanisms = entries
		found.Scenes = append(found.Scenes, p)
	}
	if len(a.Scenes) == 0 {
		found.Design, found.Scenes = found.Scenes[0].Design, nil
	}
	return found, found.Check()
}

// search measures the quantity until two ε near each other enclose each level, and
// notes these.
func (a *aligning) search(ctx context.Context) (summary *engine.Summary, err error) {
	a.grew = false
	for step := 0; ; step++ {
		s, err := a.at(false)
		if err != nil || len(s.Mechanisms)+len(s.Scenes) == 0 {
			return nil, err
		}
		p, err := plan.New(s)
		if err != nil {
			return nil, err
		}
		p.Only(a.quantity)
		if summary, err = p.Run(ctx, a.root, a.options); err != nil {
			return summary, err
		}
		prepared, err := results.Prepare(results.Run{Name: a.Name, Rows: summary.Rows})
		if err != nil {
			return summary, err
		}
		further := map[results.Place][]float64{}
		for _, t := range compare.Traces(prepared, a.levels.Quantity) {
			k := key(t[0].Place)
			for _, level := range a.levels.At {
				e, around := a.next(t, level, math.Exp2(float64(1+step))) // ever farther beyond an end
				if e > 0 && step < mostSteps && !slices.Contains(a.searched[k], e) {
					further[k] = append(further[k], e)
				} else {
					around = distinct(append(around, a.around[k]...)...)
					a.grew = a.grew || len(around) > len(a.around[k])
					a.around[k] = around
				}
			}
		}
		if len(further) == 0 {
			return summary, nil
		}
		for k, e := range further {
			a.searched[k] = distinct(append(a.searched[k], e...)...)
		}
	}
}

// next is the ε at which the quantity tells most of where it has a level, 0 where
// enough is known; around are those on either side of it, or the ends.
func (a *aligning) next(t []results.Cells, level, beyond float64) (e float64, around []float64) {
	points := list.Map(t, func(g results.Cells) measure.Point {
		return measure.Point{Epsilon: g.Epsilon.Float(), Value: stats.Mean(g.Values(a.levels.Quantity))}
	})
	privacy := results.MustColumn(a.levels.Quantity)
	near := map[bool]float64{true: nearPoints, false: nearShare}[privacy.Unit == "%"]
	e, between := measure.NextEpsilon(points, level, beyond, privacy.Direction == results.Up)
	ends := []measure.Point{points[0], points[len(points)-1]}
	switch step := math.Abs(ends[0].Value - ends[1].Value); {
	case between != nil:
		ends = between
		if math.Abs(between[0].Value-between[1].Value) <= cmp.Or(a.near[key(t[0].Place)], near) {
			e = 0
		}
	case len(points) > 3 && step < 1e-9: // ε has no effect
		e = 0
	}
	return measure.Rounded(e), list.Map(ends, func(p measure.Point) float64 { return p.Epsilon })
}

// narrow asks for nearer ε where what is not known of the line between two is more
// than half of all else that is not known at a level, and names these mechanisms.
func (a *aligning) narrow(rows []results.Row) (unclear []string, err error) {
	p, err := results.Prepare(results.Run{Name: a.Name, Rows: rows})
	if err != nil {
		return nil, err
	}
	for _, level := range a.levels.At {
		for _, scene := range compare.Align(p, compare.Question{Privacy: a.levels.Quantity}, level) {
			for _, l := range scene.Lines {
				rest := math.Sqrt(max(0, l.Error*l.Error-l.OfLine*l.OfLine))
				if scene.Datasets == 0 && l.Reached && l.OfLine > rest/2 {
					a.near[key(l.Place)] = l.Step / 2
					unclear = append(unclear, l.Name+" on "+results.DatasetTitle(l.Dataset))
				}
			}
		}
	}
	slices.Sort(unclear)
	return slices.Compact(unclear), nil
}
