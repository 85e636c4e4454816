package documents

import (
	"context"
	"strings"
	"testing"

	"mldpbench/internal/attacktest"
	"mldpbench/internal/list"
	"mldpbench/models/attack"
	"mldpbench/stream"
)

// Texts are found by what stands between their words where that is copied, by their
// number of words where nothing else is, and by nothing where all have one length.
func TestLinkageByLayout(t *testing.T) {
	t.Parallel()
	rng := stream.FromUint64(3).Rand()
	words := func(n int, all ...string) (out []string) {
		for range n {
			out = append(out, all[rng.IntN(len(all))])
		}
		return out
	}
	var documents []attack.Document
	for range 100 {
		text := ""
		for range 20 + rng.IntN(20) {
			text += words(1, "the", "Reuters", "oil-price", "it's", "2004", "said")[0] + words(1, " ", " ", " ", ", ", ". ")[0]
		}
		documents = append(documents, attack.Document{Text: text})
	}
	corpus := &attack.Corpus{Test: documents, Seed: stream.FromUint64(1)}
	for _, c := range []struct {
		name        string
		write       func(text string) string
		keep, lower [2]float64 // least and most
	}{
		{"as written", func(text string) string {
			return aWord.ReplaceAllStringFunc(text, func(w string) string {
				out := words(1, "cat", "u.s.", "don't", "a-b")[0]
				if w == "Reuters" {
					out = strings.ToUpper(out[:1]) + out[1:]
				}
				return out
			})
		}, [2]float64{0.98, 1}, [2]float64{0.9, 1}},
		{"plain", func(text string) string {
			return strings.Join(words(len(strings.Fields(text)), "cat", "dog"), " ")
		}, [2]float64{0.05, 0.3}, [2]float64{0.05, 0.3}},
		{"fixed", func(string) string { return strings.Join(words(30, "cat", "dog"), " ") }, [2]float64{0, 0.05},
			[2]float64{0, 0.05}},
	} {
		write := func(_ context.Context, texts []string, _ stream.Seed) ([]string, error) {
			return list.Map(texts, c.write), nil
		}
		s := &attack.Target{Corpus: corpus, Releases: &attack.Releases{Texts: write}, Options: attacktest.Options(nil)}
		got := attacktest.Run(t, "linkage-layout", s)
		keep, lower := got["linkage-layout-p1"].Value.Estimate, got["linkage-layout-lower-p1"].Value.Estimate
		if keep < c.keep[0] || keep > c.keep[1] || lower < c.lower[0] || lower > c.lower[1] {
			t.Errorf("%s: found %v with capitals, %v without", c.name, keep, lower)
		}
	}
}
