package privatize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"mldpbench/embeddings"
)

// word is a word of a text.
type word struct {
	start, end int32 // in the text
	id         embeddings.WordID
	form       form
	split      bool // cut from the previous word, with no byte between them
}

// form is how a word is capitalised.
type form uint8

const (
	asIs  form = iota
	title      // the first letter is upper case, the others are not
	upper      // all letters are, and there are at least two
)

// splitter finds the words of a text and looks them up. The rules are those
// used to make the public vector files. Where rules differ between files, the
// vocabulary decides:
//
//   - A word is a run of letters, digits and marks, with single joiners inside:
//     apostrophe, hyphen, full stop, underscore, & and @; between digits also
//     comma, colon and slash. It is looked up as it stands, in lower case, and
//     with a straight apostrophe; and with the full stop after it if it
//     contains another one (U.S.).
//   - An address (e-mail, or a URL up to the next white space) is one word.
//   - A word that the vocabulary does not have is cut: a contraction before its
//     ending if the vocabulary has the ending (do n't, it 's), anything else at
//     its joiners except apostrophes. Each part is then a separate word.
//   - An emoji is one word, with all its modifiers.
//
// Everything else is text between words.
type splitter struct {
	vocabulary *embeddings.Vocabulary
}

// words appends the words of a text of less than 2 GiB to dst.
func (s splitter) words(dst []word, text string) []word {
	for i := 0; i < len(text); {
		kind, size := kindAt(text, i)
		switch kind {
		case letter, digit:
			end, address := compound(text, i)
			if address {
				dst = append(dst, s.lookup(text, i, end))
			} else {
				dst, end = s.compound(dst, text, i, end)
			}
			i = end
		case picture:
			cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[i:], -1)
			dst = append(dst, s.lookup(text, i, i+len(cluster)))
			i += len(cluster)
		default:
			i += size
		}
	}
	return dst
}

// kind is the role of a character in a word.
type kind uint8

const (
	between kind = iota
	letter       // or mark
	digit
	picture
)

var asciiKind = func() (t [utf8.RuneSelf]kind) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = digit
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			t[c] = letter
		}
	}
	return t
}()

// kindAt returns the kind and the length of the character at a byte; the end of
// the text counts as between words.
func kindAt(text string, i int) (kind, int) {
	if i >= len(text) {
		return between, 0
	}
	if c := text[i]; c < utf8.RuneSelf {
		return asciiKind[c], 1
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	switch {
	case unicode.IsDigit(r):
		return digit, size
	case unicode.IsLetter(r), unicode.IsMark(r):
		return letter, size
	case r >= 0x2190 && unicode.Is(unicode.So, r):
		return picture, size
	}
	return between, size
}

// joiner returns the length of the joiner at a byte, or 0. left is the kind of
// the character before.
func joiner(text string, i int, left kind) int {
	size := 1
	switch c := text[i]; {
	case strings.IndexByte("'-._&@", c) >= 0:
	case strings.IndexByte(",:/", c) >= 0:
		if right, _ := kindAt(text, i+1); left != digit || right != digit {
			return 0
		}
	case strings.HasPrefix(text[i:], "’"):
		size = len("’")
	default:
		return 0
	}
	if right, _ := kindAt(text, i+size); right != letter && right != digit {
		return 0
	}
	return size
}

// compound returns the end of the longest run of words and joiners from start
// on, and whether it is an address.
func compound(text string, start int) (end int, address bool) {
	at := false
	left := between
	for i := start; i < len(text); {
		k, size := kindAt(text, i)
		if k == letter || k == digit {
			i += size
			left, end = k, i
			continue
		}
		if strings.HasPrefix(text[i:], "://") || text[i] == '.' && i == start+3 &&
			strings.EqualFold(text[start:i], "www") {
			if url := urlEnd(text, i); url > i+3 {
				return url, true
			}
		}
		size = joiner(text, i, left)
		if size == 0 {
			break
		}
		at = at || text[i] == '@'
		i += size
	}
	return end, at
}

// urlEnd returns the position of the next white space, quote or angle bracket;
// a final punctuation mark belongs to the sentence.
func urlEnd(text string, i int) int {
	rest := text[i:]
	if n := strings.IndexFunc(rest, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`"<>`, r)
	}); n >= 0 {
		rest = rest[:n]
	}
	return i + len(strings.TrimRight(rest, ".,;:!?)]}'*"))
}

