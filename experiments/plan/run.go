package plan

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
	"mldpbench/models/attack"
	"mldpbench/results"
)

// work is what the units of a job share: the releases of its repetitions.
type work struct {
	releases map[int]*measure.Release
	left     map[int]int // units
}

// run measures a unit. The first of a job opens the releases of all of them; a
// release is forgotten after its last unit.
func (p *planner) run(ctx context.Context, u *unit, job *engine.Job) (out engine.Output, err error) {
	w, ok := job.Shared.(*work)
	if !ok {
		specs, left, pending := p.specs(job)
		releases, err := measure.Open(ctx, p.lab, specs, u.splits, job.Threads)
		if err != nil {
			return out, err
		}
		for repetition, r := range releases {
			r.Pending = pending[repetition]
		}
		w = &work{releases, left}
		job.Shared = w
	}
	repetition := u.spec.Repetition
	r := w.releases[repetition]
	if w.left[repetition]--; w.left[repetition] == 0 {
		delete(w.releases, repetition)
	}
	query := u.query
	query.Threads = max(1, job.Threads)
	out.Rows, err = u.measurement.Measure(ctx, r, &query)
	var undefined *mechanisms.UndefinedError
	var unreachable *measure.OutOfReach
	switch {
	case errors.As(err, &undefined) || errors.As(err, &unreachable):
		row := r.Row(&query)
		row.Status, row.Reason, row.Promise = results.StatusUndefined, err.Error(), results.NoPromise("")
		out.Rows = []results.Row{row}
	case err != nil:
		return out, fmt.Errorf("measuring %s: %w", u.measurement.Name, err)
	case u.shows():
		out.Examples = r.Examples()
	}
	for i := range out.Rows {
		out.Rows[i].Measurement = u.measurement.String()
	}
	return out, r.DescribeRedrawn(ctx, out.Rows)
}

// shows reports whether the output of a unit holds examples of a text.
func (u *unit) shows() bool { return u.measurement.Name == "text" && u.spec.Repetition == 1 }

// Audit audits each mechanism of a study at each of its ε as the first of its
// releases runs it: on the words of that data set and embedding. Reports are
// passed on with the place by which rows identify the instance. Mechanisms from
// outside are left out: nobody can look into them.
func Audit(ctx context.Context, s *study.Study, l *lab.Lab, o audit.Options,
	each func(spec measure.Spec, fingerprint string, r audit.Report) error) error {
	p, err := newPlanner(s, l)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, u := range p.units {
		spec := u.spec
		name := engine.MakeID(study.Labels(spec.Mechanism), spec.Parameters())
		if spec.IsBaseline() || spec.Mechanism.Mechanism == "" || spec.Mechanism.Epsilon == 0 ||
			spec.Mechanism.Outside != nil || seen[name] {
			continue
		}
		seen[name] = true
		spec.Repetition = max(1, spec.Repetition)
		o.Seed = spec.Root().Derive("audit")
		releases, err := measure.Open(ctx, l, []measure.Spec{spec}, [3]bool{}, 1)
		if err != nil {
			return err
		}
		r := releases[spec.Repetition]
		report, err := auditOne(ctx, r, o)
		if err != nil {
			return fmt.Errorf("audit of %s: %w", &u, err)
		}
		if err := each(spec, r.Space.Fingerprint(), report); err != nil {
			return err
		}
	}
	return nil
}

func auditOne(ctx context.Context, r *measure.Release, o audit.Options) (audit.Report, error) {
	env, err := r.Environment(ctx)
	if err != nil {
		return audit.Report{}, err
	}
	if kept := r.Kept(); len(kept) > 0 {
		if m, err := mechanisms.New(env, r.Mechanism); err == nil {
			return audit.Mechanism(ctx, mechanisms.KeepWords(m, kept), env.Space, o)
		} // an error occurs again below, where it can be reported as a result
	}
	return audit.Run(ctx, env, r.Mechanism, o)
}

