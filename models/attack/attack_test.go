package attack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mldpbench/internal/check"
	"mldpbench/internal/registry"
	"mldpbench/stream"
)

// few are small sizes.
var few = sizes(map[string]any{"tokens": 1500, "words": 100, "resamples": 20, "candidates": 10, "masked": 200,
	"test_releases": 2})

func sizes(given map[string]any) Options {
	o, err := Resolve(given)
	if err != nil {
		panic(err)
	}
	return o
}

// Whatever an attacker is, all of them: on unchanged text he reaches his
// ceiling, which is above his floor, on random text he stays at his floor. sigma
// is the standard deviation of the number on random text; it is five of them
// off with probability 6e-7. Where it is 0 the outcome's own interval counts, of
// level 1 − 1e-6; so it does for all columns of an attacker without a row.
func TestCeilingAndFloor(t *testing.T) {
	t.Parallel()
	base := situation(t)
	base.Options = sizes(map[string]any{"tokens": 2500, "candidates": 12, "resamples": 50, "level": 1 - 1e-6,
		"masked": 300, "own_releases": 2, "test_releases": 2, "words": 200, "documents": 1000, "hidden": 12, "epochs": 6})
	less := base // for what trains long
	less.Train, less.Plain = base.Train[:400], &Memo{}
	share := 0.5 / math.Sqrt(float64(len(base.Test)))
	type row struct {
		s      Situation
		sigmas map[string]float64 // of columns on random text
		within float64            // of the ceiling, on unchanged text; 0: it is reached
	}
	rows := map[string]row{
		"map":                     {base, map[string]float64{"em-uniform": 1e-12, "em-corpus": 1e-12, "capacity": 1e-12}, 0},
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
		"masked-channel": {base, map[string]float64{"masked-channel-accuracy": 0}, 0},
	}
	for _, name := range Names() {
		r, there := rows[name]
		if !there {
			r = row{base, map[string]float64{}, 0}
			d, _ := Find(name)
			for _, c := range d.Columns {
				r.sigmas[c.Name] = 0
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top, bottom := run(t, name, response(r.s, 1)), run(t, name, response(r.s, 0))
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
	s := response(situation(t), 0.3)
	s.Options = few
	s.Options.Words, s.Options.Candidates = 600, 20
	context, many := run(t, "context", s)["context-accuracy"].Value, run(t, "averaging", s)
	one, five, fifty := many["average-1"].Value, many["average-5"].Value, many["average-50"].Value
	if context.Low <= one.Estimate || one.High >= five.Low || fifty.Estimate <= 0.99 {
		t.Errorf("one by one %v, in context %v, five releases %v, fifty %v", one, context, five, fifty)
	}
}

// A channel learned from draws must come near the exact one.
func TestLearnedChannel(t *testing.T) {
	exact := response(situation(t), 0.5)
	exact.Options = sizes(map[string]any{"candidates": 12, "learn_draws": 60, "measure_draws": 20})
	learned := exact
	learned.Channel = nil
	a, b := run(t, "map", exact), run(t, "map", learned)
	t.Logf("E_M %.3f exact, %v learned; capacity %.3f, %v", a["em-uniform"].Value.Estimate, b["em-uniform"].Value,
		a["capacity"].Value.Estimate, b["capacity"].Value)
	if b["em-uniform"].Value.High < a["em-uniform"].Value.Estimate ||
		b["em-uniform"].Value.Estimate > a["em-uniform"].Value.Estimate+0.05 {
		t.Errorf("E_M %v, learned %v", a["em-uniform"].Value, b["em-uniform"].Value)
	}
	if c := b["capacity"].Value; c.Low > a["capacity"].Value.Estimate || c.High < a["capacity"].Value.Estimate {
		t.Errorf("capacity %v, learned %v", a["capacity"].Value, c)
	}
	c, d := run(t, "context", exact)["context-accuracy"], run(t, "context", learned)["context-accuracy"]
	t.Logf("in context: %.3f exact, %.3f learned", c.Value.Estimate, d.Value.Estimate)
	if d.Draws != 60 || d.Value.Estimate < c.Value.Estimate-0.05 {
		t.Errorf("in context: %v, learned %+v", c.Value, d)
	}
}

// Attackers who share the rows of a channel find what each finds alone, with any
// number of workers.
func TestRunAll(t *testing.T) {
	s := response(situation(t), 0.4)
	s.Options = few
	names := []string{"map", "overlap", "context", "averaging", "linkage-tfidf", "linkage-aligned", "masked",
		"masked-channel", "attribute-channel"}
	together, err := RunAll(t.Context(), names, s)
	if err != nil {
		t.Fatal(err)
	}
	s.Workers = 7
	var alone []Outcome
	for _, name := range names {
		list, err := RunAll(t.Context(), []string{name}, s)
		if err != nil {
			t.Fatal(err)
		}
		alone = append(alone, list...)
	}
	if fmt.Sprint(together) != fmt.Sprint(alone) { // a number that is not known equals itself
		t.Errorf("%v together, %v alone", together, alone)
	}
}

// An attacker who panics, at once, on a worker or at a row of the channel, lacks what
// it needs, or names what is no column of it, fails alone.
func TestFailuresAreKeptApart(t *testing.T) {
	s := response(situation(t), 0.4)
	s.Options = few
	want, err := RunAll(t.Context(), []string{"map", "linkage-tfidf"}, s)
	if err != nil {
		t.Fatal(err)
	}
	registered := definitions
	defer func() { definitions = registered }()
	definitions = registry.New[Definition]("attacker")
	for _, d := range registered.All() {
		Register(d)
	}
	s.Masked = nil
	for name, d := range map[string]Definition{
		"lacks-a-model": {Needs: []Need{NeedsModel}},
		"names-another": {Run: func(context.Context, *Situation) ([]Outcome, error) {
			return []Outcome{{Column: "map"}}, nil
		}},
		"fails-at-once": {Run: func(context.Context, *Situation) ([]Outcome, error) { panic("bad weights") }},
		"fails-on-a-worker": {Run: func(ctx context.Context, s *Situation) ([]Outcome, error) {
			return nil, s.parallel(ctx, 9, func(i int) error { return fmt.Errorf("%v", []int{}[i]) })
		}},
		"fails-at-a-row": {Run: func(_ context.Context, s *Situation) ([]Outcome, error) {
			return nil, s.rows(func(_, x int, row []float64) { row[len(row)+x]++ })
		}},
		"fails-after-rows": {Run: func(_ context.Context, s *Situation) ([]Outcome, error) {
			if err := s.rows(func(int, int, []float64) {}); err != nil {
				return nil, err
			}
			panic("no memory")
		}},
	} {
		d.Name = name
		Register(d)
		got, err := RunAll(t.Context(), []string{"map", name, "linkage-tfidf"}, s)
		var failures Failures
		if !errors.As(err, &failures) || len(failures) != 1 || !strings.HasPrefix(err.Error(), "attacker "+name+": ") ||
			strings.Contains(err.Error(), "internal error: ") != strings.HasPrefix(name, "fails") {
			t.Errorf("%s: %v", name, err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: the others found %v, alone %v", name, got, want)
		}
	}
}

func TestRunErrors(t *testing.T) {
	s := response(situation(t), 0.5)
	s.Masked = nil
	if _, err := RunAll(t.Context(), []string{"nobody"}, s); err == nil {
		t.Error("an unknown attacker must be an error")
	}
	if _, err := RunAll(t.Context(), []string{"masked"}, s); err == nil {
		t.Error("an attacker without his model must be an error")
	}
	keep := s.Release
	s.Release = func(ctx context.Context, documents [][]int32, seed stream.Seed) ([][]int32, error) {
		out, err := keep(ctx, documents, seed)
		out[0] = out[0][:len(out[0])-1]
		return out, err
	}
	// Who needs words at their places says why he has no value; the others read the release.
	got, err := RunAll(t.Context(), []string{"inversion", "attribute-static-svm"}, s)
	if err != nil || len(got) != 2 || !math.IsNaN(got[0].Value.Estimate) ||
		!strings.Contains(got[0].Note, "words must keep their places") || !(got[1].Value.Estimate >= 0) {
		t.Errorf("a dropped word must leave no value, of who needs it: %+v, %v", got, err)
	}
	for want, wrong := range map[string]map[string]any{
		"releases = [2 1]: must be increasing": {"releases": []any{2, 1}}, "releases = []: must be": {"releases": []any{}},
		"releases = [3]: must be increasing, of": {"releases": []any{3}},
		"candidates = 0: must be >= 1":           {"candidates": 0}, `unknown parameter "candidate"`: {"candidate": 5},
	} {
		if _, err := Resolve(wrong); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", wrong, err, want)
		}
	}
}

// A failure of one attacker, an error or a panic, is not that of the next who
// asks for the same; concurrent ones make a value once.
func TestOnceKeepsNoFailure(t *testing.T) {
	var m Memo
	for _, fail := range []func() (int, error){
		func() (int, error) { return 0, errors.New("cancelled") },
		func() (int, error) { panic("of one attacker") },
	} {
		if err := check.Panics(func() error { _, err := once(&m, "x", fail); return err }); err == nil {
			t.Fatal("no error")
		}
	}
	var made atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if v, err := once(&m, "x", func() (int, error) { return int(made.Add(1)), nil }); v != 1 || err != nil {
				t.Errorf("%d, %v", v, err)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("made %d times", made.Load())
	}
}
