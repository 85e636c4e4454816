package attack

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/internal/realdata"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// scene is a data set of experiments/studies/attacks.yaml, with all text of its
// source that no split uses.
type scene struct {
	data      *datasets.Dataset
	space     *embeddings.Space
	lexicon   *Lexicon
	base      Situation
	documents [][]string
}

// sceneSeed is that of the study.
var sceneSeed = stream.FromUint64(2025).Derive("attacks")

func openScene(t testing.TB, q, all datasets.Request) *scene {
	t.Helper()
	ctx := context.Background()
	q.Root, all.Root = realdata.Dir(t), realdata.Dir(t)
	q.Seed, all.Seed = sceneSeed.Derive("dataset"), sceneSeed.Derive("dataset")
	d, err := datasets.Load(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := datasets.Load(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	c := &scene{data: d}
	has := map[string]bool{}
	used := map[int]bool{}
	for _, split := range d.Splits() {
		c.documents = append(c.documents, datasets.Tokens(split.Documents)...)
		for _, doc := range split.Documents {
			used[doc.ID] = q.Name == all.Name // numbers of rows of the same source
			for _, w := range doc.Tokens {
				has[w] = true
			}
		}
	}
	if c.space, err = embeddings.Load(ctx, realdata.File(t, "glove.6B.100d.subset.txt.gz"), embeddings.LoadOptions{
		Name: "glove.6B", Keep: func(w string) bool { return has[w] }, Dimension: 100}); err != nil {
		t.Fatal(err)
	}
	c.lexicon = NewLexicon(c.space.Vocabulary)
	read := c.lexicon.Documents
	s := Situation{Known: Known{Train: read(d.Train), Validation: read(d.Validation), Test: read(d.Test),
		Privates: len(d.Privates), Seed: sceneSeed.Derive("data"), Plain: &Memo{}},
		Noise: sceneSeed.Derive("release"), Workers: 2}
	// The pool of news has the items of the splits, whose marker is not cut out.
	own := slices.Concat(wordsOf(s.Train), wordsOf(s.Validation))
	var rest []Document
	for _, split := range pool.Splits() {
		for _, doc := range split.Documents {
			if !used[doc.ID] {
				rest = append(rest, read([]datasets.Document{doc})...)
			}
		}
	}
	free := Unrelated(wordsOf(rest), own, 0.7)
	for _, i := range Unrelated(wordsOf(rest), wordsOf(s.Test), 0.3) {
		if _, is := slices.BinarySearch(free, i); !is {
			continue
		}
		s.Shadow = append(s.Shadow, rest[i].Words)
		if pool.Privates != nil {
			s.Public = append(s.Public, rest[i])
		}
	}
	s.Embedding = c.lexicon.Embedding(c.space)
	s.Options = Options{Candidates: 20, Releases: []int{1, 10}, MeasureDraws: 10}
	c.base = s
	t.Logf("%s: %d + %d + %d documents, %d words, %d public items without near-duplicates, %d labelled", q.Name,
		len(s.Train), len(s.Validation), len(s.Test), c.space.Len(), len(s.Shadow), len(s.Public))
	return c
}

var agencies = sync.OnceValue(func() func(testing.TB) *scene {
	var c *scene
	return func(t testing.TB) *scene {
		if c == nil {
			c = openScene(t, datasets.Request{Name: "agnews-agency", MaxTokens: 40},
				datasets.Request{Name: "agnews", MaxTokens: 40, Sizes: datasets.Sizes{}})
		}
		return c
	}
})

var authors = sync.OnceValue(func() func(testing.TB) *scene {
	var c *scene
	return func(t testing.TB) *scene {
		if c == nil {
			c = openScene(t, datasets.Request{Name: "spooky-authors", Sizes: datasets.Sizes{Train: 2000,
				Validation: 300, Test: 600}}, datasets.Request{Name: "spooky-authors"})
		}
		return c
	}
})

// attacked returns the situation of a mechanism.
func (c *scene) attacked(t testing.TB, mechanism string, epsilon float64) Situation {
	t.Helper()
	parameters := map[string]mechanisms.Parameters{"vickrey": {"t": 0.5}, "mahalanobis": {"lambda": 0.2}}[mechanism]
	m, err := mechanisms.New(mechanisms.Environment{Space: c.space, Documents: c.documents,
		Seed: sceneSeed.Derive("mechanism")}, mechanisms.Settings{Mechanism: mechanism, Epsilon: epsilon,
		Parameters: parameters})
	if err != nil {
		t.Fatal(err)
	}
	s := c.base
	s.Noise = s.Noise.Derive(mechanism, fmt.Sprint(epsilon))
	Attacked(&s, m, mechanisms.Random, c.lexicon)
	return s
}

// Attackers reach what independent programs found on the same documents, less two
// points: a few of the cells that issue 38 states.
func TestLongReach(t *testing.T) {
	realdata.Long(t)
	for _, r := range []struct {
		scene            func() func(testing.TB) *scene
		mechanism        string
		epsilon          float64
		attacker, column string
		wanted           float64
	}{
		{agencies, "tem", 2, "linkage-aligned", "linkage-aligned-p1", 0.970},
		{agencies, "tem", 1, "linkage-aligned", "linkage-aligned-p1", 0.366},
		{agencies, "rank-fix", 8, "linkage-aligned", "linkage-aligned-p1", 0.994},
		{authors, "custext", 4, "attribute-channel", "attribute-channel-accuracy", 0.51},
	} {
		t.Run(fmt.Sprintf("%s/%s/%v", r.attacker, r.mechanism, r.epsilon), func(t *testing.T) {
			o := run(t, r.attacker, r.scene()(t).attacked(t, r.mechanism, r.epsilon))[r.column]
			t.Logf("wanted %.3f, found %.3f [%.3f, %.3f], floor %.3f, ceiling %.3f; %s", r.wanted, o.Value.Estimate,
				o.Value.Low, o.Value.High, o.Floor, o.Ceiling, o.Note)
			if o.Value.Estimate < r.wanted-0.02 {
				t.Errorf("%.3f is below %.3f", o.Value.Estimate, r.wanted)
			}
		})
	}
}
