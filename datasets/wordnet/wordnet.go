// Package wordnet reads the database files of WordNet (Miller 1995), as
// distributed or gzipped one by one, and provides the noun lemma and the
// synonyms of a word.
//
// It reproduces how NLTK 3.8.1, which the comparative study used, reads WordNet: all
// base forms that the rules of morphology find are considered at once, where
// Princeton's own morphy stops at the first, and endings are taken off again and
// again. Later versions of NLTK do so once; of 12,189 nouns 6 have another lemma. Relations and glosses are skipped.
package wordnet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mldpbench/datasets/table"
)

// The four parts of speech in NLTK's order, which is the order of Lemmas.
var partsOfSpeech = []string{"noun", "verb", "adj", "adv"}

// detachments are the rules of morphy: suffix and its replacement. They are
// WordNet's, see morphy(7WN), with NLTK's order.
var detachments = map[string][][2]string{
	"noun": {{"s", ""}, {"ses", "s"}, {"ves", "f"}, {"xes", "x"}, {"zes", "z"}, {"ches", "ch"}, {"shes", "sh"},
		{"men", "man"}, {"ies", "y"}},
	"verb": {{"s", ""}, {"ies", "y"}, {"es", "e"}, {"es", ""}, {"ed", "e"}, {"ed", ""}, {"ing", "e"}, {"ing", ""}},
	"adj":  {{"er", ""}, {"est", ""}, {"er", "e"}, {"est", "e"}},
	"adv":  nil,
}

// index is one part of speech.
type index struct {
	rules      [][2]string
	senses     map[string][]int64  // lemma → offsets of its synsets, most frequent first
	exceptions map[string][]string // irregular form → base forms
}

// Lemmatizer finds noun lemmas. It is safe for concurrent use.
type Lemmatizer struct{ noun *index }

// OpenLemmatizer reads index.noun and noun.exc of a database folder.
func OpenLemmatizer(dir string) (*Lemmatizer, error) {
	noun, err := readPart(dir, "noun")
	if err != nil {
		return nil, err
	}
	return &Lemmatizer{noun}, nil
}

// Lemma returns the noun lemma of a lower-case word: of all base forms that
// WordNet has (the word itself among them), the shortest, the first found on a
// tie. It returns the word itself where there is none, and for a token longer
// than longestToken that is not in WordNet. This is NLTK's WordNetLemmatizer,
// whose choice of the shortest also turns "us" into "u".
func (l *Lemmatizer) Lemma(word string) string {
	if !l.noun.inflected(word) { // it has no other form
		return word
	}
	best := ""
	for _, form := range l.noun.morphy(word) {
		if best == "" || utf8.RuneCountInString(form) < utf8.RuneCountInString(best) {
			best = form
		}
	}
	if best == "" {
		return word
	}
	return best
}

// longestToken is the longest token, in bytes, whose base forms are looked for:
// four times the longest lemma of WordNet 3.0 (71 bytes). A longer one is
// looked up unchanged, because every round of morphy shortens a word by a
// suffix and looks up the rest: for a token of a million letters "s" the cost
// would be quadratic.
const longestToken = 4 * 71

// morphy returns the base forms of a word that the index has, best first.
func (x *index) morphy(word string) []string {
	if len(word) > longestToken {
		return x.known([]string{word})
	}
	if irregular, ok := x.exceptions[word]; ok {
		return x.known(append([]string{word}, irregular...))
	}
	forms := x.detach([]string{word})
	if found := x.known(append([]string{word}, forms...)); len(found) > 0 {
		return found
	}
	for len(forms) > 0 { // every rule shortens its word, except men→man and ies→y, which no rule matches again
		forms = x.detach(forms)
		if found := x.known(forms); len(found) > 0 {
			return found
		}
	}
	return nil
}

// inflected reports whether a word may have a base form other than itself.
func (x *index) inflected(word string) bool {
	for _, r := range x.rules {
		if strings.HasSuffix(word, r[0]) {
			return true
		}
	}
	_, irregular := x.exceptions[word]
	return irregular
}

func (x *index) detach(forms []string) []string {
	var out []string
	for _, f := range forms {
		for _, r := range x.rules {
			if base, ok := strings.CutSuffix(f, r[0]); ok {
				out = append(out, base+r[1])
			}
		}
	}
	return out
}

