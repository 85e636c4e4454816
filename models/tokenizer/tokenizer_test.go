package tokenizer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/internal/realdata"
)

const bertLike = `{"truncation":{"max_length":9},"added_tokens":[{"id":0,"content":"[UNK]","special":true},
{"id":1,"content":"[CLS]","special":true},{"id":2,"content":"[SEP]","special":true}],
"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},
"pre_tokenizer":{"type":"BertPreTokenizer"},
"post_processor":{"type":"BertProcessing","sep":["[SEP]",2],"cls":["[CLS]",1]},
"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":9,
"vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"un":3,"##aff":4,"##able":5,"unaff":6,"!":7,"cafe":8,"中":9,"文":10,"a":11,"[":12,"]":13,"cls":14}}}`

func TestWordPiece(t *testing.T) {
	u, err := Parse([]byte(bertLike))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text  string
		limit int
		want  []int
	}{
		{"", 0, []int{1, 2}},
		{"Unaffable!", 0, []int{1, 6, 5, 7, 2}},        // longest piece first
		{"unable un", 0, []int{1, 3, 5, 3, 2}},         // a continuation is another piece
		{"affable a", 0, []int{1, 0, 11, 2}},           // no piece begins with it
		{"CAFÉ\tcafe\u0301", 0, []int{1, 8, 8, 2}},     // accents in both forms
		{"中文a", 0, []int{1, 9, 10, 11, 2}},             // ideographs stand alone
		{"\u200ba\x00", 0, []int{1, 11, 2}},            // control characters go
		{"aaaaaaaaaa", 0, []int{1, 0, 2}},              // longer than nine
		{"[CLS]", 0, []int{1, 12, 14, 13, 2}},          // text, not the token
		{"a a a a a a", 4, []int{1, 11, 11, 2}},        // cut, with the end kept
		{"! ! ! ! ! ! ! ! !", 5, []int{1, 7, 7, 7, 2}}, //
		{"a", 1, []int{1}},                             // a limit below the tokens around
	} {
		if got := u.Encode(c.text, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
	if u.Limit != 9 || u.Size != 15 || u.Kind != "WordPiece" {
		t.Errorf("limit %d, size %d, kind %s", u.Limit, u.Size, u.Kind)
	}
	if id, ok := u.Special["[SEP]"]; !ok || id != 2 {
		t.Errorf("[SEP] is %d, %v", id, ok)
	}
}

// The parts follow from the pattern by hand.
func TestSplitGPT2(t *testing.T) {
	for text, want := range map[string][]string{
		"Hello world's 123!": {"Hello", " world", "'s", " 123", "!"},
		"we'll  go":          {"we", "'ll", " ", " go"},
		"'S can't":           {"'", "S", " can", "'t"},
		"a\n\nb \n":          {"a", "\n", "\n", "b", " \n"},
		"x   ":               {"x", "   "},
		" 's":                {" '", "s"},
		"a1²b—c, d":          {"a", "1²", "b", "—", "c", ",", " d"},
		"\u00a0x":            {"\u00a0", "x"},
		"naïve 中文!?":         {"naïve", " 中文", "!?"},
		"tab\tx":             {"tab", "\t", "x"},
		"e\u0301":            {"e", "\u0301"}, // a mark is neither letter nor number
		"":                   nil,
		"  ":                 {"  "},
		"…'re'd":             {"…'", "re", "'d"},
	} {
		if got := splitGPT2(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// "h e" is before "e l": joins go by rank, not from left to right. Ġ is a space.
const gptLike = `{"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},
"post_processor":{"type":"RobertaProcessing","sep":["</s>",12],"cls":["<s>",11],"add_prefix_space":false},
"added_tokens":[{"id":11,"content":"<s>","special":true},{"id":12,"content":"</s>","special":true}],
"model":{"type":"BPE","unk_token":null,"continuing_subword_prefix":"","end_of_word_suffix":"",
"vocab":{"h":0,"e":1,"l":2,"o":3,"Ġ":4,"he":5,"ll":6,"llo":7,"Ã":8,"©":9,"Ã©":10},
"merges":["l l","h e",["ll","o"],"Ã ©"]}}`

func TestBPE(t *testing.T) {
	u, err := Parse([]byte(gptLike))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]int{
		"hello":   {11, 5, 7, 12},
		"hello h": {11, 5, 7, 4, 0, 12},
		"hellllo": {11, 5, 6, 7, 12}, // equal ranks from the left
		"hé":      {11, 0, 10, 12},   // two bytes, joined
		"hx":      {11, 0, 12},       // no byte x, no unknown token
		"<s>":     {11, 12},
	} {
		if got := u.Encode(text, 0); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if got := slices.Concat(u.Word("he", true), u.Word("he", false)); !slices.Equal(got, []int{5, 4, 5}) {
		t.Errorf("words: %v", got)
	}
	u, err = Parse([]byte(strings.Replace(gptLike, `"add_prefix_space":false}`, `"add_prefix_space":true}`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got := u.Encode("he", 0); !slices.Equal(got, []int{11, 4, 5, 12}) {
		t.Errorf("with a space before: %v", got)
	}
}

// joinSlowly is the definition: again and again the pair of lowest rank, the
// leftmost of equals.
func joinSlowly(b *bpe, part string) []int {
	symbols := strings.Split(part, "")
	for {
		best, at := -1, 0
		for i := range len(symbols) - 1 {
			if rank, ok := b.ranks[[2]string{symbols[i], symbols[i+1]}]; ok && (best < 0 || rank < best) {
				best, at = rank, i
			}
		}
		if best < 0 {
			break
		}
		symbols = slices.Replace(symbols, at, at+2, symbols[at]+symbols[at+1])
	}
	var ids []int
	for _, s := range symbols {
		if id, ok := b.vocab[s]; ok {
			ids = append(ids, id)
		}
	}
	return ids
}

func FuzzBPE(f *testing.F) {
	f.Add("hellohello", "aab")
	f.Fuzz(func(t *testing.T, text, table string) {
		// A table made of the text's own characters.
		b := &bpe{vocab: map[string]int{}, ranks: map[[2]string]int{}, unknown: -1}
		known := []string{"h", "e", "l", "o"}
		for i := 0; i+1 < len(table) && i < 40; i += 2 {
			x, y := known[int(table[i])%len(known)], known[int(table[i+1])%len(known)]
			if _, ok := b.ranks[[2]string{x, y}]; !ok && len(x+y) < 9 {
				b.ranks[[2]string{x, y}] = i
				known = append(known, x+y)
			}
		}
		for i, k := range known {
			b.vocab[k] = i
		}
		part := strings.Map(func(r rune) rune { return rune("helo"[uint32(r)%4]) }, text)
		if got, want := b.ids(part), joinSlowly(b, part); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", part, got, want)
		}
	})
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ of, old, new, want string }{
		{bertLike, `"WordPiece"`, `"WordLevel"`, `model "WordLevel": must be WordPiece, BPE or Unigram`},
		{bertLike, `"BertPreTokenizer"`, `"Split"`, `pre-tokenizer "Split" is not supported`},
		{bertLike, `"BertNormalizer"`, `"Precompiled"`, `normalizer "Precompiled" is not supported`},
		{bertLike, `"unk_token":"[UNK]"`, `"unk_token":"x"`, `unk_token "x" is not in the vocabulary`},
		{bertLike, `"un":3`, `"un":-3`, `piece "un": id = -3`},
		{bertLike, `"content":"[SEP]","special":true`, `"content":"[SEP]"`, `added token "[SEP]" that is not special`},
		{bertLike, `["[SEP]",2]`, `["[SEP]"]`, `sep and cls must be a token and its id`},
		{gptLike, `"ByteLevel"`, `"Whitespace"`, "needs the ByteLevel pre-tokenizer"},
		{gptLike, `"h e"`, `"he"`, `merge 1: "he": must be two pieces`},
		{gptLike, `"end_of_word_suffix":""`, `"end_of_word_suffix":"</w>"`, "is not supported"},
		{small, `"Unigram"`, `"BPE"`, `model "BPE" has a list of pieces with scores, which is the vocabulary of Unigram`},
		{small, `"Unigram"`, `"WordPiece"`, `has a list of pieces`},
		{`{}`, "", "", "no model with a vocabulary in it"},
	} {
		if _, err := Parse([]byte(strings.Replace(c.of, c.old, c.new, 1))); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{small, bertLike, gptLike} {
		f.Add(s, "aba ? [CLS] hello's")
	}
	f.Fuzz(func(t *testing.T, data, text string) {
		u, err := Parse([]byte(data))
		if err != nil {
			return
		}
		if len(text) > 200 {
			text = text[:200]
		}
		if ids := u.Encode(text, 7); len(ids) > 7 {
			t.Fatalf("%d ids", len(ids))
		}
		u.Word(text, false)
	})
}

// The ids of a text are those of its words.
func TestWordsAreText(t *testing.T) {
	tokens, err := Open(filepath.Dir(realdata.File(t, "tiny-masked-lm/tokenizer.json")))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(realdata.File(t, "use-lite-onnx/reference.json"))
	if err != nil {
		t.Fatal(err)
	}
	var reference struct {
		Items []struct {
			Text     string
			TokenIDs []int `json:"token_ids"`
		}
	}
	if err := json.Unmarshal(data, &reference); err != nil {
		t.Fatal(err)
	}
	unigram, err := Open(filepath.Dir(realdata.File(t, "use-lite-onnx/tokenizer.json")))
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range reference.Items {
		if got := unigram.Encode(item.Text, 0); !slices.Equal(got, item.TokenIDs) {
			t.Errorf("%q: %v, want %v", item.Text, got, item.TokenIDs)
		}
		for _, u := range []*Tokenizer{tokens, unigram} {
			before, after := u.Before, u.After
			ids := slices.Clone(before)
			for i, w := range strings.Fields(item.Text) {
				ids = append(ids, u.Word(w, i == 0)...)
			}
			if want := u.Encode(item.Text, 0); !slices.Equal(append(ids, after...), want) {
				t.Errorf("%s %q: by words %v, want %v", u.Kind, item.Text, ids, want)
			}
		}
	}
}
