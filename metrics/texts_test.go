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
func TestChrFOfSacrebleu(t *testing.T) {
	for _, c := range []struct {
		hypotheses, references []string
		space                  bool
		want                   float64
	}{
		{[]string{"a"}, []string{"a"}, false, 100},
		{[]string{""}, []string{"reference"}, false, 0},
		{[]string{"a b c"}, []string{"a b c"}, false, 100},
		{[]string{"a b c"}, []string{"abc"}, false, 100},
		{[]string{""}, []string{"c"}, false, 0},
		{[]string{"a", "b"}, []string{"a", "c"}, false, 50},
		{[]string{"aa"}, []string{"ab"}, false, 25},
		{[]string{"Die Beziehung zwischen Obama und Netanjahu ist nicht gerade freundlich."},
			[]string{"Das Verhältnis zwischen Obama und Netanyahu ist nicht gerade freundschaftlich."}, true, 67.3481606},
		{[]string{"risk assessment must be made of those who are qualified and expertise in the sector - these are " +
			"the scientists ."}, []string{"risk assessment has to be undertaken by those who are qualified and expert " +
			"in that area - that is the scientists ."}, true, 65.2414427},
	} {
		total := make(tally, 3*chrFOrder)
		for i, h := range c.hypotheses {
			for j, v := range chrFCounts(3, c.space)(h, c.references[i:i+1]) {
				total[j] += v
			}
		}
		if got := chrF(total, 3); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%q: %v, want %v", c.hypotheses, got, c.want)
		}
	}
	// By hand, β = 2: "ab" against "ac" has precision and recall ½ of single
	// characters and 0 of pairs: F of ¼ and ¼.
	score, err := ChrF([]string{"a b"}, [][]string{{"a c"}}, 10, 0.95, stream.FromUint64(1))
	if err != nil || math.Abs(score.Estimate-25) > 1e-9 {
		t.Errorf("%+v, %v", score, err)
	}
	// "abc" against "ab": P = (2/3 + 1/2)/2, R = (1 + 1)/2 over the orders of both.
	score, err = ChrF([]string{"abc"}, [][]string{{"ab"}}, 10, 0.95, stream.FromUint64(1))
	p, r := (2.0/3+0.5)/2, 1.0
	if want := 100 * 5 * p * r / (4*p + r); err != nil || math.Abs(score.Estimate-want) > 1e-9 {
		t.Errorf("%+v, want %v, %v", score, want, err)
	}
}

// From rouge-score's rouge_scorer_test.py (testRougeLConsecutive,
// testRougeLNonConsecutive, testRougeEmpty), ×100, and its example of words that
// are no words.
func TestRougeLOfRougeScore(t *testing.T) {
	for _, c := range []struct {
		hypothesis, reference string
		want                  float64
	}{
		{"testing one", "testing one two", 80},
		{"testing two", "testing one two", 80},
		{"", "testing one two", 0},
		{"/", "w1 w2 w3 w4 w5", 0},
		{"W1-w2, W3!", "w1 w2 w3", 100},
		// By hand: the longest common subsequence is the, dog, man.
		{"the man bit the dog man", "the dog saw the man", 100 * 2 * 3.0 / 11},
	} {
		if got := rougeL(c.hypothesis, c.reference); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%q, %q: %v, want %v", c.hypothesis, c.reference, got, c.want)
		}
	}
	if v, err := RougeL([]string{"a", "b"}, []string{"a", "c"}); err != nil || v.Estimate != 50 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestTextScoreErrors(t *testing.T) {
	seed := stream.FromUint64(1)
	if _, err := BLEU([]string{"a"}, nil, 10, 0.95, seed); err == nil {
		t.Error("a text without references must be an error")
	}
	if _, err := ChrF([]string{"a"}, [][]string{{}}, 10, 0.95, seed); err == nil {
		t.Error("a text with an empty list of references must be an error")
	}
	if _, err := BLEU(nil, nil, 10, 0.95, seed); err == nil {
		t.Error("no text must be an error")
	}
	if _, err := RougeL([]string{"a"}, nil); err == nil {
		t.Error("a text without reference must be an error")
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
		for name, score := range map[string]float64{"BLEU": bleu(bleuCounts(tokens13a)(a, []string{b}), true),
			"chrF": chrF(chrFCounts(2, false)(a, []string{b}), 2), "ROUGE-L": rougeL(a, b)} {
			if !(score >= 0 && score <= 100+1e-9) {
				t.Errorf("%s of %q and %q: %v", name, a, b, score)
			}
		}
	})
}
