package privatize

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"mldpbench/datasets/table"
	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

func vocabulary(t testing.TB, words ...string) *embeddings.Vocabulary {
	t.Helper()
	v, err := embeddings.NewVocabulary(words)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWords(t *testing.T) {
	t.Parallel()
	s := splitter{vocabulary: vocabulary(t, "do", "n't", "it", "'s", "don't", "well", "known", "state-of-the-art", "u.s.", "3.5",
		"i", "😀", "café", "the")}
	for text, want := range map[string]string{
		"":                                 "",
		" \t\r\n":                          "",
		"the The THE":                      "the The/T THE/U",
		"Don't don’t DON'T":                "Don't/T don’t DON'T/U",
		"won't Isn't it's IT’S":            "wo? +n't Is?/T +n't it +'s IT/U +’S/T",
		"'the' the' 'the":                  "the the the",
		"well-known state-of-the-art":      "well known state-of-the-art",
		"in the U.S. and the u.s.a":        "in? the U.S./U and? the u? s? a?",
		"3.5% 3.7 1,000 5:30":              "3.5 3? 7? 1? 000? 5? 30?",
		"d’john+tag@x.org 1,2+c@d 'e.+f@g": "d’john? tag@x.org? 1? 2? c@d? e.+f@g?",
		"a@b.org, see https://x.org/a?b=c. www.x.org":                  "a@b.org? see? https://x.org/a?b=c? www.x.org?",
		"I 😀👍🏽 👨\u200d👩\u200d👧":                                        "I/T 😀 👍🏽? 👨\u200d👩\u200d👧?",
		"cafe\u0301 CAFÉ":                                              "cafe\u0301 CAFÉ/U",
		"rock’n’x a- -a":                                               "rock’n’x? a? a?",
		"½ ② x² ⅫⅣ 〇":                                                  "½? ②? x²? ⅫⅣ? 〇?",
		"\U0001fae9\U0001fae9 \U0002ebf0a \ue000 \U000e0041 ,\u200b+€": "\U0001fae9? \U0001fae9? \U0002ebf0a? \ue000? \U000e0041?",
		"(o'b+x/y@z-a.org) {z}@q @a .b@x. '+@y a@":                     "o'b+x/y@z-a.org? {z}@q? a? b@x? +@y? a?",
	} {
		var got []string
		for _, w := range s.words(nil, text) {
			x := text[w.start:w.end]
			if w.split {
				x = "+" + x
			}
			if w.kind == unknown {
				x += "?"
			}
			got = append(got, x+map[string]string{"ab": "", "Ab": "/T", "AB": "/U"}[cased("ab", text[w.start:w.end])])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %s\nwant %s", text, strings.Join(got, " "), want)
		}
	}
}

// Words are parts of the text, in order and without spaces; the time is linear.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "a b", "don't\n", "\xff\xfea\xff", "é’é", "http://", "a.b.c.", "1,2:3/4", "😀😀"} {
		f.Add(s)
	}
	s := splitter{vocabulary: vocabulary(f, "a", "n't", "'s", "b.c", "1")}
	f.Fuzz(func(t *testing.T, text string) {
		end := int32(0)
		for _, w := range s.words(nil, text) {
			if w.start < end || w.end <= w.start || int(w.end) > len(text) {
				t.Fatalf("%q: word [%d, %d) after %d", text, w.start, w.end, end)
			}
			end = w.end
			if strings.ContainsAny(text[w.start:w.end], " \t\n") {
				t.Errorf("%q: word %q", text, text[w.start:w.end])
			}
		}
	})
}

// The cost of a very long compound is linear in its length, not quadratic.
func TestLongCompound(t *testing.T) {
	t.Parallel()
	s := splitter{vocabulary: vocabulary(t, "a")}
	for _, unit := range []string{"a-", "a'", "a.", "a", "é’", "1,", "://", "@"} {
		text := strings.Repeat(unit, 1<<20/len(unit))
		if n := len(s.words(nil, text)); n > len(text) {
			t.Errorf("%q: %d words", unit, n)
		}
	}
}

