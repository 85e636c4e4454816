package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/privatize"
	"mldpbench/stream"
)

// noiseRows and noiseWords are the number of rows of a table of noise tests, and of the
// words of a row.
const (
	noiseRows  = 1600
	noiseWords = 3
)

// textsOf returns texts of words of the vectors of writeNoiseVectors.
func textsOf(seed uint64) []string {
	rng := stream.FromUint64(seed).Derive("texts").Rand()
	texts := make([]string, noiseRows)
	for i := range texts {
		words := make([]string, noiseWords)
		for j := range words {
			words[j] = noiseWord(rng.IntN(200))
		}
		texts[i] = strings.Join(words, " ")
	}
	return texts
}

func noiseWord(i int) string { return "w" + string(rune('a'+i/20)) + string(rune('a'+i%20)) }

// noiseVectors is a vector file of 200 words.
func noiseVectors() string {
	rng := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for i := range 200 {
		b.WriteString(noiseWord(i))
		for range 4 {
			fmt.Fprintf(&b, " %.4f", rng.NormFloat64())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// shared is how far the noise of two releases is that of one another, in standard
// deviations. Who knows the texts of release a and both outputs, not the seed, says that a
// word of b came back as it was where that of a did. The number of words on which that is
// right is hypergeometric, if the noise has nothing in common. Another attacker says that
// two equal outputs are of one draw; rows shifted by others tell how many are equal anyhow.
func shared(t *testing.T, a, privateA, b, privateB []string) float64 {
	t.Helper()
	var n, ofA, ofB, both float64
	equal := make([]float64, 40) // by the shift of rows
	for i := range a {
		wordsA := strings.Fields(a[i])
		wordsB := strings.Fields(b[i])
		outA := strings.Fields(privateA[i])
		outB := strings.Fields(privateB[i])
		if len(outA) != len(wordsA) || len(outB) != len(wordsB) {
			t.Fatalf("row %d: %q became %q, %q became %q: want as many words", i, a[i], privateA[i], b[i], privateB[i])
		}
		for j := range wordsA {
			n++
			if wordsA[j] == outA[j] {
				ofA++
			}
			if wordsB[j] == outB[j] {
				ofB++
			}
			if wordsA[j] == outA[j] && wordsB[j] == outB[j] {
				both++
			}
		}
		for shift := range equal {
			for j, other := range strings.Fields(privateB[(i+shift)%len(b)]) {
				if other == outA[j] {
					equal[shift]++
				}
			}
		}
	}
	expected := ofA * ofB / n
	byStay := (both - expected) / math.Sqrt(expected*(1-ofA/n)*(1-ofB/n))
	anyhow := 0.0
	for _, e := range equal[1:] {
		anyhow += e / float64(len(equal)-1)
	}
	byOutput := (equal[0] - anyhow) / math.Sqrt(anyhow)
	return math.Max(math.Abs(byStay), math.Abs(byOutput))
}

// The false alarm of a test is that of two normal numbers beyond apart: 4e-11. All tests
// of this file together have at most 1e-8.
const apart = 6.6

// noiseMechanisms have many words that come back, as in the attack on releases of one seed.
var noiseMechanisms = map[string]string{"k-rr": "4", "rank-fix": "1", "tem": "4", "santext": "6", "diffractor": "2"}

// asBefore privatises texts by the noise of releases before this rule: that of the seed
// and the number of the text.
func asBefore(t *testing.T, m *mechanisms.Mechanism, seed uint64, texts []string) []string {
	t.Helper()
	s := privatize.New(privatize.Options{Mechanism: m, Policy: mechanisms.Random, Workers: 1})
	seeds := make([]stream.Seed, len(texts))
	for i := range seeds {
		seeds[i] = stream.FromUint64(seed).Derive("text").At(uint64(i))
	}
	private, _, err := s.Texts(t.Context(), texts, seeds)
	if err != nil {
		t.Fatal(err)
	}
	return private
}

// alike is how far two releases of one text are alike beyond two of other noise, in
// standard deviations at least: of n words none differ in more than agree by chance.
func alike(a, b, otherNoise []string) float64 {
	n := 0.0
	var equal, control float64
	for i := range a {
		outA := strings.Fields(a[i])
		outB := strings.Fields(b[i])
		other := strings.Fields(otherNoise[i])
		for j := range min(len(outA), len(outB), len(other)) {
			n++
			if outA[j] == outB[j] {
				equal++
			}
			if outA[j] == other[j] {
				control++
			}
		}
	}
	p := (equal + control) / (2 * n)
	return math.Abs(equal-control) / math.Sqrt(2*n*p*(1-p))
}

// edited are texts with another last word.
func edited(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		last := strings.LastIndexByte(text, ' ')
		out[i] = text[:last] + " " + noiseWord(i%200)
	}
	return out
}

// withoutLast leaves out the last word of texts.
func withoutLast(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = text[:strings.LastIndexByte(text, ' ')]
	}
	return out
}

// The attack on two releases of one seed, of which one is known: noise that is a function
// of seed and row alone says which words of the other are true. That of Noise does not, for
// any mechanism: between files, partitions, columns and values of epsilon, nor does it show
// an edited word by the rest of its text.
func TestNoiseOfOneSeedIsNotShared(t *testing.T) {
	r := newRelease(t)
	a := textsOf(1)
	b := textsOf(2)
	fileA := r.write(".txt", nil, a)
	fileB := r.write(".txt", nil, b)
	two := r.write(".csv", []string{"body", "title"}, a, b)
	equal := r.write(".csv", []string{"body", "title"}, a, a)
	half := noiseRows / 2
	firstHalf := r.write(".txt", nil, a[:half])
	secondHalf := r.write(".txt", nil, a[half:])
	editedA := r.write(".txt", nil, edited(a))
	privateA := map[string][]string{}
	privateB := map[string][]string{}
	for name, epsilon := range noiseMechanisms {
		of := func(file, column, seed, epsilon string) []string {
			args := []string{"--seed", seed, "--mechanism", name, "--epsilon", epsilon}
			if column != "" {
				args = append(args, "--column", column)
			}
			return r.privatize(file, column, args...)
		}
		outA := of(fileA, "", "7", epsilon)
		outB := of(fileB, "", "7", epsilon)
		privateA[name] = outA
		privateB[name] = outB
		for what, far := range map[string]float64{
			"files":             shared(t, a, outA, b, outB),
			"values of epsilon": shared(t, a, outA, b, of(fileB, "", "7", epsilon+".5")),
			"columns":           shared(t, a, of(two, "body", "7", epsilon), b, of(two, "title", "7", epsilon)),
			"partitions": shared(t, a[:half], of(firstHalf, "", "7", epsilon), a[half:],
				of(secondHalf, "", "7", epsilon)),
			"columns of one text": alike(of(equal, "body", "7", epsilon), of(equal, "title", "7", epsilon),
				of(equal, "title", "8", epsilon)),
			"values of epsilon of one text": alike(outA, of(fileA, "", "7", epsilon+".5"), of(fileA, "", "8", epsilon+".5")),
			"versions of an edited text": alike(withoutLast(outA), withoutLast(of(editedA, "", "7", epsilon)),
				withoutLast(of(editedA, "", "8", epsilon))),
		} {
			if !(far < apart) {
				t.Errorf("%s, two %s: noise is shared by %.1f standard deviations, want below %v", name, what, far, apart)
			}
		}
	}
	for one := range noiseMechanisms {
		for other := range noiseMechanisms {
			if one == other {
				continue
			}
			if far := shared(t, a, privateA[one], b, privateB[other]); !(far < apart) {
				t.Errorf("%s and %s: noise is shared by %.1f standard deviations, want below %v", one, other, far, apart)
			}
		}
	}
}

// The attack finds noise that is a function of seed and row alone, as that of releases was
// before: it has the power to fail.
func TestNoiseOfSeedAndRowIsFound(t *testing.T) {
	r := newRelease(t)
	space, err := embeddings.Load(t.Context(), r.vectors, embeddings.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a := textsOf(1)
	b := textsOf(2)
	for name, text := range noiseMechanisms {
		epsilon, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		m, err := mechanisms.New(mechanisms.Environment{Space: space}, mechanisms.Settings{Mechanism: name, Epsilon: epsilon})
		if err != nil {
			t.Fatal(err)
		}
		outA := asBefore(t, m, 7, a)
		for what, far := range map[string]float64{
			"files": shared(t, a, outA, b, asBefore(t, m, 7, b)),
			"versions of an edited text": alike(withoutLast(outA), withoutLast(asBefore(t, m, 7, edited(a))),
				withoutLast(asBefore(t, m, 8, edited(a)))),
		} {
			if far < 2*apart {
				t.Errorf("%s, two %s: noise of seed and row is found by %.1f standard deviations, want more than %v", name,
					what, far, 2*apart)
			}
		}
	}
}

// At every door the noise of two releases of one seed is not shared; the same text in the
// same row and column comes out the same, whatever the format; without a seed nothing does.
func TestNoiseAtEveryDoor(t *testing.T) {
	r := newRelease(t)
	a := textsOf(1)
	b := textsOf(2)
	bodyAndTitle := []string{"body", "title"}
	type privatiseTexts func(texts []string) []string
	table := func(suffix string, args ...string) privatiseTexts {
		return func(texts []string) []string {
			args := append([]string{"--mechanism", "k-rr", "--column", "body"}, args...)
			return r.privatize(r.write(suffix, bodyAndTitle, texts, b), "body", args...)
		}
	}
	lines := func(args ...string) privatiseTexts {
		return func(texts []string) []string { return r.privatize(r.write(".txt", nil, texts), "", args...) }
	}
	perWord := []string{"--epsilon", "4", "--seed", "7"}
	command := "mldp serve --mechanism k-rr --embedding " + r.vectors
	doors := map[string]privatiseTexts{
		"lines":     lines(append(perWord, "--mechanism", "k-rr")...),
		"csv":       table(".csv", perWord...),
		"tsv":       table(".tsv", perWord...),
		"jsonl":     table(".jsonl", perWord...),
		"json":      table(".json", perWord...),
		"parquet":   table(".parquet", perWord...),
		"two":       table(".csv", append(perWord, "--column", "title")...),
		"budget":    table(".csv", "--document-epsilon", "12", "--seed", "7"),
		"budget 2":  table(".parquet", "--document-epsilon", "24", "--column", "title", "--seed", "7"),
		"command":   lines(append(perWord, "--command", command)...),
		"texts":     func(texts []string) []string { return r.serve(texts, false) },
		"documents": func(texts []string) []string { return r.serve(texts, true) },
	}
	private := map[string][]string{}
	for name, door := range doors {
		private[name] = door(a)
		if far := shared(t, a, private[name], b, door(b)); !(far < apart) {
			t.Errorf("%s: noise is shared by %.1f standard deviations, want below %v", name, far, apart)
		}
		if again := door(a); !slices.Equal(again, private[name]) {
			t.Errorf("%s: the same texts in the same rows of one seed came out otherwise", name)
		}
	}
	for _, format := range []string{"tsv", "jsonl", "json", "parquet", "two"} {
		if !slices.Equal(private[format], private["csv"]) {
			t.Errorf("%s: the texts of a column came out otherwise than those of CSV", format)
		}
	}
	if !slices.Equal(private["texts"], private["lines"]) {
		t.Error("serve: the texts came out otherwise than as lines")
	}
	for name, door := range map[string]privatiseTexts{
		"lines":   lines("--mechanism", "k-rr", "--epsilon", "4"),
		"parquet": table(".parquet", "--epsilon", "4"),
	} {
		first := door(a)
		if far := alike(first, door(a), private["csv"]); !(far < apart) {
			t.Errorf("%s: without a seed two runs are alike by %.1f standard deviations, want below %v", name, far, apart)
		}
	}
}
