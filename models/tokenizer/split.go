package tokenizer

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// metaspace stands for a space inside pieces of Unigram models.
const metaspace = "▁" // U+2581

func (t *Tokenizer) addSplitter(c component) error {
	each := func(f func(string) []string) {
		t.split = append(t.split, func(parts []string, _ bool) []string {
			var out []string
			for _, p := range parts {
				out = append(out, f(p)...)
			}
			return out
		})
	}
	switch c.Type {
	case "BertPreTokenizer":
		each(splitBERT)
	case "WhitespaceSplit":
		each(strings.Fields)
	case "Whitespace":
		each(splitWords)
	case "ByteLevel":
		prefix := orTrue(c.AddPrefixSpace)
		whole := !orTrue(c.UseRegex)
		t.byteLevel = true
		each(func(s string) []string {
			if s = strings.ToValidUTF8(s, "\ufffd"); prefix && !strings.HasPrefix(s, " ") {
				s = " " + s
			}
			parts := []string{s}
			if !whole {
				parts = splitGPT2(s)
			}
			for i, p := range parts {
				parts[i] = bytesToRunes(p)
			}
			return parts
		})
	case "Metaspace":
		return t.addMetaspace(c)
	case "Sequence":
		for _, child := range c.PreTokenizers {
			if err := t.addSplitter(child); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("pre-tokenizer %q is not supported", c.Type)
	}
	return nil
}

func (t *Tokenizer) addMetaspace(c component) error {
	if c.Replacement != metaspace {
		return fmt.Errorf("pre-tokenizer Metaspace: replacement = %q: must be %q", c.Replacement, metaspace)
	}
	scheme := c.PrependScheme
	switch {
	case scheme == "" && orTrue(c.AddPrefixSpace): // the older spelling
		scheme = "always"
	case scheme == "":
		scheme = "never"
	case scheme != "always" && scheme != "first" && scheme != "never":
		return fmt.Errorf("prepend_scheme %q is not supported", scheme)
	}
	t.metaspace = true
	t.split = append(t.split, func(parts []string, first bool) []string {
		var out []string
		for i, p := range parts {
			p = strings.ReplaceAll(p, " ", metaspace)
			if (scheme == "always" || scheme == "first" && first && i == 0) && !strings.HasPrefix(p, metaspace) {
				p = metaspace + p
			}
			if !orTrue(c.Split) {
				out = append(out, p)
				continue
			}
			for len(p) > 0 {
				end := len(p)
				_, size := utf8.DecodeRuneInString(p)
				if next := strings.Index(p[size:], metaspace); next >= 0 {
					end = size + next
				}
				out = append(out, p[:end])
				p = p[end:]
			}
		}
		return out
	})
	return nil
}

// splitBERT splits at white space and around each punctuation mark.
func splitBERT(s string) []string {
	var out []string
	start := -1
	flush := func(end int) {
		if start >= 0 {
			out = append(out, s[start:end])
			start = -1
		}
	}
	for i, r := range s {
		switch {
		case unicode.IsSpace(r):
			flush(i)
		case punctuation(r):
			flush(i)
			out = append(out, s[i:i+utf8.RuneLen(r)])
		case start < 0:
			start = i
		}
	}
	flush(len(s))
	return out
}

// punctuation is BERT's: Unicode's, and the ASCII characters that are neither
// letter nor digit.
func punctuation(r rune) bool {
	return r > ' ' && r < 0x7f && !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsPunct(r)
}

// splitWords is the pattern \w+|[^\w\s]+.
func splitWords(s string) []string {
	class := func(r rune) int {
		switch {
		case unicode.IsSpace(r):
			return 0
		case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.Is(unicode.Nd, r) || unicode.Is(unicode.Nl, r) ||
			unicode.Is(unicode.Pc, r) || unicode.Is(unicode.Other_Alphabetic, r) || unicode.Is(unicode.Join_Control, r):
			return 1
		}
		return 2
	}
	var out []string
	start, last := 0, 0
	for i, r := range s {
		c := class(r)
		if c != last {
			if last != 0 {
				out = append(out, s[start:i])
			}
			start, last = i, c
		}
	}
	if last != 0 {
		out = append(out, s[start:])
	}
	return out
}

// splitGPT2 is the pattern of GPT-2's tokenizer (Radford et al. 2019, released
// code): 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// Each byte of s is in exactly one part.
func splitGPT2(s string) []string {
	var out []string
	for len(s) > 0 {
		n := nextGPT2(s)
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

func nextGPT2(s string) int {
	for _, ending := range []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if strings.HasPrefix(s, ending) {
			return len(ending)
		}
	}
	start := 0
	if s[0] == ' ' {
		start = 1
	}
	first, _ := utf8.DecodeRuneInString(s[start:])
	if start == len(s) || unicode.IsSpace(first) {
		return spaces(s)
	}
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r):
			return 1
		case unicode.IsNumber(r):
			return 2
		case unicode.IsSpace(r):
			return 0
		}
		return 3
	}
	want := class(first)
	end := strings.IndexFunc(s[start:], func(r rune) bool { return class(r) != want })
	if end < 0 {
		return len(s)
	}
	return start + end
}

// spaces returns the length of a run of white space, without its last character
// where more than one stand before something else.
func spaces(s string) int {
	end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) })
	if end < 0 {
		return len(s)
	}
	if _, size := utf8.DecodeLastRuneInString(s[:end]); size < end {
		return end - size
	}
	return end
}

// byteRunes are the printable characters that stand for bytes in byte-level
// vocabularies: printable bytes of Latin-1 are themselves, the others follow
// from U+0100 on.
var byteRunes = func() (runes [256]rune) {
	next := rune(256)
	for b := range runes {
		if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae {
			runes[b] = rune(b)
		} else {
			runes[b] = next
			next++
		}
	}
	return runes
}()

func bytesToRunes(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(byteRunes[s[i]])
	}
	return b.String()
}
