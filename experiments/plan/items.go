package plan

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/results"
)

// Item is the answer of one measurement on one test document.
type Item struct {
	Task        string        `json:"task,omitempty"`
	Key         string        `json:"key"` // of the row
	Dataset     string        `json:"dataset"`
	Mechanism   string        `json:"mechanism"`
	Variant     string        `json:"variant,omitempty"`
	Parameters  string        `json:"parameters,omitempty"`
	Epsilon     results.Float `json:"epsilon"`
	Repetition  int           `json:"repetition"`
	Measurement string        `json:"measurement"` // accuracy@1, or an attacker
	Quantity    string        `json:"quantity"`
	Model       string        `json:"model,omitempty"`
	Setting     string        `json:"setting,omitempty"`
	Document    int           `json:"document"` // its row in the source
	Right       bool          `json:"right"`
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
	by := map[string][]results.Row{}
	for _, r := range rows {
		if r.Right() != nil {
			by[releaseKey(r.Place)] = append(by[releaseKey(r.Place)], r)
		}
	}
	for _, u := range p.units {
		key := releaseKey(u.spec.Place())
		own := by[key]
		if len(own) == 0 || u.spec.Repetition == 0 {
			continue
		}
		delete(by, key)
		releases, err := measure.Open(ctx, l, []measure.Spec{u.spec}, [3]bool{false, false, true}, 1)
		if err != nil {
			return err
		}
		r := releases[u.spec.Repetition]
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
	right := row.Right()
	documents := r.Corpus.Test
	if len(right) != len(documents) {
		return fmt.Errorf("%s of %s: %d answers on %d test documents: the data are not those of the rows", row.Quantity,
			row.Mechanism, len(right), len(documents))
	}
	outside := r.Mechanism.Outside != nil && r.Mechanism.Outside.Text != ""
	for i, d := range documents {
		x := Item{Task: row.Task, Key: row.Key, Dataset: row.Dataset, Mechanism: row.Mechanism, Variant: row.Variant,
			Parameters: row.Parameters, Epsilon: row.Epsilon, Repetition: row.Repetition, Measurement: row.Measurement,
			Quantity: row.Quantity, Model: row.Model, Setting: row.Setting, Document: d.ID, Right: right[i]}
		if private != nil && !row.IsBaseline() && row.Setting != study.TrainOnly && (row.Setting != "" || outside) {
			text := strings.Join(private[i], " ")
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