// small is a space of three pairs of near words.
func small(t testing.TB) *embeddings.Space {
	t.Helper()
	words := []string{"cat", "dog", "good", "bad", "idea", "thought"}
	s, err := embeddings.NewSpace("small", vocabulary(t, words...), 2, []float32{0, 0, 0, 1, 5, 5, 5, 6, -5, 5, -5, 6})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newStream(t testing.TB, o Options) *Stream {
	t.Helper()
	if o.Mechanism == nil {
		m, err := mechanisms.New(mechanisms.Environment{Space: small(t)},
			mechanisms.Settings{Mechanism: "tem", Epsilon: 1})
		if err != nil {
			t.Fatal(err)
		}
		o.Mechanism = m
	}
	if o.Policy == "" {
		o.Policy = mechanisms.Random
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	return New(o)
}

func runOn(t testing.TB, s *Stream, in io.Reader, o table.Options) string {
	t.Helper()
	r, err := table.NewReader(in, o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.Run(context.Background(), r, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func someText() string {
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"cat", "dog", "good", "Bad", "idea", "thought", "unicorn", "the"}
	var b strings.Builder
	for range 5000 {
		for range rng.IntN(30) {
			b.WriteString(words[rng.IntN(len(words))] + " ")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// The text depends on seed and input only, not on workers or on how the input
// arrives.
func TestSameTextHoweverItComes(t *testing.T) {
	t.Parallel()
	text := someText()
	for name, document := range map[string]float64{"words": 0, "documents": 20} {
		o := Options{Seed: stream.FromUint64(3), Document: document}
		want := runOn(t, newStream(t, o), strings.NewReader(text), table.Options{})
		if strings.Count(want, "\n") != strings.Count(text, "\n") || want == text {
			t.Fatal("not a private text")
		}
		o.Workers = 3
		for _, r := range []io.Reader{strings.NewReader(text), iotest.HalfReader(strings.NewReader(text)),
			iotest.DataErrReader(strings.NewReader(text))} {
			if got := runOn(t, newStream(t, o), r, table.Options{}); got != want {
				t.Errorf("%s: another text", name)
			}
		}
	}
}

// The end is reached however late it is known: the writer is closed, rows are
// counted.
func TestEndOfARun(t *testing.T) {
	t.Parallel()
	for range 300 {
		for in, o := range map[string]table.Options{"": {}, "cat\n": {},
			"{\"a\":\"cat\"}\n":       {Format: table.JSONLines, Columns: []string{"a"}},
			"[\n{\"a\":\"cat\"}\n]\n": {Format: table.JSON, Columns: []string{"a"}},
		} {
			s := newStream(t, Options{})
			out := runOn(t, s, iotest.OneByteReader(strings.NewReader(in)), o)
			if sum := s.Summary(); strings.Count(in, "\n") != strings.Count(out, "\n") ||
				(in != "") != (sum.Rewritten == 1) {
				t.Fatalf("%q: %q, %+v", in, out, sum)
			}
		}
	}
}

func TestErrorsEndARun(t *testing.T) {
	t.Parallel()
	text := someText()
	wrong := errors.New("disk full")
	for name, c := range map[string]struct {
		in   io.Reader
		out  io.Writer
		want string
	}{
		"writing": {strings.NewReader(text), failing{wrong}, "disk full"},
		"reading": {io.MultiReader(strings.NewReader(text), strings.NewReader("\xff")), io.Discard,
			"x:5001: is not UTF-8"},
	} {
		r, err := table.NewReader(c.in, table.Options{Name: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if err := newStream(t, Options{}).Run(context.Background(), r, c.out); err == nil ||
			!strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, err := table.NewReader(strings.NewReader(""), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := newStream(t, Options{}).Run(ctx, r, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestSummary(t *testing.T) {
	t.Parallel()
	s := newStream(t, Options{})
	_ = runOn(t, s, strings.NewReader("cat dog\n\nunicorn\ncat\ngood unicorn unicorn good idea\ncat\n"), table.Options{})
	got := s.Summary()
	want := Summary{Rewritten: 5, Wordless: 1, Words: 10, Unknown: 3, Known: 7,
		EpsilonMost: 3, EpsilonTotal: 7, spent: 4, most: 3}
	want.Changed = got.Changed
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	s.options.Document = 10
	if got := s.Summary(); got.EpsilonTotal != 40 || got.EpsilonMost != 10 {
		t.Errorf("%+v", got)
	}
}

// Lines of a conversation are answered one by one, before the next is there.
func TestConversation(t *testing.T) {
	t.Parallel()
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error)
	go func() {
		r, err := table.NewReader(in, table.Options{})
		if err == nil {
			err = newStream(t, Options{}).Run(t.Context(), r, out)
		}
		done <- err
	}()
	lines := bufio.NewReader(answers)
	for _, line := range []string{"cat\n", "good dog, ", "cat\nidea\n"} {
		fmt.Fprint(ask, line)
		for range strings.Count(line, "\n") {
			if got, err := lines.ReadString('\n'); err != nil || got == "\n" {
				t.Fatalf("%q, %v", got, err)
			}
		}
	}
	ask.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Words that are kept are there also where a mechanism leaves the others out.
func TestKeptWordsOfADeletion(t *testing.T) {
	t.Parallel()
	m, err := mechanisms.New(mechanisms.Environment{Space: small(t)}, mechanisms.Settings{Mechanism: "delete", Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	kept := []string{"cat", "the"}
	s := newStream(t, Options{Mechanism: mechanisms.KeepWords(m, kept), Policy: mechanisms.Drop})
	if got := runOn(t, s, strings.NewReader("The dog, cat unicorn idea.\n"), table.Options{}); got != "the cat\n" {
		t.Errorf("%q", got)
	}
}

// A record's budget is shared by the words of all its columns, known or not.
func TestBudgetOfARecord(t *testing.T) {
	t.Parallel()
	seed := stream.FromUint64(3)
	s := newStream(t, Options{Document: 8, Seed: seed, Policy: mechanisms.Keep})
	got := runOn(t, s, strings.NewReader("a,b\ncat dog,unicorn cat\n"),
		table.Options{Format: table.CSV, Columns: []string{"a", "b"}})
	m := s.options.Mechanism
	v := m.Vocabulary()
	private := func(column, text string, words ...string) []string {
		ids := v.Encode(nil, words)
		at, err := m.At(2)
		if err == nil {
			err = at.Privatize(t.Context(), ids, ids, s.Noise(seed.At(0), column, text).Rand())
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			words[i] = v.Word(id)
		}
		return words
	}
	want := "a,b\n" + strings.Join(private("a", "cat dog", "cat", "dog"), " ") + ",unicorn " +
		private("b", "unicorn cat", "cat")[0] + "\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// BenchmarkPipeline measures everything except the mechanism: reading, finding
// words, writing.
func BenchmarkPipeline(b *testing.B) {
	text := strings.Repeat(someText(), 8)
	words := len(strings.Fields(text))
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s := newStream(b, Options{Workers: workers})
				_ = runOn(b, s, strings.NewReader(text), table.Options{})
			}
			b.ReportMetric(float64(words)*float64(b.N)/b.Elapsed().Seconds(), "words/s")
		})
	}
}