// Item is the answer of one measurement on one test document.
type Item struct {
	Task        string           `json:"task,omitempty"`
	Key         string           `json:"key"` // of the row
	Dataset     string           `json:"dataset"`
	Mechanism   string           `json:"mechanism"`
	Variant     string           `json:"variant,omitempty"`
	Parameters  string           `json:"parameters,omitempty"`
	Epsilon     results.Optional `json:"epsilon"`
	Repetition  int              `json:"repetition"`
	Measurement string           `json:"measurement"` // accuracy@1, or an attacker
	Quantity    string           `json:"quantity"`
	Model       string           `json:"model,omitempty"`
	Setting     string           `json:"setting,omitempty"`
	Document    int              `json:"document"` // its row in the source
	Right       bool             `json:"right"`
	// Score is by how much the right answer led the best other one, in runs of
	// tasks; nil of attackers who give an answer and no more.
	Score *float32 `json:"score,omitempty"`
	// SHA256 is that of the private text, or Text the text itself; neither for
	// attackers of a built-in mechanism, who see a release of their own.
	SHA256 string `json:"sha256,omitempty"`
	Text   string `json:"text,omitempty"`
}

// releaseKey identifies the release of a row within a study.
func releaseKey(p results.Place) string {
	return engine.MakeID(p.Dataset, p.Embedding, p.Dimension, p.Mechanism, p.Variant, p.Parameters, p.Epsilon.String(),
		p.Policy, p.Repetition, p.Seed)
}

// Items passes on every answer on a test document that rows of a study have,
// release by release. The texts are made again, the same as in the run.
func Items(ctx context.Context, s *study.Study, l *lab.Lab, rows []results.Row, texts bool,
	each func(Item) error) error {
	p, err := newPlanner(s, l)
	if err != nil {
		return err
	}
	// Several trainings on one text are its repetitions: the first row of a unit
	// says which release that is.
	release := map[string]int{}
	for _, r := range rows {
		if first, ok := release[r.Key]; !ok || r.Repetition < first {
			release[r.Key] = r.Repetition
		}
	}
	by := map[string][]results.Row{}
	for _, r := range rows {
		if r.Right() != nil {
			place := r.Place
			place.Repetition = release[r.Key]
			by[releaseKey(place)] = append(by[releaseKey(place)], r)
		}
	}
	for _, u := range p.units {
		key := releaseKey(u.spec.Place())
		if len(by[key]) == 0 || u.spec.Repetition == 0 {
			continue
		}
		releases, err := measure.Open(ctx, l, []measure.Spec{u.spec}, [3]bool{false, false, true}, 1)
		if err != nil {
			return err
		}
		r := releases[u.spec.Repetition]
		this := []results.Row{r.Row(&measure.Query{})}
		if err := r.DescribeRedrawn(ctx, this); err != nil {
			return err
		}
		var own, others []results.Row // of another scene's part of the data set
		for _, row := range by[key] {
			if row.DatasetFingerprint == this[0].DatasetFingerprint {
				own = append(own, row)
			} else {
				others = append(others, row)
			}
		}
		if by[key] = others; len(own) == 0 {
			continue
		}
		var private [3][][]string
		if !r.ReleasesVectors() {
			if private, err = r.Text(ctx); err != nil {
				return err
			}
		}
		for _, row := range own {
			if err := itemsOf(row, r, private[2], texts, each); err != nil {
				return err
			}
		}
	}
	return nil
}

// itemsOf passes on the answers of one row.
func itemsOf(row results.Row, r *measure.Release, private [][]string, texts bool, each func(Item) error) error {
	right, margins := row.Right(), row.Margins()
	documents := r.Corpus.Test
	// Linkage asks for some of many documents, all others for all.
	asked := attack.LinkedDocuments(len(documents), len(right), r.DataSeed())
	if len(right) != len(asked) {
		return fmt.Errorf("%s of %s: %d answers on %d test documents: the data are not those of the rows", row.Quantity,
			row.Mechanism, len(right), len(documents))
	}
	outside := r.Mechanism.Outside != nil && r.Mechanism.Outside.Text != ""
	for i, of := range asked {
		x := Item{Task: row.Task, Key: row.Key, Dataset: row.Dataset, Mechanism: row.Mechanism, Variant: row.Variant,
			Parameters: row.Parameters, Epsilon: row.Epsilon, Repetition: row.Repetition, Measurement: row.Measurement,
			Quantity: row.Quantity, Model: row.Model, Setting: row.Setting, Document: documents[of].ID, Right: right[i]}
		if margins != nil && !math.IsNaN(float64(margins[i])) && !math.IsInf(float64(margins[i]), 0) {
			x.Score = &margins[i]
		}
		if private != nil && !row.IsBaseline() && row.Setting != study.TrainOnly && (row.Setting != "" || outside) {
			text := strings.Join(private[of], " ")
			if x.Text = text; !texts {
				x.Text, x.SHA256 = "", fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
			}
		}
		if err := each(x); err != nil {
			return err
		}
	}
	return nil
}
