package privatize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"mldpbench/embeddings"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
)

// word is a word of a text as the splitter found it: what comes after looks nothing up.
type word struct {
	start, end int32 // in the text
	// id is that of a known word, and of a filler as the mechanism gets it; of a word that
	// is kept, that of its spelling in the text; else Unknown.
	id    mechanisms.WordID
	kind  kind
	split bool   // cut from the previous word, with no byte between them
	token string // as the vocabulary, or the list of words that are kept, spells it
}

// input is the word as the mechanism gets it.
func (w word) input() mechanisms.WordID {
	if w.kind == kept {
		return mechanisms.Kept
	}
	return w.id
}

// kind is what becomes of a word.
type kind uint8

const (
	unknown kind = iota // the policy decides
	known               // the mechanism replaces it; its guarantee is spent on the word
	kept                // passes unchanged
	filler              // is none of the text, which is filled up to a length
)

// splitter finds the words of a text and looks them up. The rules are those
// used to make the public vector files. Where rules differ between files, the
// vocabulary decides:
//
//   - A word is a run of letters, digits and marks, with single joiners inside:
//     apostrophe, hyphen, full stop, underscore, & and @; between digits also
//     comma, colon and slash. It is looked up as it stands, in lower case, in
//     the other normal forms of Unicode, and with a straight apostrophe; and with
//     the full stop after it if it contains another one (U.S.).
//   - An address (e-mail, or a URL up to the next white space) is one word.
//   - A word that the vocabulary does not have is cut: a contraction before its
//     ending if the vocabulary has the ending (do n't, it 's), anything else at
//     its joiners except apostrophes. Each part is then a separate word.
//   - An emoji is one word, with all its modifiers.
//
// Everything else is text between words: white space, punctuation, signs such as
// + and $, format and control characters. What is not known to be one of them,
// such as a character newer than these tables or of private use, is a letter.
type splitter struct {
	vocabulary *embeddings.Vocabulary // nil: words are not cut
	kept       map[string]struct{}
}

// newSplitter returns the splitter of texts whose words a vocabulary has, or a list of
// those that are kept.
func newSplitter(v *embeddings.Vocabulary, kept []string) splitter {
	s := splitter{v, make(map[string]struct{}, len(kept))}
	for _, w := range kept {
		s.kept[w] = struct{}{}
	}
	return s
}

// runs returns the words of a text as they are found before a vocabulary cuts
// them, and the text after each.
func runs(text string) (words, gaps []string) {
	found := append(splitter{}.words(nil, text), word{start: int32(len(text))})
	for i, w := range found[:len(found)-1] {
		words = append(words, text[w.start:w.end])
		gaps = append(gaps, text[w.end:found[i+1].start])
	}
	return words, gaps
}

// Marks reads the words of a text in lower case, and says of each whether it may be a name, a
// number or an address: it has a digit or an @, or a capital letter though it begins no sentence.
func Marks(text string) (words []string, marked []bool) {
	found, gaps := runs(text)
	begins := true
	for i, w := range found {
		capitals, digits, at := marksOf(w)
		words = append(words, lowerCase(w))
		marked = append(marked, digits || at || capitals && !begins)
		begins = strings.ContainsAny(gaps[i], ".!?\n")
	}
	return words, marked
}

// words appends the words of a text of less than 2 GiB to dst.
func (s splitter) words(dst []word, text string) []word {
	next := email(text, 0)
	for i := 0; i < len(text); {
		if i > next.at && i >= next.end {
			next = email(text, i)
		}
		role, size := roleAt(text, i)
		if role == between && i != next.start {
			i += size
			continue
		}
		end, whole := runAt(text, i, role, next)
		switch {
		case s.vocabulary == nil:
			dst = append(dst, word{
				start: int32(i),
				end:   int32(end),
				id:    embeddings.Unknown,
			})
		case whole:
			dst = append(dst, s.lookup(text, i, end))
		default:
			dst, end = s.compound(dst, text, i, end)
		}
		i = end
	}
	return dst
}

// runAt returns where the run ends that begins at a byte with a character of a role, and
// whether it is one word whatever the vocabulary has. next is the next @.
func runAt(text string, i int, role role, next address) (end int, whole bool) {
	switch {
	case i == next.start:
		return next.end, true
	case role == picture:
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[i:], -1)
		return i + len(cluster), true
	}
	return compound(text, i)
}

