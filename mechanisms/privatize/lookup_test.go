package privatize

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/datasets/table"
	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Words that a text holds as one word are read as themselves where they are written; other
// words are not writable.
func TestWritable(t *testing.T) {
	t.Parallel()
	writable := []string{"cat", "Dog", "u.s.", "U.S.A.", "3.5", "1,000", "½", "😀", "new_york", "well-known", "don't", "n't",
		"o'clock", "\ue000", "q@x.org", "http://x.org", "café", "cafe\u0301", "a1"}
	endings := []string{"'s", "’s", "'re", "'60s"}
	never := []string{"", " ", "x y", "a\tb", "\u00a0", "ganz\u3000gut", "\u0085", "\xff", "cut\xe2\x82", "a\x00", "</s>",
		"<unk>", "<user>", "#tag", "@user", "(a", "c++", "a-", "-a", "mr.", "...", ",", "'", "''", "'s-x", "'s's", "a\u200b",
		"$5", "www.x.org.", "etc.)", strings.Repeat("a", longestCompound+1)}
	for _, w := range never {
		if Writable(w) {
			t.Errorf("%q is writable, want that it is never an output", w)
		}
	}
	for _, w := range append(writable, endings...) {
		if !Writable(w) {
			t.Errorf("%q is not writable, want that it is", w)
		}
	}
	s := splitter{vocabulary: vocabulary(t, append(append(writable, endings...), "xx")...)}
	for _, w := range writable {
		found := s.words(nil, fmt.Sprintf("xx %s xx", w))
		if len(found) != 3 || found[1].token != w || found[1].kind != known {
			t.Errorf("%q is written and read as %+v, want one known word", w, found)
		}
	}
	for _, w := range endings {
		found := s.words(nil, "xx"+w)
		if len(found) != 2 || found[1].token != w || found[1].kind != known {
			t.Errorf("xx%s is read as %+v, want two known words", w, found)
		}
	}
}

