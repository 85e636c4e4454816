package transformer

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mldpbench/internal/kernel"
	"mldpbench/internal/realdata"
)

// real opens a model of the real data and its reference.json.
func real(t testing.TB, name string, task Task, reference any) *Model {
	t.Helper()
	file := realdata.File(t, name+"/reference.json")
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, reference)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(filepath.Dir(file), task)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// maskedPieces returns, for each position of a text of words, the natural
// logarithms of the probabilities of all pieces at one mask token in place of
// the word there.
func (m *Model) maskedPieces(ctx context.Context, words []string, positions []int) ([][]float32, error) {
	pieces := m.words(words)
	var jobs []job
	for _, p := range positions {
		if p < 0 || p >= len(words) {
			return nil, fmt.Errorf("position %d of %d words", p, len(words))
		}
		j, err := m.masked(pieces, p, 1)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	out := make([][]float32, len(positions))
	err := m.runMasked(ctx, jobs, func(i int, rows [][]float32) {
		out[i] = slices.Clone(rows[0])
		space := make([]float32, len(out[i]))
		kernel.Combine(kernel.Subtract, out[i], out[i], []float32{float32(logNormaliser(rows[0], space))})
	})
	return out, err
}

func TestMaskedReference(t *testing.T) {
	var reference struct {
		IDs  []int    `json:"ids"`
		Top5 [][2]any `json:"top5"`
	}
	m := real(t, "tiny-masked-lm", Masked, &reference)
	words := strings.Fields("the movie was thing .")
	job, err := m.masked(m.words(words), 3, 1)
	if err != nil || !slices.Equal(job.ids, reference.IDs) || !slices.Equal(job.rows, []int{4}) {
		t.Fatalf("%v, %v, want %v", job, err, reference.IDs)
	}
	logs, err := m.maskedPieces(context.Background(), words, []int{3})
	if err != nil || len(logs[0]) != 8000 || m.classes != 8000 {
		t.Fatal(err)
	}
	sum := 0.0
	order := make([]int, 8000)
	for i, x := range logs[0] {
		sum += math.Exp(float64(x))
		order[i] = i
	}
	if math.Abs(sum-1) > 1e-5 {
		t.Errorf("probabilities sum to %v", sum)
	}
	slices.SortFunc(order, func(a, b int) int {
		return map[bool]int{true: -1, false: 1}[logs[0][a] > logs[0][b]]
	})
	for i, want := range reference.Top5 {
		if !slices.Equal(order[i:i+1], m.tokens.Word(want[0].(string), false)) ||
			math.Abs(float64(logs[0][order[i]])-want[1].(float64)) > 1e-4 {
			t.Errorf("rank %d: piece %d %v, want %v", i, order[i], logs[0][order[i]], want)
		}
	}
}

func TestCausalReference(t *testing.T) {
	var reference struct {
		IDs      []int
		LogProbs []float64
	}
	m := real(t, "tiny-causal-lm", Causal, &reference)
	got, err := m.score(context.Background(), [][]int{reference.IDs})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range reference.LogProbs {
		if math.Abs(got[0][i]-want) > 1e-4 {
			t.Errorf("piece %d: %v, want %v", i, got[0][i], want)
		}
	}
	text, err := m.CausalLogProbs(context.Background(), []string{"the  movie\twas good .", ""})
	if err != nil || len(text[0]) != 6 || len(text[1]) != 1 { // the closing token is scored
		t.Fatalf("%v, %v", text, err)
	}
	for i := range 3 { // the beginnings are equal
		if text[0][i] != got[0][i] && math.Abs(text[0][i]-got[0][i]) > 1e-5 {
			t.Errorf("piece %d: %v in another text %v", i, text[0][i], got[0][i])
		}
	}
}

// A text longer than the limit is scored once per piece, with the same numbers
// as each window gives alone.
func TestCausalWindows(t *testing.T) {
	m := real(t, "tiny-causal-lm", Causal, new(any))
	long := make([]int, 50)
	for i := range long {
		long[i] = 10 + i*61%4000
	}
	short := *m
	short.limit = 20
	got, err := short.score(context.Background(), [][]int{long})
	if err != nil {
		t.Fatal(err)
	}
	// Windows [0, 20), [10, 30), [20, 40), [30, 50): the pieces from the middle of each on.
	for _, w := range []struct{ start, end, from int }{{0, 20, 1}, {10, 30, 20}, {20, 40, 30}, {30, 50, 40}} {
		alone, err := m.score(context.Background(), [][]int{long[w.start:w.end]})
		if err != nil {
			t.Fatal(err)
		}
		for at := w.from; at < w.end; at++ {
			if want := alone[0][at-1-w.start]; got[0][at-1] != want {
				t.Errorf("piece %d: %v, want %v", at, got[0][at-1], want)
			}
		}
	}
}

// Candidates of one piece keep the ratios of the model; all of them together
// are a distribution; words of several pieces are products.
func TestMaskedWords(t *testing.T) {
	m := real(t, "tiny-masked-lm", Masked, new(any))
	ctx := context.Background()
	words := strings.Fields("the movie was good .")
	candidates := []string{"good", "terrible", "blandness", "", "film", "zzzzqqqqxxxxjjjjvvvv"}
	c, err := m.Candidates(candidates, 4)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Excluded, []bool{false, false, false, true, false, true}) {
		t.Fatalf("excluded %v", c.Excluded)
	}
	logs, err := m.MaskedWords(ctx, words, []int{3, 1, 3}, c)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range logs {
		sum := 0.0
		for k, x := range l {
			if math.IsInf(x, -1) != c.Excluded[k] {
				t.Errorf("position %d: %s has %v", i, candidates[k], x)
			}
			sum += math.Exp(x)
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("position %d: sum %v", i, sum)
		}
	}
	if !slices.Equal(logs[0], logs[2]) {
		t.Error("the same position twice gives two answers")
	}
	pieces, err := m.maskedPieces(ctx, words, []int{3})
	if err != nil {
		t.Fatal(err)
	}
	good, terrible := m.tokens.Word("good", false)[0], m.tokens.Word("terrible", false)[0]
	if want := float64(pieces[0][good] - pieces[0][terrible]); math.Abs(logs[0][0]-logs[0][1]-want) > 1e-5 {
		t.Errorf("ratio %v, want %v", logs[0][0]-logs[0][1], want)
	}
	// The product by hand, from a run with as many masks.
	ids := m.tokens.Word("blandness", false)
	j, err := m.masked(m.words(words), 3, len(ids))
	if err != nil || len(ids) < 2 {
		t.Fatal(ids, err)
	}
	product := 0.0
	err = m.run(ctx, []job{j}, source{output: m.output}, func(_ int, rows [][]float32) error {
		for r, row := range rows {
			product += float64(row[ids[r]]) - logNormaliser(row, make([]float32, len(row)))
		}
		return nil
	})
	if want := product - float64(pieces[0][good]); err != nil || math.Abs(logs[0][2]-logs[0][0]-want) > 1e-5 {
		t.Errorf("a word of %d pieces: %v, want %v, %v", len(ids), logs[0][2]-logs[0][0], want, err)
	}
	if _, err := m.MaskedWords(ctx, words, []int{5}, c); err == nil {
		t.Error("a position outside the text was accepted")
	}
	if _, err := m.Candidates([]string{""}, 3); err == nil {
		t.Error("no candidate at all was accepted")
	}
}

