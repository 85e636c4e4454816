package tokenizer

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mldpbench/internal/realdata"
	"mldpbench/stream"
)

const small = `{"normalizer":{"type":"NFKC"},
"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true},
"post_processor":null,
"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["<s>",0],["▁",-3],["a",-2],["b",-2.5],["ab",-4],["aba",-6],["▁ab",-5],["▁a",-4.5],["ba",-4.2],["fi",-1],["b",-2.6]]}}`

// Viterbi against all segmentations of random strings.
func TestSegmentIsBest(t *testing.T) {
	tokens, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	u := tokens.model.(*unigram)
	scores := map[int]float64{0: u.unknownScore}
	for _, p := range u.pieces {
		scores[p.id] = p.score
	}
	var best func(text string) float64
	best = func(text string) float64 {
		if text == "" {
			return 0
		}
		score := math.Inf(-1)
		for end := range text[1:] + "x" { // every prefix that ends at a rune
			if prefix := text[:end+1]; utf8.ValidString(prefix) {
				p, ok := u.pieces[prefix]
				if !ok && utf8.RuneCountInString(prefix) == 1 {
					p, ok = piece{0, u.unknownScore}, true
				}
				if ok {
					score = max(score, p.score+best(text[end+1:]))
				}
			}
		}
		return score
	}
	rng := stream.FromUint64(3).Rand()
	letters := []string{"a", "b", "a", "b", "▁", "?"}
	for range 300 {
		var b strings.Builder
		for range 1 + rng.IntN(9) {
			b.WriteString(letters[rng.IntN(len(letters))])
		}
		text := b.String()
		if strings.Contains(text, "??") {
			continue // a run of unknowns is one id: the sum is not that of the ids
		}
		var got float64
		for _, id := range u.ids(text) {
			got += scores[id]
		}
		if want := best(text); math.Abs(got-want) > 1e-9 {
			t.Errorf("%q: score %v, want %v", text, got, want)
		}
	}
}

func TestUnigramRules(t *testing.T) {
	u, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text  string
		limit int
		want  []int
	}{
		{"", 0, nil},
		{"a", 0, []int{8}},
		{"b", 0, []int{2, 11}}, // the last "b" counts
		{"??b", 0, []int{2, 0, 11}},
		{"ﬁ", 0, []int{2, 10}},  // NFKC takes the ligature apart
		{"<s>", 0, []int{2, 0}}, // text that looks like a control piece is text
		{"a a a", 2, []int{8, 8}},
	} {
		if got := u.Encode(c.text, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
	u, err = Parse([]byte(strings.Replace(small, `"post_processor":null`, `"post_processor":{"type":"TemplateProcessing",
		"single":[{"SpecialToken":{"id":"<s>"}},{"Sequence":{"id":"A"}},{"SpecialToken":{"id":"</s>"}}],
		"special_tokens":{"<s>":{"ids":[1]},"</s>":{"ids":[77]}}}`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := u.Encode("a a a", 4), []int{1, 8, 8, 77}; !slices.Equal(got, want) {
		t.Errorf("special tokens: %v, want %v", got, want)
	}
}

func TestUnigramRefusesWhatItCannotDo(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"NFKC"`, `"Precompiled"`, `normalizer "Precompiled" is not supported`},
		{`"Metaspace"`, `"ByteLevel"`, "needs the Metaspace pre-tokenizer"},
		{`"always"`, `"sometimes"`, `prepend_scheme "sometimes" is not supported`},
		{`"unk_id":0`, `"unk_id":99`, "unk_id is missing or not in the vocabulary"},
		{`"unk_id":0`, `"unk_id":0,"byte_fallback":true`, "byte_fallback is not supported"},
		{`"post_processor":null`, `"post_processor":{"type":"Wrap"}`, `post-processor "Wrap"`},
		{`["a",-2]`, `["a","x"]`, "piece 3"},
	} {
		_, err := Parse([]byte(strings.Replace(small, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: err = %v", c.new, err)
		}
	}
}

func FuzzUnigram(f *testing.F) {
	for _, s := range []string{"", "aba abba", "??", "ﬁ\x00", "\xff\xfe a", "▁▁"} {
		f.Add(s, 5)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		u, err := Parse([]byte(small))
		if err != nil {
			t.Fatal(err)
		}
		if ids := u.Encode(text, limit); limit > 0 && len(ids) > limit {
			t.Fatalf("%d ids", len(ids))
		}
	})
}

func BenchmarkTokenize(b *testing.B) {
	u, err := Open(filepath.Dir(realdata.File(b, "use-lite-onnx/tokenizer.json")))
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("stocks fell on wall street today ", 10)
	for b.Loop() {
		u.Encode(text, 0)
	}
	b.ReportMetric(float64(60*b.N)/b.Elapsed().Seconds(), "words/s")
}