// longestCompound is the longest run with joiners, in bytes, that is looked up
// whole. It keeps the time linear in the length of the text.
const longestCompound = 256

// cuts are the joiners at which a compound is cut into words.
const cuts = "-._&@,:/"

// compound appends the words of text[start:end] and returns where they end,
// which may be one full stop later.
func (s splitter) compound(dst []word, text string, start, end int) ([]word, int) {
	if end-start > longestCompound {
		for start < end {
			to := end
			if cut := strings.IndexAny(text[start:end], cuts); cut >= 0 {
				to = start + cut
			}
			dst = append(dst, s.lookup(text, start, to))
			start = to + 1
		}
		return dst, end
	}
	joined := strings.ContainsAny(text[start:end], cuts+"'’")
	if joined && strings.HasPrefix(text[end:], ".") && strings.Contains(text[start:end], ".") {
		if w := s.lookup(text, start, end+1); w.id != embeddings.Unknown {
			return append(dst, w), end + 1
		}
	}
	w := s.lookup(text, start, end)
	if w.id != embeddings.Unknown || !joined {
		return append(dst, w), end
	}
	return s.parts(dst, text, start, end), end
}

// parts cuts a word that the vocabulary does not have as a whole.
func (s splitter) parts(dst []word, text string, start, end int) []word {
	if cut := strings.LastIndexAny(text[start:end], cuts); cut >= 0 {
		dst, _ = s.compoundInside(dst, text, start, start+cut)
		dst, _ = s.compoundInside(dst, text, start+cut+1, end)
		return dst
	}
	part := text[start:end]
	cut := max(strings.LastIndexByte(part, '\''), strings.LastIndex(part, "’"))
	if cut > 1 && (part[cut-1] == 'n' || part[cut-1] == 'N') {
		if ending := s.lookup(text, start+cut-1, end); ending.id != embeddings.Unknown {
			ending.split = true
			dst, _ = s.compoundInside(dst, text, start, start+cut-1)
			return append(dst, ending)
		}
	}
	if cut > 0 {
		if ending := s.lookup(text, start+cut, end); ending.id != embeddings.Unknown {
			ending.split = true
			dst, _ = s.compoundInside(dst, text, start, start+cut)
			return append(dst, ending)
		}
	}
	return append(dst, s.lookup(text, start, end))
}

// compoundInside is compound for a part whose end is not the end of a word.
func (s splitter) compoundInside(dst []word, text string, start, end int) ([]word, int) {
	return s.compound(dst, text[:end], start, end)
}

// lookup finds text[start:end] in the vocabulary.
func (s splitter) lookup(text string, start, end int) word {
	w := word{start: int32(start), end: int32(end)}
	part := text[start:end]
	w.id = s.vocabulary.ID(part)
	lower := part
	if hasUpper(part) {
		w.form = formOf(part)
		if w.id == embeddings.Unknown {
			lower = strings.ToLower(part)
			w.id = s.vocabulary.ID(lower)
		}
	}
	if w.id == embeddings.Unknown && strings.Contains(part, "’") {
		w.id = s.vocabulary.ID(strings.ReplaceAll(lower, "’", "'"))
	}
	return w
}

// hasUpper reports whether a word may have a different form in lower case.
func hasUpper(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

func formOf(s string) form {
	letters, uppers, first := 0, 0, false
	for _, r := range s {
		if !unicode.IsLetter(r) {
			continue
		}
		if unicode.IsUpper(r) || unicode.IsTitle(r) {
			uppers++
			first = first || letters == 0
		}
		letters++
	}
	switch {
	case uppers > 1 && uppers == letters:
		return upper
	case uppers == 1 && first:
		return title
	}
	return asIs
}

// apply writes a word in a form.
func (f form) apply(s string) string {
	switch f {
	case title:
		r, size := utf8.DecodeRuneInString(s)
		return string(unicode.ToTitle(r)) + s[size:]
	case upper:
		return strings.ToUpper(s)
	}
	return s
}
