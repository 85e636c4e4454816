package privatize

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"mldpbench/datasets/table"
	"mldpbench/embeddings"
)

// lookup finds text[start:end] among the words that are kept, and in the
// vocabulary: also composed and decomposed, as text of macOS and PDF files is.
func (s splitter) lookup(text string, start, end int) word {
	part := text[start:end]
	w := word{start: int32(start), end: int32(end), id: embeddings.Unknown, token: part}
	ascii := utf8.RuneCountInString(part) == len(part)
	lower := strings.ToLower(part)
	if !ascii {
		lower = lowerCase(part)
	}
	if s.keep(&w, part) || s.keep(&w, lower) || s.know(&w, part) || s.know(&w, lower) {
		return w
	}
	for _, spelled := range otherLowerCases(part) {
		if s.keep(&w, spelled) || s.know(&w, spelled) {
			return w
		}
	}
	if ascii {
		return w
	}
	for _, spelled := range []string{norm.NFC.String(part), norm.NFC.String(lower), norm.NFD.String(part),
		norm.NFD.String(lower), strings.ReplaceAll(lower, "’", "'")} {
		known := s.vocabulary.ID(spelled) != embeddings.Unknown
		if known && (s.keep(&w, spelled) || s.know(&w, spelled)) {
			break
		}
	}
	return w
}

// keep makes of a word one that is kept, and spelled so, and reports whether it is one.
func (s splitter) keep(w *word, spelled string) bool {
	if _, ok := s.kept[spelled]; !ok {
		return false
	}
	w.id = s.vocabulary.ID(w.token)
	w.kind = kept
	w.token = spelled
	return true
}

// know makes of a word that of the vocabulary which is spelled so, and reports whether
// there is one.
func (s splitter) know(w *word, spelled string) bool {
	id := s.vocabulary.ID(spelled)
	if id == embeddings.Unknown {
		return false
	}
	w.id = id
	w.kind = known
	w.token = spelled
	return true
}

// Lookup finds a word as the words of a text are found in a vocabulary.
func Lookup(v *embeddings.Vocabulary, w string) embeddings.WordID {
	return splitter{vocabulary: v}.lookup(w, 0, len(w)).id
}

// Count returns how often files, the names of tables, have each word of a vocabulary that a
// mechanism over it replaces.
func Count(ctx context.Context, files []table.Options, v *embeddings.Vocabulary, kept []string) ([]int, error) {
	counts := make([]int, v.Len())
	err := eachText(ctx, files, v, kept, func(words []embeddings.WordID) {
		for _, w := range words {
			counts[w]++
		}
	})
	if err != nil {
		return nil, err
	}
	if slices.Max(counts) == 0 {
		return nil, fmt.Errorf("%s: no word of it is in the vocabulary", files[0].Name)
	}
	return counts, nil
}

// DrawTexts draws rows of files that have words which a mechanism over a vocabulary
// replaces, at most so many, each with the same probability and in no order (Vitter 1985,
// algorithm R). A text is these words of all columns of a row.
func DrawTexts(ctx context.Context, files []table.Options, v *embeddings.Vocabulary, kept []string, most int,
	rng *rand.Rand) ([][]embeddings.WordID, error) {
	var drawn [][]embeddings.WordID
	met := 0
	err := eachText(ctx, files, v, kept, func(words []embeddings.WordID) {
		if len(words) == 0 {
			return
		}
		met++
		if len(drawn) < most {
			drawn = append(drawn, slices.Clone(words))
			return
		}
		if at := rng.IntN(met); at < most {
			drawn[at] = slices.Clone(words)
		}
	})
	rng.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn, err
}

// eachText calls take with the words of each row that are replaced, which hold until the next call.
func eachText(ctx context.Context, files []table.Options, v *embeddings.Vocabulary, kept []string,
	take func(words []embeddings.WordID)) error {
	find := newSplitter(v, kept)
	var found []word
	var replaced []embeddings.WordID
	each := func(r table.Row) error {
		replaced = replaced[:0]
		for _, value := range r.Values {
			found = find.words(found[:0], value.Text)
			for _, w := range found {
				if w.kind == known {
					replaced = append(replaced, w.id)
				}
			}
		}
		take(replaced)
		return nil
	}
	for _, file := range files {
		if err := table.Each(ctx, file.Name, file, each); err != nil {
			return err
		}
	}
	return nil
}

// special are the letters whose lower case depends on their place or language.
const special = "ΣİI"

// lowerCase is the lower case of Unicode, that of Python, Java and JavaScript: a sigma at
// the end of a word is ς, and İ is an i with a dot above.
func lowerCase(text string) string {
	if !strings.ContainsAny(text, special) {
		return strings.ToLower(text)
	}
	return cases.Lower(language.Und).String(text)
}

// otherLowerCases are those of vocabularies in lower case letter by letter, and in that of
// Turkish: nil of most words.
func otherLowerCases(text string) []string {
	if !strings.ContainsAny(text, special) {
		return nil
	}
	return []string{strings.ToLower(text), strings.ToLowerSpecial(unicode.TurkishCase, text)}
}

// lower is the lower case of a word that the vocabulary has, else that of Unicode.
func (s splitter) lower(w string) string {
	all := append([]string{lowerCase(w)}, otherLowerCases(w)...)
	for _, spelled := range all {
		if s.vocabulary.ID(spelled) != embeddings.Unknown {
			return spelled
		}
	}
	return all[0]
}

// WritableWords are the words that are Writable. The version is raised when a word becomes
// writable, or is none any more.
var WritableWords = &embeddings.Restriction{Name: "writable", Version: 1, Keep: Writable}

// Writable reports whether a word is read again as that word where it is written: it is
// UTF-8 without white space or control characters, and one run to its last byte. Endings of
// contractions ('s) and abbreviations (U.S.) are read so where a vocabulary has them.
func Writable(w string) bool {
	breaks := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	if len(w) > longestCompound || !utf8.ValidString(w) || strings.ContainsFunc(w, breaks) {
		return false
	}
	if isRun(w) {
		return true
	}
	for _, apostrophe := range []string{"'", "’"} {
		ending, found := strings.CutPrefix(w, apostrophe)
		if found && isRun(ending) && !strings.ContainsAny(ending, cuts+"'’") {
			return true
		}
	}
	if !strings.HasSuffix(w, ".") {
		return false
	}
	v, err := embeddings.NewVocabulary([]string{w})
	if err != nil {
		return false
	}
	found := splitter{vocabulary: v}.words(nil, w)
	return len(found) == 1 && found[0].kind == known
}

// isRun reports whether all of a text is one word before a vocabulary cuts it.
func isRun(text string) bool {
	found := splitter{}.words(nil, text)
	return len(found) == 1 && found[0].start == 0 && int(found[0].end) == len(text)
}
