package attack_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	_ "mldpbench/examples/recipes/documentattacker" // the templates of CONTRIBUTING are held to the same
	_ "mldpbench/examples/recipes/labelattacker"
	_ "mldpbench/examples/recipes/wordattacker"
	"mldpbench/internal/attacktest"
	"mldpbench/models/attack"
	_ "mldpbench/models/attack/documents"
	_ "mldpbench/models/attack/labels"
	_ "mldpbench/models/attack/words"
	"mldpbench/stream"
)

// few are small sizes.
var few = attacktest.Options(map[string]any{"tokens": 1500, "words": 100, "resamples": 20, "candidates": 10,
	"masked": 200, "test_releases": 2})

// Whatever an attacker is, all of them: on unchanged text he reaches his
// ceiling, which is above his floor, on random text he stays at his floor. sigma
// is the standard deviation of the number on random text; it is five of them
// off with probability 6e-7. Where it is 0 the outcome's own interval counts, of
// level 1 − 1e-6; so it does for all columns of an attacker without a row.
func TestCeilingAndFloor(t *testing.T) {
	t.Parallel()
	base := attacktest.Generated(t)
	base.Options = attacktest.Options(map[string]any{"tokens": 2500, "candidates": 12, "resamples": 50, "level": 1 - 1e-6,
		"masked": 300, "own_releases": 2, "test_releases": 2, "words": 200, "documents": 1000, "hidden": 12, "epochs": 6})
	shorter := *base // for what trains long
	less := &shorter
	less.Corpus = attacktest.Copy(base.Corpus, 400)
	share := 0.5 / math.Sqrt(float64(len(base.Corpus.Test)))
	type row struct {
		s      *attack.Target
		sigmas map[string]float64 // of columns on random text
		within float64            // of the ceiling, on unchanged text; 0: it is reached
	}
	rows := map[string]row{
		"map":                     {base, map[string]float64{"map-em-frequency": 1e-12, "capacity": 1e-12}, 0},
		"averaging":               {base, map[string]float64{"average-1": 0, "average-50": 0}, 0},
		"context":                 {base, map[string]float64{"context-accuracy": 0}, 0},
		"inversion":               {base, map[string]float64{"inversion-1": 0}, 0},
		"attribute-static-svm":    {base, map[string]float64{"attribute-static-svm-accuracy": share}, 0},
		"attribute-adaptive-svm":  {base, map[string]float64{"attribute-adaptive-svm-accuracy": share}, 0.05},
		"attribute-static-lstm":   {less, map[string]float64{"attribute-static-lstm-accuracy": share}, 0},
		"attribute-adaptive-lstm": {less, map[string]float64{"attribute-adaptive-lstm-accuracy": share}, 0},
		"linkage-layout":          {base, nil, 0}, // random words keep their layout
		"linkage-tfidf":           {base, map[string]float64{"linkage-tfidf-p1": 0}, 0},
		"overlap":                 {base, nil, 0},
		// Own releases of unchanged text are copies, which validation weighs
		// otherwise than the text itself.
		"attribute-static-ngrams":   {less, map[string]float64{"attribute-static-ngrams-accuracy": share}, 0},
		"attribute-adaptive-ngrams": {less, map[string]float64{"attribute-adaptive-ngrams-accuracy": share}, 0.05},
		"attribute-public-ngrams":   {less, map[string]float64{"attribute-public-ngrams-accuracy": share}, 0.05},
		"attribute-channel":         {base, map[string]float64{"attribute-channel-accuracy": share}, 0.05},
		// Random words keep their punctuation.
		"attribute-written": {less, nil, 0.05},
		"attribute-surface": {base, nil, 0.05},
		"stacked":           {base, nil, 0.05},
		"linkage-aligned":   {base, map[string]float64{"linkage-aligned-p1": 0}, 0},
		// On random text the model names likely words, which may be rarer than the
		// most frequent one.
		"masked":         {base, nil, 0},
		"unchanged":      {base, nil, 0}, // random words are rarer than the most frequent one, its floor
		"frequency":      {base, map[string]float64{"frequency-accuracy": share}, 0.05},
		"masked-channel": {base, map[string]float64{"masked-channel-accuracy": 0}, 0},
	}
	for _, name := range attack.Names() {
		r, there := rows[name]
		if !there {
			r = row{base, map[string]float64{}, 0}
			d, _ := attack.Find(name)
			for _, c := range d.Columns {
				r.sigmas[c.Name] = 0
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := attacktest.Run(t, name, attacktest.Response(r.s, 1))
			bottom := attacktest.Run(t, name, attacktest.Response(r.s, 0))
			for column, o := range top {
				if math.Abs(o.Value.Estimate-o.Ceiling) > r.within+1e-9 {
					t.Errorf("unchanged text: %s = %v, ceiling %v", column, o.Value, o.Ceiling)
				}
			}
			for column, sigma := range r.sigmas {
				o := bottom[column]
				if sigma == 0 && !(o.Value.Low <= o.Floor && o.Floor <= o.Value.High) || sigma > 0 &&
					math.Abs(o.Value.Estimate-o.Floor) > 5*sigma {
					t.Errorf("random text: %s = %v, floor %v", column, o.Value, o.Floor)
				}
				if best := top[column]; math.Abs(best.Value.Estimate-best.Floor) < 5*sigma+0.05 {
					t.Errorf("%s tells unchanged text, %v, from random words, %v, by too little", column, best.Value,
						o.Value)
				}
			}
			if name == "overlap" {
				for column, o := range bottom {
					if o.Value.Estimate > o.Floor {
						t.Errorf("random text: %s = %v is above that of two different texts, %v", column, o.Value,
							o.Floor)
					}
				}
			}
		})
	}
}

