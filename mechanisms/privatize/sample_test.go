package privatize

import (
	"fmt"
	"strings"
	"testing"

	"mldpbench/datasets/table"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// The words that may be names, numbers or addresses are counted, and those of them that
// came out again, in every layout and under every policy.
func TestMarkedWordsThatCameOutAgain(t *testing.T) {
	t.Parallel()
	text := "Cat Dog GOOD Unicorn 3.5 q@x.org R2d2 İdea ½ bad\n"
	identity, err := mechanisms.New(mechanisms.Environment{Space: small(t)}, mechanisms.Settings{Mechanism: "identity",
		Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		options Options
		want    Marked
	}{
		// Cat, Dog, GOOD, İdea are of the vocabulary; Unicorn, 3, 5, q@x.org, R2d2, ½ are not.
		{Options{Policy: mechanisms.Keep}, Marked{Again{6, 6}, Again{4, 4}, Again{1, 1}}},
		{Options{Policy: mechanisms.Drop}, Marked{Again{6, 4}, Again{4, 0}, Again{1, 0}}},
		{Options{Policy: mechanisms.Random}, Marked{Again{6, 4}, Again{4, 0}, Again{1, 0}}},
		{Options{Policy: mechanisms.Random, KeepCase: true}, Marked{Again{6, 4}, Again{4, 0}, Again{1, 0}}},
		{Options{Policy: mechanisms.Keep, Layout: Plain}, Marked{Again{6, 6}, Again{4, 4}, Again{1, 1}}},
		{Options{Policy: mechanisms.Keep, Layout: 20}, Marked{Again{6, 6}, Again{4, 4}, Again{1, 1}}},
		{Options{Policy: mechanisms.Keep, Layout: 2}, Marked{Again{2, 2}, Again{}, Again{}}},
	} {
		c.options.Mechanism = identity
		c.options.Seed = stream.FromUint64(2)
		s := newStream(t, c.options)
		_ = runOn(t, s, strings.NewReader(text), table.Options{})
		if got := s.Summary().Marked; got != c.want {
			t.Errorf("policy %s, case %v, layout %d: %+v, want %+v", c.options.Policy, c.options.KeepCase, c.options.Layout, got,
				c.want)
		}
	}
}

// A sample has each text with words and no other, as it is written; of many texts, each
// with the same probability. Of 40 runs over 2,000 texts, the number of sampled ones among
// the last 500 is binomial with a mean of 5,000 and a standard deviation of at most 62: 6
// of them are passed with a probability of 2e-9.
func TestSample(t *testing.T) {
	t.Parallel()
	var few strings.Builder
	few.WriteString("\n...\n" + strings.Repeat("cat ", sampledBytes/4+1) + "\n")
	for i := range 20 {
		fmt.Fprintf(&few, "cat good%d, idea!\n", i)
	}
	s := newStream(t, Options{Seed: stream.FromUint64(1), Workers: 2})
	out := runOn(t, s, strings.NewReader(few.String()), table.Options{})
	written := strings.Split(out, "\n")[3:]
	sampled := s.Sample()
	if len(sampled) != 20 {
		t.Fatalf("%d texts are sampled, want 20", len(sampled))
	}
	for i, p := range sampled {
		if want := (Pair{fmt.Sprintf("cat good%d, idea!", i), written[i]}); p != want {
			t.Errorf("text %d is sampled as %q, want %q", i, p, want)
		}
	}
	var many strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&many, "cat %d\n", i)
	}
	late := 0
	for seed := range 40 {
		s := newStream(t, Options{Seed: stream.FromUint64(uint64(seed))})
		_ = runOn(t, s, strings.NewReader(many.String()), table.Options{})
		sampled := s.Sample()
		if len(sampled) != sampledTexts {
			t.Fatalf("%d texts are sampled, want %d", len(sampled), sampledTexts)
		}
		for _, p := range sampled {
			var number int
			if _, err := fmt.Sscanf(p.Original, "cat %d", &number); err != nil {
				t.Fatal(err)
			}
			if number >= 1500 {
				late++
			}
		}
	}
	if late < 5000-6*62 || late > 5000+6*62 {
		t.Errorf("%d of the last texts are sampled, want 5000 ± %d", late, 6*62)
	}
}
