package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/mechanisms/external"
)

// keyed is a release whose noise a key repeats.
type keyed struct {
	release
	key string
	ids []string
}

func newKeyed(t *testing.T) keyed {
	k := keyed{release: newRelease(t)}
	k.key = filepath.Join(k.dir, "release.key")
	if code, said := mldp(t, "key", "-o", k.key); code != exitOK {
		t.Fatalf("mldp key: exit code %d: %s", code, said)
	}
	for i := range noiseRows {
		k.ids = append(k.ids, fmt.Sprint("row ", i))
	}
	return k
}

// of privatises texts under the ids as the column body of a table.
func (k keyed) of(suffix string, texts []string, args ...string) []string {
	k.t.Helper()
	file := k.write(suffix, []string{"body", "title"}, texts, k.ids)
	flags := []string{"--key", k.key, "--id", "title", "--column", "body"}
	return k.privatize(file, "body", append(flags, args...)...)
}

// lines privatises texts by the numbers of their lines.
func (k keyed) lines(texts []string, args ...string) []string {
	k.t.Helper()
	file := k.write(".txt", nil, texts)
	return k.privatize(file, "", append([]string{"--key", k.key, "--id", "line"}, args...)...)
}

// serve returns what mldp serve answers for texts with ids.
func (k keyed) serve(column string, texts []string, args ...string) []string {
	k.t.Helper()
	line, err := json.Marshal(external.Request{ID: 1, Epsilon: 4, Texts: texts, IDs: k.ids, Column: column})
	if err != nil {
		k.t.Fatal(err)
	}
	var out, said bytes.Buffer
	c := call{stdin: bytes.NewReader(line), stdout: &out, stderr: &said}
	args = append([]string{"--quiet", "serve", "--mechanism", "k-rr", "--embedding", k.vectors, "--key", k.key},
		args...)
	if code := c.run(args...); code != exitOK {
		k.t.Fatalf("serve: exit code %d: %s", code, &said)
	}
	_, second, _ := strings.Cut(out.String(), "\n") // after the hello
	var answer external.Answer
	if err := json.Unmarshal([]byte(second), &answer); err != nil {
		k.t.Fatal(err)
	}
	if answer.Error != "" {
		k.t.Fatalf("serve: %s", answer.Error)
	}
	return answer.Texts
}

// The attack on two releases of one key, of which one is known, finds no more than by chance: between texts under the
// same ids, versions of an edited text, names of a release and values of epsilon. The false alarm of all together is
// that of apart.
func TestNoiseOfOneKeyIsNotShared(t *testing.T) {
	k := newKeyed(t)
	a := textsOf(1)
	b := textsOf(2)
	for name, epsilon := range noiseMechanisms {
		flags := []string{"--mechanism", name, "--epsilon", epsilon}
		other := append([]string{"--release", "other"}, flags...)
		third := append([]string{"--release", "third"}, flags...)
		raised := []string{"--mechanism", name, "--epsilon", epsilon + ".5"}
		outA := k.of(".csv", a, flags...)
		outB := k.of(".csv", b, flags...)
		for what, far := range map[string]float64{
			"texts under the same ids": shared(t, a, outA, b, outB),
			"values of epsilon":        shared(t, a, outA, b, k.of(".csv", b, raised...)),
			"names of a release":       alike(outA, k.of(".csv", a, other...), k.of(".csv", a, third...)),
			"versions of an edited text": alike(withoutLast(outA), withoutLast(k.of(".csv", edited(a), flags...)),
				withoutLast(k.of(".csv", edited(a), other...))),
		} {
			if !(far < apart) {
				t.Errorf("%s, two %s: noise is shared by %.1f standard deviations, want below %v", name, what, far,
					apart)
			}
		}
	}
}

// The same text under the same id of the same column comes out the same at every door, in any order of the rows.
func TestKeyAtEveryDoor(t *testing.T) {
	k := newKeyed(t)
	texts := textsOf(1)
	flags := []string{"--mechanism", "k-rr", "--epsilon", "4"}
	want := k.of(".csv", texts, flags...)
	for name, got := range map[string][]string{
		"csv again": k.of(".csv", texts, flags...),
		"tsv":       k.of(".tsv", texts, flags...),
		"jsonl":     k.of(".jsonl", texts, flags...),
		"json":      k.of(".json", texts, flags...),
		"parquet":   k.of(".parquet", texts, flags...),
		"serve":     k.serve("body", texts),
	} {
		if !slices.Equal(got, want) {
			t.Errorf("%s: the texts came out otherwise than in CSV", name)
		}
	}
	if slices.Equal(k.serve("", texts), want) {
		t.Error("another column came out the same")
	}
	reversed := k
	reversed.ids = slices.Clone(k.ids)
	slices.Reverse(reversed.ids)
	backwards := slices.Clone(texts)
	slices.Reverse(backwards)
	got := reversed.of(".csv", backwards, flags...)
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		t.Error("in another order the texts came out otherwise")
	}

	lines := k.lines(texts, flags...)
	numbered := k
	numbered.ids = nil
	for i := range texts {
		numbered.ids = append(numbered.ids, fmt.Sprint(i+1))
	}
	if !slices.Equal(numbered.serve("", texts), lines) {
		t.Error("serve: the texts came out otherwise than as lines")
	}
}
