package privatize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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
			left = k
			end = i
			continue
		}
		www := text[i] == '.' && i == start+3 && strings.EqualFold(text[start:i], "www")
		if www || strings.HasPrefix(text[i:], "://") {
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
	ends := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"<>", r) }
	if n := strings.IndexFunc(rest, ends); n >= 0 {
		rest = rest[:n]
	}
	return i + len(strings.TrimRight(rest, ".,;:!?)]}'’"))
}

// longestMail bounds both sides of an e-mail address (RFC 5321, 4.5.3.1).
const longestMail = 320

// address is the place of an @, and where the e-mail address around it begins and ends,
// both -1 where there is none.
type address struct{ at, start, end int }

// email returns the next @, which is at the end if there is none, with the e-mail address
// around it (RFC 5322, 3.4.1, and 6531). A run of letters and digits with an @ inside is
// an address in any case, see compound.
func email(text string, from int) address {
	at := strings.IndexByte(text[from:], '@')
	if at < 0 {
		return address{len(text), -1, -1}
	}
	at += from
	local := text[max(from, at-longestMail):at]
	domain := text[at+1 : min(len(text), at+1+longestMail)]
	if before := strings.LastIndexFunc(local, notOf(".!#$%&'*+/=?^_`{|}~-")); before >= 0 {
		_, size := utf8.DecodeRuneInString(local[before:])
		local = local[before+size:]
	}
	if n := strings.IndexFunc(domain, notOf(".-")); n >= 0 {
		domain = domain[:n]
	}
	local = strings.TrimLeft(local, "'.")
	domain = strings.TrimRight(domain, ".-")
	if local == "" || domain == "" {
		return address{at, -1, -1}
	}
	return address{at, at - len(local), at + 1 + len(domain)}
}

// notOf finds the characters that are neither letters, digits nor some others.
func notOf(others string) func(rune) bool {
	return func(r rune) bool {
		return !strings.ContainsRune(others, r) &&
			!unicode.IsLetter(r) &&
			!unicode.IsNumber(r) &&
			(r < utf8.RuneSelf || unicode.In(r, unicode.Z, unicode.P, unicode.S))
	}
}
