package privatize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"mldpbench/embeddings"
	"mldpbench/internal/list"
)

// word is a word of a text.
type word struct {
	start, end int32 // in the text
	kind       kind
	split      bool   // cut from the previous word, with no byte between them
	token      string // as the mechanism gets it
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
	kept       []string               // sorted
}

// runs returns the words of a text as they are found before a vocabulary cuts
// them, and the text after each.
func runs(text string) (words, gaps []string) {
	found := append(splitter{}.words(nil, text), word{start: int32(len(text))})
	for i, w := range found[:len(found)-1] {
		words, gaps = append(words, text[w.start:w.end]), append(gaps, text[w.end:found[i+1].start])
	}
	return words, gaps
}

// words appends the words of a text of less than 2 GiB to dst.
func (s splitter) words(dst []word, text string) []word {
	at, mail, mailEnd := email(text, 0)
	for i := 0; i < len(text); {
		if i > at && i >= mailEnd {
			at, mail, mailEnd = email(text, i)
		}
		role, size := roleAt(text, i)
		end, whole := i+size, true
		switch {
		case i == mail:
			end = mailEnd
		case role == between:
			i = end
			continue
		case role == picture:
			cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[i:], -1)
			end = i + len(cluster)
		default:
			end, whole = compound(text, i)
		}
		switch {
		case s.vocabulary == nil:
			dst = append(dst, word{start: int32(i), end: int32(end)})
		case whole:
			dst = append(dst, s.lookup(text, i, end))
		default:
			dst, end = s.compound(dst, text, i, end)
		}
		i = end
	}
	return dst
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

// joiner returns the length of the joiner at a byte, or 0. left is the role of
// the character before.
func joiner(text string, i int, left role) int {
	r, size := utf8.DecodeRuneInString(text[i:])
	right, _ := roleAt(text, i+size)
	if (right == letter || right == digit) && strings.ContainsRune("'’-._&@", r) ||
		right == digit && left == digit && strings.ContainsRune(",:/", r) {
		return size
	}
	return 0
}

// compound returns the end of the longest run of words and joiners from start
// on, and whether it is an address.
func compound(text string, start int) (end int, address bool) {
	left := between
	for i := start; i < len(text); {
		k, size := roleAt(text, i)
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
		address = address || text[i] == '@'
		i += size
	}
	return end, address
}

// urlEnd returns the position of the next white space, quote or angle bracket;
// a final punctuation mark belongs to the sentence.
func urlEnd(text string, i int) int {
	rest := text[i:]
	if n := strings.IndexFunc(rest, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"<>", r)
	}); n >= 0 {
		rest = rest[:n]
	}
	return i + len(strings.TrimRight(rest, ".,;:!?)]}'’"))
}

// longestMail bounds both sides of an e-mail address (RFC 5321, 4.5.3.1).
const longestMail = 320

// email returns the place of the next @, and where the e-mail address around it (RFC
// 5322, 3.4.1, and 6531) begins and ends, both -1 where there is none. A run of letters
// and digits with an @ inside is an address in any case, see compound.
func email(text string, from int) (at, start, end int) {
	if at = strings.IndexByte(text[from:], '@'); at < 0 {
		return len(text), -1, -1
	}
	at += from
	local, domain := text[max(from, at-longestMail):at], text[at+1:min(len(text), at+1+longestMail)]
	if before := strings.LastIndexFunc(local, notOf(".!#$%&'*+/=?^_`{|}~-")); before >= 0 {
		_, size := utf8.DecodeRuneInString(local[before:])
		local = local[before+size:]
	}
	if n := strings.IndexFunc(domain, notOf(".-")); n >= 0 {
		domain = domain[:n]
	}
	local, domain = strings.TrimLeft(local, "'."), strings.TrimRight(domain, ".-")
	if local == "" || domain == "" {
		return at, -1, -1
	}
	return at, at - len(local), at + 1 + len(domain)
}

// notOf finds the characters that are neither letters, digits nor some others.
func notOf(others string) func(rune) bool {
	return func(r rune) bool {
		return !strings.ContainsRune(others, r) && !unicode.IsLetter(r) && !unicode.IsNumber(r) &&
			(r < utf8.RuneSelf || unicode.In(r, unicode.Z, unicode.P, unicode.S))
	}
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
		for ; start < end; start++ {
			to := end
			if cut := strings.IndexAny(text[start:end], cuts); cut >= 0 {
				to = start + cut
			}
			dst = append(dst, s.lookup(text, start, to))
			start = to
		}
		return dst, end
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
	cut := max(strings.LastIndexByte(part, '\''), strings.LastIndex(part, "’"))
	for _, at := range []int{cut - 1, cut} { // n't, and then any other ending
		if at < 1 || at < cut && part[at] != 'n' && part[at] != 'N' {
			continue
		}
		if ending := s.lookup(text, start+at, end); ending.kind != unknown {
			ending.split = true
			dst, _ = s.compound(dst, text[:start+at], start, start+at)
			return append(dst, ending), end
		}
	}
	return append(dst, w), end
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