// role is that of a character in a word.
type role uint8

const (
	between role = iota
	letter       // or mark
	digit
	picture
)

// roleAt returns the role and the length of the character at a byte; the end of
// the text counts as between words.
func roleAt(text string, i int) (role, int) {
	if i >= len(text) {
		return between, 0
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	const firstPicture, firstEmoji, lastEmoji, firstTag, lastTag = 0x2190, 0x1F000, 0x1FAFF, 0xE0020, 0xE007F
	switch {
	case unicode.IsLetter(r):
		return letter, size
	case unicode.IsNumber(r):
		return digit, size
	case r < utf8.RuneSelf:
		return between, size
	case unicode.IsMark(r):
		return letter, size
	case r >= firstPicture && unicode.Is(unicode.So, r):
		return picture, size
	case r >= firstTag && r <= lastTag: // format characters that spell letters
		return letter, size
	case unicode.In(r, unicode.Z, unicode.P, unicode.S, unicode.Cc, unicode.Cf):
		return between, size
	case r >= firstEmoji && r <= lastEmoji: // not assigned when the tables were made
		return picture, size
	}
	return letter, size
}

// longestCompound bounds the length of what is looked up and cut again part by
// part; anything longer is cut at every joiner at once. It must be above any word
// of a vocabulary.
const longestCompound = 1 << 10

// Joiners at which a compound is cut into words.
const cuts = "-._&@,:/"

// compound appends the words of text[start:end] and returns where they end,
// which may be one full stop later.
func (s splitter) compound(dst []word, text string, start, end int) ([]word, int) {
	if end-start > longestCompound {
		return s.parts(dst, text, start, end), end
	}
	part := text[start:end]
	joined := strings.ContainsAny(part, cuts+"'’")
	if joined && strings.HasPrefix(text[end:], ".") && strings.Contains(part, ".") {
		if w := s.lookup(text, start, end+1); w.kind != unknown {
			return append(dst, w), end + 1
		}
	}
	w := s.lookup(text, start, end)
	if w.kind != unknown || !joined {
		return append(dst, w), end
	}
	if cut := start + strings.LastIndexAny(part, cuts); cut >= start {
		dst, _ = s.compound(dst, text[:cut], start, cut)
		dst, _ = s.compound(dst, text[:end], cut+1, end)
		return dst, end
	}
	if ending, ok := s.ending(text, start, end); ok {
		dst, _ = s.compound(dst, text[:ending.start], start, int(ending.start))
		return append(dst, ending), end
	}
	return append(dst, w), end
}

// parts appends the words of text[start:end], cut at every joiner.
func (s splitter) parts(dst []word, text string, start, end int) []word {
	for start < end {
		to := end
		if cut := strings.IndexAny(text[start:end], cuts); cut >= 0 {
			to = start + cut
		}
		dst = append(dst, s.lookup(text, start, to))
		start = to + 1
	}
	return dst
}

// ending returns the ending of a contraction: n't, or any other from the last apostrophe on.
func (s splitter) ending(text string, start, end int) (word, bool) {
	part := text[start:end]
	apostrophe := max(strings.LastIndexByte(part, '\''), strings.LastIndex(part, "’"))
	for _, at := range []int{apostrophe - 1, apostrophe} {
		if at < 1 || at < apostrophe && part[at] != 'n' && part[at] != 'N' {
			continue
		}
		if w := s.lookup(text, start+at, end); w.kind != unknown {
			w.split = true
			return w, true
		}
	}
	return word{}, false
}

// cased writes a word as another is capitalised: Title, or UPPER where that has at
// least two letters.
func cased(as, like string) string {
	isUpper := func(r rune) bool { return unicode.IsUpper(r) || unicode.IsTitle(r) }
	isLower := func(r rune) bool { return unicode.IsLetter(r) && !isUpper(r) }
	switch uppers := list.Count([]rune(like), isUpper); {
	case uppers > 1 && !strings.ContainsFunc(like, isLower):
		return strings.ToUpper(as)
	case uppers == 1 && strings.IndexFunc(like, isUpper) == strings.IndexFunc(like, unicode.IsLetter):
		first, size := utf8.DecodeRuneInString(as)
		return string(unicode.ToTitle(first)) + as[size:]
	}
	return as
}