// The word stays inside a cut text, as near to the middle as can be.
func TestMaskedIsCutAroundTheWord(t *testing.T) {
	m := &Model{limit: 8, before: []int{100}, after: []int{101}, mask: 9}
	var pieces [][]int
	for i := range 20 {
		pieces = append(pieces, []int{10 + i})
	}
	for position, want := range map[int][]int{
		0:  {100, 9, 11, 12, 13, 14, 15, 101},
		1:  {100, 10, 9, 12, 13, 14, 15, 101},
		10: {100, 17, 18, 19, 9, 21, 22, 101},
		19: {100, 24, 25, 26, 27, 28, 9, 101},
	} {
		j, err := m.masked(pieces, position, 1)
		if err != nil || !slices.Equal(j.ids, want) || j.ids[j.rows[0]] != 9 {
			t.Errorf("position %d: %v, want %v, %v", position, j.ids, want, err)
		}
	}
	if _, err := m.masked(pieces, 3, 7); err == nil {
		t.Error("more masks than the limit were accepted")
	}
}

func someTexts() []string {
	words := strings.Fields("the movie was a long and rather dull story about stocks on Wall Street which nobody " +
		"would ever really enjoy twice")
	var out []string
	for n := range 40 {
		var s []string
		for i := range 1 + n%11*3 {
			s = append(s, words[(i*(n+3)+n)%len(words)])
		}
		out = append(out, strings.Join(s, " "))
	}
	return append(out, strings.Repeat("very ", 200)+"long", "")
}

