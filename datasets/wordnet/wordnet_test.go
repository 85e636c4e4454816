package wordnet

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/internal/realdata"
)

// database is a tiny one, in the format of the real files.
func database(t testing.TB, zipped bool) string {
	t.Helper()
	licence := "  1 This is no licence.  \n  2 Nor is this.  \n"
	files := map[string]string{
		"index.noun": licence + "dog n 2 1 @ 2 1 00000100 00000200\nboss n 1 0 1 0 00000300\nbos n 1 0 1 0 " +
			"00000400\nman n 1 0 1 0 00000500\nu n 1 0 1 0 00000600\ncity n 1 0 1 0 00000700\nglass n 1 0 " +
			"1 0 00000800\n",
		"data.noun": licence + "00000100 05 n 02 dog 0 domestic_dog 0 001 @ 00000001 n 0000 | barks | loudly\n" +
			"00000200 18 n 01 Dog 0 000 | a chap\n00000300 18 n 02 boss 0 hirer 0 000 | b\n00000400 05 n 01 " +
			"Bos 0 000 | c\n" +
			"00000500 18 n 01 man 0 000 | d\n00000600 27 n 01 U 0 000 | e\n00000700 15 n 01 city 0 000 | " +
			"f\n00000800 06 n 01 glass 0 000 | g\n",
		"noun.exc":   "children child\nglasses glasses\n",
		"index.verb": licence + "dog v 1 0 1 0 00000100\n",
		"data.verb": licence + "00000100 38 v 0a chase 0 chase_after 0 trail 0 tail 0 tag 0 give_chase 0 dog 0 " +
			"go_after 0 track 0 hound 0 000 01 + 02 00 | h\n",
		"verb.exc":  "",
		"index.adj": licence + "galore a 1 0 1 0 00000100\n",
		"data.adj":  licence + "00000100 00 s 01 galore(ip) 0 000 | i\n",
		"adj.exc":   "better good\n",
		"index.adv": licence + "well r 1 0 1 0 00000100\n",
		"data.adv":  licence + "00000100 02 r 01 well 0 000 | j\n",
		"adv.exc":   "best well\n",
	}
	dir := t.TempDir()
	for name, text := range files {
		data := []byte(text)
		if zipped {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write(data)
			_ = z.Close()
			name, data = name+".gz", b.Bytes()
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSmallDatabase(t *testing.T) {
	for _, zipped := range []bool{false, true} {
		dir := database(t, zipped)
		l, err := OpenLemmatizer(dir)
		if err != nil {
			t.Fatal(err)
		}
		for word, want := range map[string]string{
			"dogs": "dog", "dog": "dog", "boss": "bos", "men": "man", "us": "u", "cities": "city",
			"children": "children", // the base form is not in this database
			"glasses":  "glasses",  // exceptions end the search
			"dogss":    "dog",      // rules are applied until something is found
			"zebra":    "zebra", "": "",
		} {
			if got := l.Lemma(word); got != want {
				t.Errorf("Lemma(%q) = %q, want %q", word, got, want)
			}
		}
		th, err := OpenThesaurus(dir)
		if err != nil {
			t.Fatal(err)
		}
		want := "dog domestic_dog Dog chase chase_after trail tail tag give_chase go_after track hound"
		if got := strings.Join(th.Lemmas("dogs"), " "); got != want {
			t.Errorf("Lemmas(dogs):\ngot  %s\nwant %s", got, want)
		}
		if got := th.Lemmas("galore"); !slices.Equal(got, []string{"galore"}) {
			t.Errorf("Lemmas(galore) = %q", got)
		}
		if !th.Covers("best") || th.Covers("zebra") || th.Lemmas("zebra") != nil {
			t.Error("coverage")
		}
	}
}

// The time is linear in the length of a token. Quadratic time would take
// minutes here.
func TestTokenWithoutEnd(t *testing.T) {
	t.Parallel()
	dir := database(t, false)
	l, err := OpenLemmatizer(dir)
	if err != nil {
		t.Fatal(err)
	}
	thesaurus, err := OpenThesaurus(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, unit := range []string{"s", "ses", "ing"} {
		token := "dog" + strings.Repeat(unit, 1_000_000/len(unit))
		if got := l.Lemma(token); got != token || thesaurus.Covers(token) || thesaurus.Lemmas(token) != nil {
			t.Errorf("%s…: a lemma of %d bytes", unit, len(got))
		}
	}
	// Tokens within the limit keep their base forms.
	if token := "dog" + strings.Repeat("s", longestToken-3); l.Lemma(token) != "dog" {
		t.Errorf("%d letters: %q", len(token), l.Lemma(token))
	}
}

func TestBadDatabases(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"index.noun", "dog n 1\n", "index.noun:1: 3 fields"},
		{"index.noun", "dog n x 0 1 0 00000100\n", `index.noun:1: number of synsets "x"`},
		{"index.noun", "dog n 3 0 1 0 00000100\n", `index.noun:1: number of synsets "3"`},
		{"index.noun", "dog n 1 0 1 0 0000x\n", "index.noun:1: synset offset"},
		{"index.noun", "dog n 1 0 1 0 00000100\ndog n 1 0 1 0 00000100\n", `index.noun:2: lemma "dog" comes twice`},
		{"index.noun", "  licence only\n", "index.noun: no lemma in it"},
		{"index.noun", "dog n 1 0 1 0 00000999\n", `data.noun: no synset at offset 00000999, which the index gives for "dog"`},
		{"data.noun", "00000100 05 n zz dog 0 000 | x\n", `data.noun:1: number of words "zz"`},
		{"data.noun", "00000100 05 n 09 dog 0 000 | x\n", `data.noun:1: number of words "09"`},
		{"data.noun", "x\n", "data.noun:1: 1 fields"},
		{"noun.exc", "children\n", "noun.exc:1: an exception needs a base form"},
		{"noun.exc", "", "no WordNet database file noun.exc"},
	} {
		dir := database(t, false)
		path := filepath.Join(dir, c.file)
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if c.text == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := OpenThesaurus(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: got %v, want %q", c.file, c.text, err, c.want)
		}
	}
}

// Known answers of NLTK's WordNetLemmatizer and synsets on WordNet 3.0.
func TestRealWordNet(t *testing.T) {
	dir := realdata.File(t, "wordnet-3.0")
	l, err := OpenLemmatizer(dir)
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{
		"movies": "movie", "makes": "make", "fans": "fan", "children": "child", "feet": "foot", "mice": "mouse",
		"us": "u", "as": "a", "has": "ha", "was": "wa", "boss": "bos", "women": "woman",
		"athens": "athens", "happened": "happened", "leaves": "leaf", "churches": "church", "abaci": "abacus",
	} {
		if got := l.Lemma(word); got != want {
			t.Errorf("Lemma(%q) = %q, want %q", word, got, want)
		}
	}
	if testing.Short() {
		t.Skip("reads the whole database")
	}
	th, err := OpenThesaurus(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := th.Lemmas("movie"); len(got) < 5 || got[0] != "movie" || !slices.Contains(got, "motion_picture") {
		t.Errorf("Lemmas(movie) = %q", got)
	}
}

// Files that are damaged are errors that name them, of both kinds of file.
func FuzzFiles(f *testing.F) {
	f.Add([]byte("  licence\ndog n 2 1 @ 2 1 00000100 00000200\n"))
	f.Add([]byte("  licence\n00000200 18 n 0a Dog 0 000 | a chap\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		senses, err := parseIndex(file)
		_, other := parseData(file)
		for _, err := range []error{err, other} {
			if err != nil && !strings.HasPrefix(err.Error(), file+":") {
				t.Error(err)
			}
		}
		x := &index{rules: detachments["noun"], senses: senses}
		for lemma, offsets := range senses {
			if len(offsets) == 0 || len(x.morphy(lemma)) == 0 {
				t.Errorf("%q: %d offsets, forms %q", lemma, len(offsets), x.morphy(lemma))
			}
		}
	})
}
