package metrics

import (
	"math"
	"strings"
	"testing"

	"mldpbench/stream"
)

// The example of sacrebleu's README with its score, from sacrebleu's
// test/test_bleu.py (test_corpus_bleu_cases) and the sentence of issue 98 from
// test/test_sentence_bleu.py.
func TestBLEUOfSacrebleu(t *testing.T) {
	hypotheses := []string{"The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."}
	references := [][]string{
		{"The dog bit the man.", "The dog had bit the man."},
		{"It was not unexpected.", "No one was surprised."},
		{"The man bit him first.", "The man had bitten the dog."},
	}
	corpus := func(hypotheses []string) float64 {
		var total tally
		for i, h := range hypotheses {
			total.add(bleuCounts(h, references[i]))
		}
		return total.bleu()
	}
	sentence := bleuCounts("Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;",
		[]string{"producţia de zahăr brut se exprimă în zahăr alb;"}).bleu()
	for _, c := range []struct {
		name      string
		got, want float64
		within    float64
	}{
		{"13a", corpus(hypotheses), 48.530827, 1e-6},
		{"empty texts", corpus([]string{"", "", ""}), 0, 0},
		{"sentence, 13a", sentence, 8.493, 1e-3},
		{"nothing in common", bleuCounts("this is a cat", []string{"okay thanks"}).bleu(), 0, 0},
	} {
		if math.Abs(c.got-c.want) > c.within {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	score, err := BLEU(hypotheses, references, Bootstrap{Resamples: 200, Level: 0.95, Seed: stream.FromUint64(1)})
	if err != nil || math.Abs(score.Estimate-48.530827) > 1e-6 || score.Low >= score.Estimate {
		t.Errorf("%+v, %v", score, err)
	}
}

func TestTokens13a(t *testing.T) {
	for text, want := range map[string]string{
		"He said: \"3.5, or 4-5?\"":   `He said : " 3.5 , or 4 - 5 ? "`,
		"don't stop-gap, U.S. $1,000": "don't stop-gap , U . S . $ 1,000",
		"a &amp; b &lt;c&gt;":         "a & b < c >",
		"line-\nbreak\nhere":          "linebreak here",
		"":                            "",
	} {
		if got := strings.Join(tokens13a(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTextScoreErrors(t *testing.T) {
	if _, err := BLEU([]string{"a"}, nil, Bootstrap{Resamples: 10, Level: 0.95}); err == nil {
		t.Error("a text without references must be an error")
	}
	if _, err := BLEU(nil, nil, Bootstrap{Resamples: 10, Level: 0.95}); err == nil {
		t.Error("no text must be an error")
	}
}

// Any text of four tokens is its own best translation, and nothing panics.
func FuzzTexts(f *testing.F) {
	f.Add("The dog bit the man.", "It wasn't 3.5-4%; \"so\" &amp; <skipped>")
	f.Add("", "\xff\n-\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		if own := bleuCounts(a, []string{a}).bleu(); len(tokens13a(a)) >= bleuOrder && math.Abs(own-100) > 1e-9 {
			t.Errorf("BLEU of %q with itself: %v", a, own)
		}
		if score := bleuCounts(a, []string{b}).bleu(); !(score >= 0 && score <= 100+1e-9) {
			t.Errorf("BLEU of %q and %q: %v", a, b, score)
		}
	})
}