func (x *index) known(forms []string) []string {
	var out []string
	for _, f := range forms {
		if _, ok := x.senses[f]; ok && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// Thesaurus finds synonyms. It is safe for concurrent use.
type Thesaurus struct {
	parts   []*index
	synsets []map[int64][]string // by part of speech: offset → lemmas
}

// OpenThesaurus reads the index, data and exception files of all parts of
// speech: about 30 MB of text.
func OpenThesaurus(dir string) (*Thesaurus, error) {
	parts, err := readParts(dir)
	if err != nil {
		return nil, err
	}
	t := &Thesaurus{parts: parts}
	for i, pos := range partsOfSpeech {
		synsets, err := read(dir, "data."+pos, parseData)
		if err != nil {
			return nil, err
		}
		for lemma, offsets := range parts[i].senses {
			for _, o := range offsets {
				if _, ok := synsets[o]; !ok {
					return nil, fmt.Errorf("%s: data.%s: no synset at offset %08d, which the index gives for %q", dir,
						pos, o, lemma)
				}
			}
		}
		t.synsets = append(t.synsets, synsets)
	}
	return t, nil
}

// Covers reports whether WordNet has the word or one of its base forms.
func (t *Thesaurus) Covers(word string) bool {
	return slices.ContainsFunc(t.parts, func(x *index) bool { return len(x.morphy(word)) > 0 })
}

// Lemmas returns the lemmas of all synsets of the word and its base forms:
// nouns, verbs, adjectives, adverbs, each in sense order, each lemma once, as
// WordNet prints it ("motion_picture", "Hollywood").
func (t *Thesaurus) Lemmas(word string) []string {
	var out []string
	seen := map[string]bool{}
	for i, x := range t.parts {
		for _, form := range x.morphy(word) {
			for _, offset := range x.senses[form] {
				for _, lemma := range t.synsets[i][offset] {
					if !seen[lemma] {
						seen[lemma] = true
						out = append(out, lemma)
					}
				}
			}
		}
	}
	return out
}

// read parses a database file or its gzipped form.
func read[T any](dir, name string, parse func(path string) (T, error)) (out T, err error) {
	for _, suffix := range []string{"", ".gz"} {
		if path := filepath.Join(dir, name+suffix); exists(path) {
			return parse(path)
		}
	}
	return out, fmt.Errorf("%s: no WordNet database file %s or %s.gz: %w", dir, name, name, fs.ErrNotExist)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readParts reads all parts of speech.
func readParts(dir string) ([]*index, error) {
	var parts []*index
	for _, pos := range partsOfSpeech {
		x, err := readPart(dir, pos)
		if err != nil {
			return nil, err
		}
		parts = append(parts, x)
	}
	return parts, nil
}

func readPart(dir, pos string) (x *index, err error) {
	x = &index{rules: detachments[pos]}
	if x.senses, err = read(dir, "index."+pos, parseIndex); err != nil {
		return nil, err
	}
	x.exceptions, err = read(dir, pos+".exc", parseExceptions)
	return x, err
}

// Every index and data file begins with license lines, which start with two
// spaces.
func license(line string) bool { return strings.HasPrefix(line, "  ") }

// parseIndex reads an index file, see wndb(5WN):
// lemma pos synset_cnt p_cnt [ptr_symbol…] sense_cnt tagsense_cnt offset [offset…]
func parseIndex(name string) (map[string][]int64, error) {
	senses := map[string][]int64{}
	err := table.LinesOf(name, func(line string) error {
		if license(line) || line == "" {
			return nil
		}
		f := strings.Fields(line)
		if len(f) < 7 {
			return fmt.Errorf("%d fields: an index line has at least 7", len(f))
		}
		synsets, err := strconv.Atoi(f[2])
		if err != nil || synsets < 1 || synsets > len(f)-6 {
			return fmt.Errorf("number of synsets %q in a line of %d fields", f[2], len(f))
		}
		if _, dup := senses[f[0]]; dup {
			return fmt.Errorf("lemma %q comes twice", f[0])
		}
		offsets := make([]int64, 0, synsets)
		for _, s := range f[len(f)-synsets:] {
			o, err := strconv.ParseInt(s, 10, 64)
			if err != nil || o < 0 {
				return fmt.Errorf("synset offset %q", s)
			}
			offsets = append(offsets, o)
		}
		senses[f[0]] = offsets
		return nil
	})
	if err == nil && len(senses) == 0 {
		err = fmt.Errorf("%s: no lemma in it", name)
	}
	return senses, err
}

// parseData reads a data file, see wndb(5WN):
// offset lex_filenum ss_type w_cnt(hex) word lex_id [word lex_id…] p_cnt … | gloss
func parseData(name string) (map[int64][]string, error) {
	synsets := map[int64][]string{}
	err := table.LinesOf(name, func(line string) error {
		if license(line) || line == "" {
			return nil
		}
		if i := strings.Index(line, " | "); i >= 0 {
			line = line[:i] // the gloss is not needed
		}
		f := strings.Fields(line)
		if len(f) < 7 {
			return fmt.Errorf("%d fields: a data line has at least 7", len(f))
		}
		offset, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil || offset < 0 {
			return fmt.Errorf("synset offset %q", f[0])
		}
		words, err := strconv.ParseInt(f[3], 16, 32)
		if err != nil || words < 1 || 4+2*int(words) > len(f) {
			return fmt.Errorf("number of words %q", f[3])
		}
		if _, dup := synsets[offset]; dup {
			return fmt.Errorf("synset %s comes twice", f[0])
		}
		lemmas := make([]string, words)
		for i := range lemmas {
			// "galore(ip)": the marker of the position of an adjective is not
			// part of it.
			lemmas[i], _, _ = strings.Cut(f[4+2*i], "(")
		}
		synsets[offset] = lemmas
		return nil
	})
	if err == nil && len(synsets) == 0 {
		err = fmt.Errorf("%s: no synset in it", name)
	}
	return synsets, err
}

// parseExceptions reads an exception list: irregular form, base forms.
func parseExceptions(name string) (map[string][]string, error) {
	exceptions := map[string][]string{}
	err := table.LinesOf(name, func(line string) error {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
			return nil
		case len(f) == 1:
			return errors.New("an exception needs a base form")
		}
		exceptions[f[0]] = append(exceptions[f[0]], f[1:]...)
		return nil
	})
	return exceptions, err
}
