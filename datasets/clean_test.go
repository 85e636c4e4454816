package datasets

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

func cleaner(t testing.TB, name Cleaning) *Cleaner {
	t.Helper()
	c, err := NewCleaner(name, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTokens(t *testing.T) {
	if _, err := NewCleaner("wash", ""); err == nil || !strings.Contains(err.Error(), `cleaning = "wash": must be one of`) {
		t.Errorf("err = %v", err)
	}
	for _, c := range []struct {
		cleaning Cleaning
		in, want string
	}{
		{CleanWords, "It's 24/7 fun.<br /><br />The 1950s!", "its fun the s"},
		{CleanWords, "I <3 this, a < b and <b>bold</b> <!-- note --> text", "i this a b and bold text"},
		{CleanWords, "Q&amp;A &lt;A HREF=\"x\"&gt;link&lt;/A&gt; caf&eacute;", "q a link café"},
		{CleanWords, "naïve ’tis rock’n’roll", "naïve tis rocknroll"},
		{CleanWords, "unclosed <tag and more", "unclosed tag and more"},
		{CleanWords, "well-known_thing", "well known thing"},
		{CleanWords, "", ""},
		{CleanContent, "I did not like it, don't ask; it's what you're about", "not like dont ask"},
		{CleanContent, "This is THE best film of 1999", "best film"},
		{CleanNone, "Tokens , as They\tare a+ 2-faced", "tokens , as they are a+ 2-faced"},
	} {
		if got := strings.Join(cleaner(t, c.cleaning).Tokens(c.in), " "); got != c.want {
			t.Errorf("%s %q:\ngot  %q\nwant %q", c.cleaning, c.in, got, c.want)
		}
	}
}

func TestStopWordsAreNLTKs(t *testing.T) {
	all := stopWords()
	removed := stopWordsButNegations()
	if len(all) != 179 {
		t.Errorf("%d stop words, NLTK has 179", len(all))
	}
	for _, w := range []string{"not", "no", "nor", "don't", "wasn"} {
		if !all[w] || removed[w] {
			t.Errorf("%q is a stop word, and a negation that is kept", w)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a<b>c</b>", "&lt;p&gt;", "it's", "''", "<", "&#x3c;script>", "1a2b", "\xff<\xfe>",
		"é̀<"} {
		f.Add(s)
	}
	c := cleaner(f, CleanContent)
	f.Fuzz(func(t *testing.T, text string) {
		tokens := c.Tokens(text)
		for _, w := range tokens {
			if w == "" || strings.ContainsFunc(w, func(r rune) bool {
				return r != unicode.ReplacementChar && !unicode.IsLetter(r) && !unicode.IsMark(r)
			}) {
				t.Fatalf("%q: token %q", text, w)
			}
			if c.stop[w] {
				t.Fatalf("%q: stop word %q", text, w)
			}
		}
		if again := c.Tokens(strings.Join(tokens, " ")); !slices.Equal(again, tokens) {
			t.Fatalf("cleaning is not idempotent: %q, then %q", tokens, again)
		}
	})
}