// Whether a word is kept is decided where it is found, in whatever form it stands in the
// text: its text, what is counted, and what is spent on it agree.
func TestKeptWordsAreDecidedOnce(t *testing.T) {
	t.Parallel()
	words := []string{"café", "cafe\u0301s", "don't", "Cat", "cat", "other"}
	space, err := embeddings.NewSpace("small", vocabulary(t, words...), 1, []float32{0, 1, 2, 3, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	m, err := mechanisms.New(mechanisms.Environment{Space: space},
		mechanisms.Settings{Mechanism: "uniform", Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ kept, text, want string }{
		{"café", "café CAFÉ cafe\u0301 CAFE\u0301", "café café café café"},
		{"cafe\u0301s", "cafés", "cafe\u0301s"},
		{"don't", "don't Don't don’t DON’T", "don't don't don't don't"},
		{"cat", "cat Cat CAT", "cat Cat cat"},
		{"stranger", "stranger Stranger", "stranger stranger"},
		{"it’s", "IT’S", "it’s"},
	} {
		s := newStream(t, Options{Mechanism: mechanisms.KeepWords(m, []string{c.kept}), Seed: stream.FromUint64(1)})
		got := runOn(t, s, strings.NewReader(c.text+"\n"), table.Options{})
		if got != c.want+"\n" {
			t.Errorf("%q, of which %q is kept, became %q, want %q", c.text, c.kept, got, c.want)
		}
		if sum := s.Summary(); sum.Known != 0 || sum.Unknown != 0 || sum.EpsilonTotal != 0 {
			t.Errorf("%q, all of which is kept: %d words known, %d unknown, epsilon %v spent, want none", c.text,
				sum.Known, sum.Unknown, sum.EpsilonTotal)
		}
	}
}

// Lower case is that of the vocabulary, whichever rule made it: of texts, of words to
// look up, of words that are kept, and of the plain layout.
func TestLowerCaseOfVocabularies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, vocabulary string }{
		{"ΟΔΟΣ", "οδος"}, // Unicode, Python, Java
		{"ΟΔΟΣ", "οδοσ"}, // letter by letter
		{"Χρόνος", "χρόνος"},
		{"ΣΑΣ", "σας"},
		{"ΣΟΦΟΣ-ΣΟΦΟΣ", "σοφος-σοφος"},
		{"İSTANBUL", "i\u0307stanbul"}, // Unicode, Python
		{"İSTANBUL", "istanbul"},       // letter by letter, and Turkish
		{"DİYARBAKIR", "diyarbakır"},   // Turkish
		{"ISPARTA", "ısparta"},
		{"STRASSE", "strasse"},
		{"ДОМ", "дом"},
		{"Σ", "σ"},
	} {
		v := vocabulary(t, c.vocabulary, "other")
		want := v.ID(c.vocabulary)
		if got := Lookup(v, c.text); got != want {
			t.Errorf("%q is looked up as word %d, want %q", c.text, got, c.vocabulary)
		}
		found := splitter{vocabulary: v}.words(nil, "a "+c.text+".")
		if len(found) != 2 || found[1].token != c.vocabulary || found[1].kind != known {
			t.Errorf("%q is found as %+v, want %q", c.text, found, c.vocabulary)
		}
		found = newSplitter(vocabulary(t, "other"), []string{c.vocabulary}).words(nil, c.text)
		if len(found) != 1 || found[0].kind != kept {
			t.Errorf("%q is found as %+v, want the kept word %q", c.text, found, c.vocabulary)
		}
		if got := (splitter{vocabulary: v}).plain([]string{c.text, c.vocabulary}); got != c.vocabulary+" "+c.vocabulary {
			t.Errorf("%q is %q in the plain layout, want %q twice", c.text, got, c.vocabulary)
		}
	}
	v := vocabulary(t, "IT", "it", "İt")
	for text, want := range map[string]string{"IT": "IT", "It": "it", "İt": "İt"} {
		if got := Lookup(v, text); got != v.ID(want) {
			t.Errorf("%q is word %d, want %q", text, got, want)
		}
	}
	if got := Lookup(v, "ıt"); got != embeddings.Unknown {
		t.Errorf("ıt is word %d, want none: a small letter is what it is", got)
	}
}

// TestVersionOfWritable: a cache keeps which words are writable by the version of WritableWords. Where
// the sum changes, the version must be raised, then the sum here.
func TestVersionOfWritable(t *testing.T) {
	const want = "VERSION 1: 604bb6a977fa0515"
	pieces := []string{"", "a", "É", "é", "ß", "中", "١", "7", "-", ".", "'", "’", "_", "@", "&", ":", "/", ",", "+",
		"$", " ", "\u00a0", "\u200d", "\u0301", "😀", "🏽", "\xff", "\x00", "n't", "U.S.", "http://", "\ue000"}
	h := fnv.New64a()
	for _, a := range pieces {
		for _, b := range pieces {
			for _, c := range pieces {
				fmt.Fprint(h, WritableWords.Keep(a+b+c), " ")
			}
		}
	}
	got := fmt.Sprintf("VERSION %d: %x", WritableWords.Version, h.Sum64())
	if got != want {
		t.Errorf("writable words are %s, want %s: raise their version", got, want)
	}
}

// Texts are drawn with the words of all columns that are replaced; rows without any are none. Of
// many, each has the same probability: of 40 draws of 200 among 1,000 texts, the number of those
// among the last 250 is hypergeometric in each, with a mean of 2,000 in all and a standard deviation
// of at most 39: 6 of them are passed with a probability of 2e-9.
func TestDrawTexts(t *testing.T) {
	t.Parallel()
	v := small(t).Vocabulary
	write := func(name, text string) table.Options {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return table.Options{Name: path, Format: table.FormatOf(path), Text: true, Columns: []string{"a", "b"}}
	}
	few := write("few.csv", "a,b\ncat,dog\nunicorn,\ngood,cat good\n")
	drawn, err := DrawTexts(t.Context(), []table.Options{few}, v, []string{"good"}, 10, stream.FromUint64(1).Rand())
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, words := range drawn {
		text := ""
		for _, w := range words {
			text += v.Word(w) + " "
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	if want := []string{"cat ", "cat dog "}; !slices.Equal(texts, want) {
		t.Errorf("drawn are %q, want %q", texts, want)
	}
	many := "a,b\n" + strings.Repeat("cat,\n", 750) + strings.Repeat("dog,\n", 250)
	file := write("many.csv", many)
	late := 0
	for seed := range 40 {
		drawn, err := DrawTexts(t.Context(), []table.Options{file}, v, nil, 200, stream.FromUint64(uint64(seed)).Rand())
		if err != nil {
			t.Fatal(err)
		}
		if len(drawn) != 200 {
			t.Fatalf("%d texts are drawn, want 200", len(drawn))
		}
		for _, words := range drawn {
			if v.Word(words[0]) == "dog" {
				late++
			}
		}
	}
	if late < 2000-6*39 || late > 2000+6*39 {
		t.Errorf("%d of the last texts are drawn, want 2000 ± %d", late, 6*39)
	}
}
