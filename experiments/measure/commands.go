package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/memo"
	"mldpbench/mechanisms/external"
	"mldpbench/models/attack"
	"mldpbench/models/attack/labels"
	"mldpbench/results"
	"mldpbench/results/quantity"
	"mldpbench/stream"
)

// commandOptions are the options of a command. What it is made of, its files
// and its hello are fingerprints.
type commandOptions struct {
	Name    string
	Attack  *attackOptions    `json:",omitempty"` // of attackers
	Command study.CommandSpec `json:"-"`
}

// Commands are attackers of the private label, and measurements of two texts.
func init() {
	Register(Measurement{
		Name:    "attacker",
		Version: 3,
		Asked: func(s *study.Study, scene *study.Scene) (any, bool) {
			var all Several
			for _, c := range scene.Attackers {
				if len(c.Command) > 0 {
					all = append(all, &commandOptions{c.Name, newAttackOptions(scene), c})
				}
			}
			return all, len(all) > 0
		},
		Needs:   needsOfCommand(external.AttackerRole),
		Measure: attackWithCommand,
	})
	Register(Measurement{
		Name:    "measured",
		Version: 1,
		Setting: true,
		Metric: study.Metric{
			Key: "commands",
			Doc: "measurements that are commands, with the keys of attackers",
			Options: map[string]string{
				"[].name":    "in rows and tables",
				"[].command": "program and arguments; no shell is run",
			},
			New:   func() any { return &[]study.CommandSpec{} },
			Check: checkCommands,
		},
		Asked: func(_ *study.Study, scene *study.Scene) (any, bool) {
			list, ok := scene.Metrics["commands"].(*[]study.CommandSpec)
			if !ok {
				return nil, false
			}
			var all Several
			for _, c := range *list {
				all = append(all, &commandOptions{Name: c.Name, Command: c})
			}
			return all, len(all) > 0
		},
		Needs:   needsOfCommand(external.MeasurementRole),
		Measure: measureWithCommand,
	})
}

func needsOfCommand(role external.Role) func(*Spec, *Query) []lab.Resource {
	return func(_ *Spec, q *Query) []lab.Resource {
		return []lab.Resource{lab.OfCommand(q.Options.(*commandOptions).Command, role)}
	}
}

// String is the name of the command, in names of units.
func (o *commandOptions) String() string { return o.Name }

func checkCommands(options any, _ *study.Design, at study.At) error {
	list := *options.(*[]study.CommandSpec)
	for i, c := range list {
		if err := c.Check(); err != nil {
			return at(err, "[%d]", i)
		}
		if slices.Contains(study.AttackerNames(list[:i]), c.Name) {
			return at(fmt.Errorf("measurement %q is given twice", c.Name), "[%d]", i)
		}
	}
	return nil
}

// attackWithCommand is an adaptive attacker of the private label whose learning
// is a command's.
func attackWithCommand(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o := q.Options.(*commandOptions)
	c, err := r.Lab.Command(ctx, o.Command, external.AttackerRole)
	if err != nil {
		return nil, err
	}
	if len(r.Corpus.Privates) < 2 {
		return nil, fmt.Errorf("attacker %s: data set %s has no private label", o.Name, r.Dataset.Name)
	}
	attacked := *q
	attacked.Options = o.Attack
	t, err := r.target(ctx, &attacked)
	if err != nil {
		return nil, err
	}
	classes := len(r.Corpus.Privates)
	outcomes, err := labels.RunCommand(ctx, labels.Command{
		Name: o.Name,
		Key:  c.Key,
		Find: func(ctx context.Context, train []string, known []int, test []string, seed stream.Seed) ([]int, error) {
			return c.Attack(ctx, train, known, test, classes, seed)
		},
	}, t)
	if err != nil {
		return nil, err
	}
	var rows []results.Row
	for _, x := range outcomes {
		x.Column = quantity.OfAttacker(o.Name)
		row := attackedRow(r.Row(q), x)
		if x.Items != nil {
			row.Detail = listed(list.Map(x.Items, func(item attack.Item) float64 {
				return item.Right
			}))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// measureWithCommand is the mean of a command's number over the documents of a
// setting; what it is for documents that were not changed is the ceiling.
func measureWithCommand(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o := q.Options.(*commandOptions)
	c, err := r.Lab.Command(ctx, o.Command, external.MeasurementRole)
	if err != nil {
		return nil, err
	}
	text, err := r.Compare(ctx, q.Setting)
	if err != nil {
		return nil, err
	}
	before := list.Map(text.Before, joined)
	key := engine.MakeID("unchanged", c.Key, r.Corpus.Fingerprint, r.Sample(), q.Setting)
	ceiling, err := memo.Once(&r.Lab.Shared, key, func() ([]float64, error) {
		return c.Compare(ctx, before, before)
	})
	if err != nil {
		return nil, fmt.Errorf("%s of unchanged text: %w", o.Name, err)
	}
	values, err := c.Compare(ctx, before, list.Map(text.After, joined))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	if len(values) == 0 {
		return nil, errors.New("no documents")
	}
	m := meanOf(values)
	m.Ceiling = meanOf(ceiling).Value
	m.Detail = listed(values)
	m.Note = strings.TrimSpace(c.Hello.Title + " " + c.Hello.Unit)
	return []results.Row{r.Row(q).Of(quantity.OfMeasurement(o.Name, c.Hello.Better), m)}, nil
}

// listed are the numbers of the items, in the order of the documents.
func listed(values []float64) string {
	return joined(list.Map(values, func(v float64) string {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}))
}
