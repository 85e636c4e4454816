package privatize

import (
	"strings"
	"testing"

	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// A word that becomes another takes the capitals of the one that it replaces, with KeepCase, and nothing of its
// letters. At ε = 1e-9 each of 60 words stays with probability 1/2: that none changes has probability 2^-60.
func TestCapitalsOfAnotherWord(t *testing.T) {
	t.Parallel()
	space := small(t)
	m, err := mechanisms.New(mechanisms.Environment{Space: space},
		mechanisms.Settings{Mechanism: "k-rr", Epsilon: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	word := space.Vocabulary.Words()[0]
	title := strings.ToUpper(word[:1]) + word[1:]
	for given, as := range map[string]func(string) string{
		word:                  func(s string) string { return s },
		title:                 func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
		strings.ToUpper(word): strings.ToUpper,
	} {
		p := New(Options{Mechanism: m, Policy: mechanisms.Keep, KeepCase: true, Workers: 1})
		text := strings.TrimSpace(strings.Repeat(given+" ", 60))
		got, _, err := p.Texts(t.Context(), []string{text}, []stream.Seed{stream.FromUint64(1)})
		if err != nil {
			t.Fatal(err)
		}
		changed := 0
		for _, private := range strings.Fields(got[0]) {
			if private != given {
				changed++
			}
			if want := as(strings.ToLower(private)); private != want {
				t.Errorf("%q becomes %q, want its capitals, %q", given, private, want)
			}
		}
		if changed == 0 {
			t.Errorf("none of 60 words %q was changed with KeepCase, want about half", given)
		}
	}
}