// The numbers of a text do not depend on the texts beside it, on the number of
// processors, or on the order.
func TestTextsAreIndependent(t *testing.T) {
	ctx := context.Background()
	use := real(t, "use-lite-onnx", Encoder, new(any))
	lm := real(t, "tiny-masked-lm", Masked, new(any))
	causal := real(t, "tiny-causal-lm", Causal, new(any))
	texts := someTexts()
	numbers := func(texts []string) [][]float32 {
		v, err := use.Encode(ctx, texts)
		if err != nil {
			t.Fatal(err)
		}
		tokens, err := lm.TokenVectors(ctx, texts)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := causal.CausalLogProbs(ctx, texts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range v {
			v[i] = slices.Concat(v[i], slices.Concat(tokens[i]...))
			for _, x := range scores[i] {
				v[i] = append(v[i], float32(x))
			}
		}
		return v
	}
	for _, path := range kernel.Paths() {
		texts := texts
		if path == "go" { // slow
			texts = texts[:5]
		}
		restore, err := kernel.Use(path)
		if err != nil {
			t.Fatal(err)
		}
		want := numbers(texts)
		before := runtime.GOMAXPROCS(1)
		for i := 0; i < len(texts); i += 7 {
			if got := numbers(texts[i : i+1]); !slices.Equal(got[0], want[i]) {
				t.Errorf("%s: text %d alone has other numbers", path, i)
			}
		}
		runtime.GOMAXPROCS(4)
		reversed := slices.Clone(texts)
		slices.Reverse(reversed)
		for i, got := range numbers(reversed) {
			if !slices.Equal(got, want[len(want)-1-i]) {
				t.Errorf("%s: text %d in another order has other numbers", path, len(want)-1-i)
			}
		}
		runtime.GOMAXPROCS(before)
		restore()
	}
}

// A wait that never ends would be a wait for a processor: 100 runs on 1, 2 and 4.
func TestNeverHangs(t *testing.T) {
	m := real(t, "use-lite-onnx", Encoder, new(any))
	if testing.Short() {
		t.Skip("takes seconds")
	}
	texts := []string{"a", "the movie", "was good", "and long", "stocks fell today"}
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, n := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(n)
		done := make(chan error, 1)
		go func() {
			for range 100 {
				if _, err := m.Encode(context.Background(), texts); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("GOMAXPROCS=%d: 100 runs did not end in 2 minutes", n)
		}
	}
}

func TestTokenVectors(t *testing.T) {
	m := real(t, "tiny-masked-lm", Masked, new(any))
	v, err := m.TokenVectors(context.Background(), []string{"the movie was blandness", ""})
	pieces := len(m.tokens.Encode("the movie was blandness", 0)) - 2
	if err != nil || len(v[0]) != pieces || len(v[0][0]) != 128 || v[1] != nil {
		t.Errorf("%d vectors for %d pieces, %v", len(v[0]), pieces, err)
	}
	use := real(t, "use-lite-onnx", "", new(any))
	if _, err := use.TokenVectors(context.Background(), []string{"a"}); err == nil {
		t.Error("an encoder of sentences gave vectors of tokens")
	}
}

func TestTasksAreTold(t *testing.T) {
	ctx := context.Background()
	m := real(t, "tiny-masked-lm", "", new(any))
	_, errEncode := m.Encode(ctx, []string{"a"})
	_, errCausal := m.CausalLogProbs(ctx, []string{"a"})
	causal := real(t, "tiny-causal-lm", "", new(any))
	_, errMasked := causal.maskedPieces(ctx, []string{"a"}, []int{0})
	for _, err := range []error{errEncode, errCausal, errMasked} {
		if err == nil || !strings.Contains(err.Error(), "a model of the kind ") {
			t.Errorf("err = %v", err)
		}
	}
	_, err := Open(m.dir, Causal)
	if err == nil || !strings.Contains(err.Error(), "it is a model of the kind masked, not causal") {
		t.Errorf("err = %v", err)
	}
}

// A folder may be a link, and its description says what it serves for.
func TestDescribeLink(t *testing.T) {
	m := real(t, "tiny-masked-lm", "", new(any))
	link := filepath.Join(t.TempDir(), "mine")
	abs, err := filepath.Abs(m.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(abs, link); err != nil {
		t.Skip(err)
	}
	d, err := Describe(link)
	if err != nil {
		t.Fatal(err)
	}
	for _, fact := range []string{"mine\n", "masked language model", "8000 pieces to choose from",
		"WordPiece, 8000 pieces; texts are cut to 512", "vectors of tokens"} {
		if !strings.Contains(d, fact) {
			t.Errorf("no %q in %s", fact, d)
		}
	}
	linked, err := Open(link, "")
	if err != nil {
		t.Fatal(err)
	}
	a, errA := m.Fingerprint()
	b, errB := linked.Fingerprint()
	if a != b || a == "" || errA != nil || errB != nil {
		t.Errorf("fingerprints %s and %s, %v, %v", a, b, errA, errB)
	}
	if _, err := Describe(t.TempDir()); err == nil {
		t.Error("an empty folder was described")
	}
}

func BenchmarkMasked(b *testing.B) {
	m := real(b, "tiny-masked-lm", Masked, new(any))
	words := strings.Fields(strings.Repeat("the movie was really good and the bank was not ", 3))
	positions := make([]int, len(words))
	for i := range positions {
		positions[i] = i
	}
	c, err := m.Candidates([]string{"good", "bad", "terrible"}, 1)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := m.MaskedWords(context.Background(), words, positions, c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(words)*b.N)/b.Elapsed().Seconds(), "words/s")
}
