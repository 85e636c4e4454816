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
	corpus := func(tokens func(string) []string, hypotheses []string) float64 {
		total := make(tally, 2+2*bleuOrder)
		for i, h := range hypotheses {
			for j, v := range bleuCounts(tokens)(h, references[i]) {
				total[j] += v
			}
		}
		return bleu(total, false)
	}
	sentence := func(tokens func(string) []string) float64 {
		return bleu(bleuCounts(tokens)("Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;",
			[]string{"producţia de zahăr brut se exprimă în zahăr alb;"}), true)
	}
	for _, c := range []struct {
		name      string
		got, want float64
		within    float64
	}{
		{"13a", corpus(tokens13a, hypotheses), 48.530827, 1e-6},
		{"white space", corpus(strings.Fields, hypotheses), 49.1919566, 1e-6},
		{"empty texts", corpus(tokens13a, []string{"", "", ""}), 0, 0},
		{"sentence, 13a", sentence(tokens13a), 8.493, 1e-3},
		{"sentence, white space", sentence(strings.Fields), 7.347, 1e-3},
		{"nothing in common", bleu(bleuCounts(tokens13a)("this is a cat", []string{"okay thanks"}), true), 0, 0},
	} {
		if math.Abs(c.got-c.want) > c.within {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	score, err := BLEU(hypotheses, references, 200, 0.95, stream.FromUint64(1))
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

// From sacrebleu's test/test_chrf.py, with β = 3: test_cases_effective_order and
// test_cases_keep_whitespace.
func TestTextScoreErrors(t *testing.T) {
	seed := stream.FromUint64(1)
	if _, err := BLEU([]string{"a"}, nil, 10, 0.95, seed); err == nil {
		t.Error("a text without references must be an error")
	}
	if _, err := BLEU([]string{"a"}, [][]string{{}}, 10, 0.95, seed); err == nil {
		t.Error("a text with an empty list of references must be an error")
	}
	if _, err := BLEU(nil, nil, 10, 0.95, seed); err == nil {
		t.Error("no text must be an error")
	}
}

// Any text is its own best translation, and nothing panics.
func FuzzTexts(f *testing.F) {
	f.Add("The dog bit the man.", "It wasn't 3.5-4%; \"so\" &amp; <skipped>")
	f.Add("", "\xff\n-\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		if own := bleu(bleuCounts(tokens13a)(a, []string{a}), true); len(tokens13a(a)) > 0 && math.Abs(own-100) > 1e-9 {
			t.Errorf("BLEU of %q with itself: %v", a, own)
		}
		if score := bleu(bleuCounts(tokens13a)(a, []string{b}), true); !(score >= 0 && score <= 100+1e-9) {
			t.Errorf("BLEU of %q and %q: %v", a, b, score)
		}
	})
}
