package experiments

import (
	"context"

	"mldpbench/internal/stats"
	"mldpbench/mechanisms/privatize"
	"mldpbench/models/attack"
	"mldpbench/stream"
)

// foundByWords returns the share of texts that are found among the originals of all by
// their words, with its 95% interval: the attacker linkage-tfidf of mldp evaluate. wordsOf
// returns the words of a text.
func foundByWords(ctx context.Context, texts []privatize.Pair,
	wordsOf func(text string) []string) (stats.Interval, error) {
	ids := map[string]int32{}
	read := func(text string) []int32 {
		var words []int32
		for _, w := range wordsOf(text) {
			id, met := ids[w]
			if !met {
				id = int32(len(ids))
				ids[w] = id
			}
			words = append(words, id)
		}
		return words
	}
	var originals []attack.Document
	var written [][]int32
	for _, t := range texts {
		originals = append(originals, attack.Document{Words: read(t.Original)})
		written = append(written, read(t.Written))
	}
	options, err := attack.Resolve(map[string]any{"documents": len(texts)})
	if err != nil {
		return stats.Unknown(), err
	}
	releases := &attack.Releases{Single: true}
	releases.Words = func(context.Context, [][]int32, stream.Seed) ([][]int32, error) {
		return written, nil
	}
	t := &attack.Target{
		Corpus:   &attack.Corpus{Test: originals},
		Words:    attack.Words{Count: len(ids)},
		Releases: releases,
		Options:  options,
	}
	outcomes, err := attack.RunAll(ctx, []string{"linkage-tfidf"}, t)
	if err != nil {
		return stats.Unknown(), err
	}
	return outcomes[0].Value, nil
}