// Context must help where the noise is moderate; each release more must too.
func TestContextAndReleasesHelp(t *testing.T) {
	s := attacktest.Response(attacktest.Generated(t), 0.3)
	s.Options = few
	s.Options.Words, s.Options.Candidates = 600, 20
	context, many := attacktest.Run(t, "context", s)["context-accuracy"].Value, attacktest.Run(t, "averaging", s)
	one, five, fifty := many["average-1"].Value, many["average-5"].Value, many["average-50"].Value
	if context.Low <= one.Estimate || one.High >= five.Low || fifty.Estimate <= 0.99 {
		t.Errorf("one by one %v, in context %v, five releases %v, fifty %v", one, context, five, fifty)
	}
}

// A channel learned from draws must come near the exact one.
func TestLearnedChannel(t *testing.T) {
	exact := attacktest.Response(attacktest.Generated(t), 0.5)
	exact.Options = attacktest.Options(map[string]any{"candidates": 12, "learn_draws": 60, "measure_draws": 20})
	copied := *exact
	learned := &copied
	learned.Channel = nil
	a, b := attacktest.Run(t, "map", exact), attacktest.Run(t, "map", learned)
	t.Logf("E_M %.3f exact, %v learned; capacity %.3f, %v", a["map-em-frequency"].Value.Estimate,
		b["map-em-frequency"].Value, a["capacity"].Value.Estimate, b["capacity"].Value)
	if b["map-em-frequency"].Value.High < a["map-em-frequency"].Value.Estimate ||
		b["map-em-frequency"].Value.Estimate > a["map-em-frequency"].Value.Estimate+0.05 {
		t.Errorf("E_M %v, learned %v", a["map-em-frequency"].Value, b["map-em-frequency"].Value)
	}
	if c := b["capacity"].Value; c.Low > a["capacity"].Value.Estimate || c.High < a["capacity"].Value.Estimate {
		t.Errorf("capacity %v, learned %v", a["capacity"].Value, c)
	}
	c := attacktest.Run(t, "context", exact)["context-accuracy"]
	d := attacktest.Run(t, "context", learned)["context-accuracy"]
	t.Logf("in context: %.3f exact, %.3f learned", c.Value.Estimate, d.Value.Estimate)
	if d.Draws != 60 || d.Value.Estimate < c.Value.Estimate-0.05 {
		t.Errorf("in context: %v, learned %+v", c.Value, d)
	}
}

// Attackers who share the rows of a channel find what each finds alone, with any
// number of workers.
func TestRunAll(t *testing.T) {
	names := []string{"map", "overlap", "context", "averaging", "linkage-tfidf", "linkage-aligned", "masked",
		"masked-channel", "attribute-channel"}
	s := attacktest.Response(attacktest.Generated(t), 0.4)
	s.Options = few
	together, err := attack.RunAll(t.Context(), names, s)
	if err != nil {
		t.Fatal(err)
	}
	var alone []attack.Outcome
	for _, name := range names {
		s := attacktest.Response(attacktest.Generated(t), 0.4)
		s.Options = few
		s.Workers = 7
		found, err := attack.RunAll(t.Context(), []string{name}, s)
		if err != nil {
			t.Fatal(err)
		}
		alone = append(alone, found...)
	}
	if fmt.Sprint(together) != fmt.Sprint(alone) { // a number that is not known equals itself
		t.Errorf("together %v, want %v as alone", together, alone)
	}
}

