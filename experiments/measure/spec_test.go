package measure

import (
	"testing"

	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// The text of a study with the streams of attacks is that of its records: names of
// streams are part of a result.
func TestStreamsOfAttacks(t *testing.T) {
	t.Parallel()
	m := mechanisms.Settings{Mechanism: "k-rr", Variant: "proved", Epsilon: 8}
	s := &Spec{Seed: 2025, Streams: study.Attacks, Repetition: 2, Mechanism: m}
	root := stream.FromUint64(2025).Derive("attacks")
	if want := root.Derive(append([]string{"private"}, study.Labels(m)...)...).Derive("text"); s.TextSeed() != want {
		t.Error("the text is drawn from another stream")
	}
	if s.ModelSeed(Model{}, "") != root.Derive("model").At(1).Derive("target") {
		t.Error("the classifier starts from another stream")
	}
}
