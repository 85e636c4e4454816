package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

func (t *Tokenizer) addNormalizer(c component) error {
	add := func(f func(string) string) { t.normalize = append(t.normalize, f) }
	switch c.Type {
	case "NFC":
		add(norm.NFC.String)
	case "NFD":
		add(norm.NFD.String)
	case "NFKC":
		add(norm.NFKC.String)
	case "NFKD":
		add(norm.NFKD.String)
	case "Lowercase":
		add(lower)
	case "StripAccents":
		add(withoutMarks)
	case "Strip":
		left, right := orTrue(c.StripLeft), orTrue(c.StripRight)
		add(func(s string) string {
			if left {
				s = strings.TrimLeftFunc(s, unicode.IsSpace)
			}
			if right {
				s = strings.TrimRightFunc(s, unicode.IsSpace)
			}
			return s
		})
	case "Replace":
		var pattern struct{ String *string }
		if json.Unmarshal(c.Pattern, &pattern) != nil || pattern.String == nil || *pattern.String == "" {
			return fmt.Errorf("normalizer Replace: only a pattern that is a string is supported")
		}
		add(func(s string) string { return strings.ReplaceAll(s, *pattern.String, c.Content) })
	case "BertNormalizer":
		if orTrue(c.CleanText) {
			add(clean)
		}
		if orTrue(c.ChineseChars) {
			add(spaceIdeographs)
		}
		accents := orTrue(c.Lowercase)
		if c.StripAccents != nil {
			accents = *c.StripAccents
		}
		if accents {
			add(func(s string) string { return withoutMarks(norm.NFD.String(s)) })
		}
		if orTrue(c.Lowercase) {
			add(lower)
		}
	case "Sequence":
		for _, child := range c.Normalizers {
			if err := t.addNormalizer(child); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("normalizer %q is not supported", c.Type)
	}
	return nil
}

// lower maps each character on its own, without regard to its neighbours.
// U+0130 is the only one whose lower case is two characters.
func lower(s string) string { return strings.ToLower(strings.ReplaceAll(s, "İ", "i\u0307")) }

func withoutMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
}

// clean removes control characters, except tab and end of line, and makes all
// white space spaces.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case r == unicode.ReplacementChar || unicode.Is(unicode.C, r) || !assigned(r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, s)
}

func assigned(r rune) bool {
	return unicode.IsOneOf([]*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z}, r)
}

// ideographs are the blocks of CJK ideographs that BERT takes apart.
var ideographs = &unicode.RangeTable{
	R16: []unicode.Range16{{0x3400, 0x4dbf, 1}, {0x4e00, 0x9fff, 1}, {0xf900, 0xfaff, 1}},
	R32: []unicode.Range32{{0x20000, 0x2a6df, 1}, {0x2a700, 0x2b73f, 1}, {0x2b740, 0x2b81f, 1},
		{0x2b920, 0x2ceaf, 1}, {0x2f800, 0x2fa1f, 1}},
}

func spaceIdeographs(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return unicode.Is(ideographs, r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.Is(ideographs, r) {
			b.WriteString(" " + string(r) + " ")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
