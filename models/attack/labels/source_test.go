package labels_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"mldpbench/internal/attacktest"
	"mldpbench/models/attack"
	"mldpbench/models/attack/labels"
	"mldpbench/stream"
)

var sources = []labels.Source{labels.Static, labels.Own, labels.Adaptive, labels.Public}

// learned are the numbers of documents of each training, by the attacker's source.
var (
	mu      sync.Mutex
	learned = map[labels.Source][]int{}
)

func init() {
	for _, from := range sources {
		learn := func(_ context.Context, t *attack.Target, train, validation []attack.Document, _ stream.Seed) (
			labels.Learned, error) {
			mu.Lock()
			defer mu.Unlock()
			learned[from] = append(learned[from], len(train))
			score := func(_ context.Context, documents []attack.Document) ([][]float64, error) {
				return slices.Repeat([][]float64{make([]float64, t.Corpus.PrivateLabels)}, len(documents)), nil
			}
			return labels.Learned{Score: score}, nil
		}
		labels.Register(labels.Attacker{Name: "from-" + string(from), Title: "counted", From: from,
			Learner: labels.Learner{Learn: learn}})
	}
}

// An attacker learns from plain text once, for his ceiling, and then from what he says, once.
func TestSources(t *testing.T) {
	target := attacktest.Response(attacktest.Generated(t), 0.5)
	target.Options = attacktest.Options(map[string]any{"own_releases": 3, "test_releases": 2, "resamples": 10})
	plain := len(target.Corpus.Train)
	own := 3 * plain
	public := own + len(target.Corpus.Public)
	want := map[labels.Source][]int{labels.Static: {plain}, labels.Own: {plain, own}, labels.Adaptive: {plain, own},
		labels.Public: {plain, own, public}}
	for _, from := range sources {
		attacktest.Run(t, "from-"+string(from), target)
	}
	if fmt.Sprint(learned) != fmt.Sprint(want) {
		t.Errorf("learned from %v documents, want %v", learned, want)
	}
}
