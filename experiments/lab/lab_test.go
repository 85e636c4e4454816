package lab

import (
	"bytes"
	"compress/gzip"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// A run that draws documents anew for each repetition keeps few of them, and
// knows what it needs to plan of all.
func TestLabKeepsFewTexts(t *testing.T) {
	l := New("")
	d := study.DatasetSpec{Name: "generated-news", Train: 40, Validation: 20, Test: 20}
	e := study.EmbeddingSpec{Name: study.GeneratedEmbedding, Dimensions: []int{50}}
	prints := map[string]bool{}
	for i := range 2 * textsKept {
		s := Sample{d, stream.FromUint64(uint64(i))}
		f, err := l.OfText(t.Context(), s, e, 50, mechanisms.Needs{})
		if err != nil {
			t.Fatal(err)
		}
		prints[f["dataset"]] = true
		f["dataset"] = "the caller's"
	}
	if len(prints) != 2*textsKept || len(l.corpora.Values()) != textsKept || len(l.spaces.Values()) != textsKept {
		t.Errorf("%d texts; %d corpora and %d spaces kept", len(prints), len(l.corpora.Values()), len(l.spaces.Values()))
	}
	if n := len(l.Descriptions()); n != 2*textsKept {
		t.Errorf("%d descriptions", n)
	}
	f, err := l.OfText(t.Context(), Sample{d, stream.FromUint64(0)}, e, 50, mechanisms.Needs{})
	if err != nil || !prints[f["dataset"]] || len(l.corpora.Values()) != textsKept {
		t.Errorf("%v, %v, %d corpora kept", f, err, len(l.corpora.Values()))
	}
}

// Public text has no row of a split and nothing that nearly repeats a document
// of test.
func TestPublicIsInNoSplit(t *testing.T) {
	l := New("")
	s := Sample{study.DatasetSpec{Name: "generated-styles", Train: 100, Validation: 20, Test: 40}, stream.FromUint64(3)}
	pool := Sample{study.DatasetSpec{Name: "generated-styles"}, stream.FromUint64(3)}
	public, err := l.Public(t.Context(), s, pool)
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.Corpus(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if len(public.Documents) < 100 || !public.Labelled {
		t.Fatalf("%d public documents, labelled %v", len(public.Documents), public.Labelled)
	}
	used := map[int]bool{}
	for _, d := range slices.Concat(c.Train, c.Validation, c.Test) {
		used[d.ID] = true
	}
	for _, d := range public.Documents {
		if used[d.ID] {
			t.Fatalf("document %d is in a split", d.ID)
		}
		for _, test := range c.Test {
			words := map[string]int{} // 1: in this, 2: in that, 3: in both
			for _, w := range d.Tokens {
				words[w] = 1
			}
			for _, w := range test.Tokens {
				words[w] |= 2
			}
			both := list.Count(slices.Collect(maps.Values(words)), func(in int) bool { return in == 3 })
			if float64(both) > nearTest*float64(len(words)) {
				t.Fatalf("%q is near %q of test", d.Tokens, test.Tokens)
			}
		}
	}
	news, err := l.Public(t.Context(), s, Sample{study.DatasetSpec{Name: "generated-news"}, stream.FromUint64(3)})
	if err != nil || news.Labelled || len(news.Documents) == 0 {
		t.Errorf("another data set without private labels: %v, %v", news, err)
	}
}

// A folder that is a link, as a sentence encoder may be, is hashed with its files.
func TestLinkedFolder(t *testing.T) {
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "encoder")
	err := errors.Join(os.WriteFile(filepath.Join(dir, "model.onnx"), []byte("a"), 0o600), os.Symlink(dir, link))
	if err != nil {
		t.Skip(err)
	}
	empty, _ := New("").ofModel(t.Context(), encoderRef(t.TempDir()))
	linked, err := New("").ofModel(t.Context(), encoderRef(link))
	direct, derr := New("").ofModel(t.Context(), encoderRef(dir))
	if linked != direct || linked == empty || err != nil || derr != nil {
		t.Errorf("%q and %q, %v, %v", linked, direct, err, derr)
	}
}

// TestPartOfAnEmbedding: who takes an embedding of which only a part is here is told
// so once, in the log and with the data; a whole one and one of a file are not.
func TestPartOfAnEmbedding(t *testing.T) {
	d := study.DatasetSpec{Name: "generated-news", Train: 40, Validation: 20, Test: 20}
	e := study.EmbeddingSpec{Name: "glove.6B", Dimensions: []int{50}}
	words, err := New("").Words(t.Context(), study.EmbeddingSpec{Name: study.GeneratedEmbedding}, 50, nil)
	if err != nil {
		t.Fatal(err)
	}
	var file, log bytes.Buffer
	z := gzip.NewWriter(&file)
	if err := errors.Join(words.WriteText(z), z.Close()); err != nil {
		t.Fatal(err)
	}
	for name, parts := range map[string]int{"glove.6B.50d.subset.txt.gz": 1, "glove.6B.50d.txt.gz": 0} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, name), file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		log.Reset()
		l := New(root)
		l.Log = &log
		for i := range 2 {
			if _, err := l.Space(t.Context(), Sample{d, stream.FromUint64(uint64(i))}, e, 50, mechanisms.Needs{}); err != nil {
				t.Fatal(err)
			}
		}
		const said = "only a part of its words is here, those of glove.6B.50d.subset.txt.gz"
		if strings.Count(log.String(), said) != parts {
			t.Errorf("%s: %s", name, log.String())
		}
		for _, x := range l.Descriptions() {
			if strings.Count(strings.Join(x.Warnings, "\n"), said) != parts || len(x.Parts) != parts {
				t.Errorf("%s: %q, parts %q", name, x.Warnings, x.Parts)
			}
		}
	}
}
