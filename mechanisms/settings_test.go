package mechanisms

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

func TestBadParametersAreRefused(t *testing.T) {
	s := spacetest.Gaussian(t, 8, 6, 1, 20)
	for name, all := range map[string][]Parameters{
		"vickrey":      {{"t": 1.5}},
		"vickrey-k":    {{"t": []float64{-1}}},
		"kth":          {{"k": 2.5}},
		"mahalanobis":  {{"lambda": -0.1}},
		"tem":          {{"gamma": -1.0}},
		"santext":      {{"gamma": 1.0}},
		"privemb":      {{"beta": 1.0}},
		"diffractor":   {{"form": "tem"}, {"gamma": 6.0}, {"lists": 2.0}},
		"custext":      {{"k": 0.0}, {"k": -1.0}, {"k": 2.5}},
		"santext-plus": {{"w": 0.0}, {"w": 1.5}, {"p": -0.1}, {"w": 0.01}},
		"rank-fix":     {{"c": 0.0}, {"base": "vickrey"}},
	} {
		for _, p := range all {
			set := Settings{Mechanism: name, Epsilon: 1, Parameters: p}
			_, errNew := New(environment(s), set)
			_, errVector := NewVector(environment(s), set)
			if errNew == nil || errVector == nil {
				t.Errorf("%s: %s is accepted", name, p)
			}
		}
	}
	for name, env := range map[string]Environment{"cmp": {}, "syntf": {Space: s}} {
		if _, err := New(env, Settings{Mechanism: name, Epsilon: 1}); err == nil {
			t.Errorf("%s: an empty environment is accepted", name)
		}
	}
}

func TestParseParameters(t *testing.T) {
	for _, c := range []struct{ mechanism, text, want string }{
		{"tem", "gamma=0.5", "gamma=0.5"},
		{"tem", "gamma=theorem3", "gamma=theorem3"},
		{"vickrey-k", "t=1,0", "t=[1,0]"},
		{"vickrey-k", "t=[1, 0.5]", "t=[1,0.5]"},
		{"vickrey-k", "t=2", "t=[2]"},
		{"kth", "k=3", "k=3"},
		{"cmp", "t=1", ""}, {"kth", "k=many", ""}, {"tem", "beta=x", ""}, {"vickrey", "t", ""}, {"vickrey-k", "t=[1,x]", ""},
		{"nothing", "t=1", ""}, {"santext", "=", ""}, {"kth", "k=1 & k=2", ""}, // refused
	} {
		p, err := ParseParameters(c.mechanism, strings.Split(c.text, " & "))
		if p.String() != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %s: %q, %v; want %q", c.mechanism, c.text, p, err, c.want)
		}
	}
}

// Every mechanism has a different place in figures.
func TestOrder(t *testing.T) {
	last := 0
	for _, d := range Ordered() {
		if d.Order <= last {
			t.Errorf("%s: order %d after %d", d.Name, d.Order, last)
		}
		last = d.Order
	}
}

// failing is a command that dies.
type failing struct{ Rewriter }

func (failing) Settings() Settings   { return Settings{Mechanism: "dead", Variant: External, Epsilon: 1} }
func (failing) Guarantee() Guarantee { return Guarantee{} }
func (failing) Aligned() bool        { return true }
func (failing) Rewrite(context.Context, [][]string, []stream.Seed) ([][]string, error) {
	return nil, context.DeadlineExceeded
}

// A command that fails is an error of every door, and of no other call.
func TestErrorsAreReturned(t *testing.T) {
	s := spacetest.Gaussian(t, 8, 6, 1, 20)
	m, err := WordByWord(failing{}, s)
	if err != nil {
		t.Fatal(err)
	}
	words := []WordID{1, 2}
	for range 2 {
		if err := m.Privatize(ctx, words, words, rand.New(rand.NewPCG(1, 2))); err == nil {
			t.Error("Privatize has no error")
		}
	}
	if _, err := textOf(ctx, m, Keep, [][]string{{"w1"}}, stream.FromUint64(1), 1); err == nil {
		t.Error("Text has no error")
	}
	if _, err := Outputs(ctx, m, 1, 10, stream.FromUint64(1)); err == nil {
		t.Error("Outputs has no error")
	}
	if out, err := textOf(ctx, m, Keep, [][]string{{}}, stream.FromUint64(1), 1); err != nil || len(out) != 1 {
		t.Errorf("nothing to do: %q, %v", out, err)
	}
	if _, err := m.At(2); err == nil {
		t.Error("a command of one ε has another")
	}
}