// An attacker who panics, at once, on a worker or at a row of the channel, lacks what
// it needs, or names what is no column of it, fails alone.
func TestFailuresAreKeptApart(t *testing.T) {
	s := attacktest.Response(attacktest.Generated(t), 0.4)
	s.Options = few
	want, err := attack.RunAll(t.Context(), []string{"map", "linkage-tfidf"}, s)
	if err != nil {
		t.Fatal(err)
	}
	found := func(name string) attack.Definition {
		d, err := attack.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	s.Masked = nil
	for name, d := range map[string]attack.Definition{
		"lacks-a-model": {Needs: []attack.Need{attack.NeedsModel}},
		"names-another": {Start: attack.AtOnce(func(context.Context, *attack.Target) ([]attack.Outcome, error) {
			return []attack.Outcome{{Column: "map"}}, nil
		})},
		"fails-at-once": {Start: func(context.Context, *attack.Target) (attack.Attack, error) { panic("bad weights") }},
		"fails-on-a-worker": {Start: func(ctx context.Context, s *attack.Target) (attack.Attack, error) {
			return attack.Attack{}, s.Parallel(ctx, 9, func(i int) error { return fmt.Errorf("%v", []int{}[i]) })
		}},
		"fails-at-a-row": {Start: func(context.Context, *attack.Target) (attack.Attack, error) {
			return attack.Attack{
				Take:   func(_, x int, row []float64) { row[len(row)+x]++ },
				Finish: func() ([]attack.Outcome, error) { return nil, nil },
			}, nil
		}},
		"fails-after-rows": {Start: func(context.Context, *attack.Target) (attack.Attack, error) {
			return attack.Attack{
				Take:   func(int, int, []float64) {},
				Finish: func() ([]attack.Outcome, error) { panic("no memory") },
			}, nil
		}},
	} {
		d.Name = name
		got, err := attack.Run(t.Context(), []attack.Definition{found("map"), d, found("linkage-tfidf")}, s)
		var failures attack.Failures
		if !errors.As(err, &failures) || len(failures) != 1 || !strings.HasPrefix(err.Error(), "attacker "+name+": ") ||
			strings.Contains(err.Error(), "internal error: ") != strings.HasPrefix(name, "fails") {
			t.Errorf("error = %v, want that of %s alone", err, name)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("beside %s the others found %v, want %v as alone", name, got, want)
		}
	}
}

func TestRunErrors(t *testing.T) {
	s := attacktest.Response(attacktest.Generated(t), 0.5)
	s.Masked = nil
	if _, err := attack.RunAll(t.Context(), []string{"nobody"}, s); err == nil {
		t.Error("an unknown attacker must be an error")
	}
	if _, err := attack.RunAll(t.Context(), []string{"masked"}, s); err == nil {
		t.Error("an attacker without his model must be an error")
	}
	keep := s.Releases.Words
	s.Releases.Words = func(ctx context.Context, documents [][]int32, seed stream.Seed) ([][]int32, error) {
		out, err := keep(ctx, documents, seed)
		out[0] = out[0][:len(out[0])-1]
		return out, err
	}
	// Who needs words at their places says why he has no value; the others read the release.
	got, err := attack.RunAll(t.Context(), []string{"inversion", "attribute-static-svm"}, s)
	if err != nil || len(got) != 2 || !math.IsNaN(got[0].Value.Estimate) ||
		!strings.Contains(got[0].Note, "words must keep their places") || !(got[1].Value.Estimate >= 0) {
		t.Errorf("a dropped word must leave no value, of who needs it: %+v, %v", got, err)
	}
	for want, wrong := range map[string]map[string]any{
		"releases = [2 1]: must be increasing": {"releases": []any{2, 1}}, "releases = []: must be": {"releases": []any{}},
		"releases = [3]: must be increasing, of":      {"releases": []any{3}},
		"candidates = 0: must be a whole number >= 1": {"candidates": 0},
		`unknown parameter "candidate"`:               {"candidate": 5},
	} {
		if _, err := attack.Resolve(wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", wrong, err, want)
		}
	}
}
