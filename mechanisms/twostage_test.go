package mechanisms

import (
	"slices"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// A word of each class is moved as by CMP at the ε of its class, with the same noise; and
// a text of both classes keeps the places of its words.
func TestTwoStageIsCMPInEachClass(t *testing.T) {
	s := spacetest.Gaussian(t, 50, 4, 1, 65)
	env := Environment{Space: s}
	for i := range WordID(50) { // the first half of the words is frequent
		if i < 25 {
			env.Documents = append(env.Documents, []string{s.Vocabulary.Word(i)})
		}
	}
	m := mustNew(t, env, Settings{Mechanism: "two-stage", Epsilon: 4, Parameters: Parameters{"ratio": 0.25}})
	for word, epsilon := range map[WordID]float64{3: 4, 30: 1} {
		cmp := mustNew(t, env, Settings{Mechanism: "cmp", Epsilon: epsilon})
		seed := stream.FromUint64(66).At(uint64(word))
		got, want := sample(m, word, 500, seed), sample(cmp, word, 500, seed)
		if !slices.Equal(got, want) {
			t.Errorf("word %d at ε = %v: outputs %v, want those of CMP %v", word, epsilon, got, want)
		}
	}
	g := m.Guarantee()
	if !g.Promises(3, 4) || !g.Promises(30, 40) || g.Promises(3, 30) || g.EuclideanEpsilon != 0 {
		t.Errorf("guarantee %s: want it between words of one class", g)
	}
	certain := mustNew(t, env, Settings{Mechanism: "two-stage", Epsilon: 1e6})
	src := []WordID{30, 3, 31, 4, 5, 32}
	dst := make([]WordID, len(src))
	if err := certain.Privatize(ctx, dst, src, stream.FromUint64(67).Rand()); err != nil || !slices.Equal(dst, src) {
		t.Errorf("at ε = 1e6 %v becomes %v, %v; want it unchanged", src, dst, err)
	}
	for _, p := range []Parameters{{"ratio": 1.0}, {"w": 1.0}} {
		all := mustNew(t, env, Settings{Mechanism: "two-stage", Epsilon: 4, Parameters: p}).Guarantee()
		if !all.Promises(3, 30) || all.EuclideanEpsilon != 4 {
			t.Errorf("%s: guarantee %s, want it between any two words", p, all)
		}
	}
}
