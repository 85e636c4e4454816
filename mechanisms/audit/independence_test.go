package audit

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// coin is k-ary randomised response over ten words whose noise comes from a
// faulty generator, with the given fault.
type coin struct {
	keep float64
	rng  func(document, token int, seed stream.Seed) *rand.Rand // of a token; nil means the last one
	fail error
}

var coinWords = strings.Fields("a b c d e f g h i j")

func (c *coin) Settings() mechanisms.Settings {
	return mechanisms.Settings{Mechanism: "coin", Variant: mechanisms.External, Epsilon: 1}
}
func (c *coin) Guarantee() mechanisms.Guarantee {
	return mechanisms.Guarantee{Metric: "discrete", Epsilon: 1}
}
func (c *coin) Aligned() bool    { return true }
func (c *coin) Repeatable() bool { return true }

func (c *coin) Rewrite(_ context.Context, documents [][]string, seeds []stream.Seed) ([][]string, error) {
	out := make([][]string, len(documents))
	for i, d := range documents {
		rng := seeds[i].Rand()
		for j, w := range d {
			if r := c.rng(i, j, seeds[0]); r != nil {
				rng = r
			}
			if rng.Float64() >= c.keep {
				w = coinWords[rng.IntN(len(coinWords))]
			}
			out[i] = append(out[i], w)
		}
	}
	return out, c.fail
}

// TestSharedNoiseIsFound requires that every way of sharing is accused and
// fresh noise is not. Each sound rewriter is accused with probability 1e-6 at
// most, one of the twenty with 2e-5 at most; the seeds are fixed.
func TestSharedNoiseIsFound(t *testing.T) {
	t.Parallel()
	fresh := func(int, int, stream.Seed) *rand.Rand { return nil }
	fixed := stream.FromUint64(42)
	for name, c := range map[string]struct {
		rng    func(int, int, stream.Seed) *rand.Rand
		shared string // part of the verdict
	}{
		"fresh": {fresh, ""},
		"batch": {func(_, _ int, first stream.Seed) *rand.Rand { return first.Rand() },
			"words of one document are equal, but"},
		"documents": {func(_, j int, first stream.Seed) *rand.Rand { return first.At(uint64(j)).Rand() },
			"documents of one request are equal, but"},
		"seed": {func(i, j int, _ stream.Seed) *rand.Rand { return fixed.At(uint64(100*i + j)).Rand() },
			"are equal, but"},
	} {
		for seed := range uint64(20) {
			m := &coin{keep: 0.3, rng: c.rng}
			r, err := Independence(context.Background(), m, m, coinWords, Options{Seed: stream.FromUint64(seed)})
			if err != nil {
				t.Fatal(err)
			}
			if r.Shared != (c.shared != "") || !strings.Contains(r.Verdict(), c.shared) {
				t.Errorf("%s: %s", name, r.Verdict())
			}
			if !r.Shared && r.Verdict() != "not refuted" {
				t.Errorf("%s: %s", name, r.Verdict())
			}
		}
	}
	// No noise at all is not reported as sharing but as no noise.
	m := &coin{keep: 1, rng: fresh}
	r, err := Independence(context.Background(), m, m, coinWords, Options{})
	if err != nil || r.Shared || !r.Constant || !strings.Contains(r.Verdict(), "no noise was seen") {
		t.Errorf("%s, %v", r.Verdict(), err)
	}
}

func TestIndependenceGivesErrors(t *testing.T) {
	t.Parallel()
	m := &coin{rng: func(int, int, stream.Seed) *rand.Rand { return nil }, fail: errors.New("dead")}
	if _, err := Independence(context.Background(), m, m, coinWords, Options{}); err == nil || err.Error() != "dead" {
		t.Errorf("%v", err)
	}
	if _, err := Independence(context.Background(), m, m, nil, Options{}); err == nil {
		t.Error("no words are enough")
	}
	if _, err := Independence(context.Background(), m, m, coinWords, Options{Alpha: math.NaN()}); err == nil {
		t.Error("alpha NaN is accepted")
	}
}
