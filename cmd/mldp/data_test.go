package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/internal/realdata"
	"mldpbench/results"
)

// officialMirror builds a folder with the real data in the layouts in which
// their authors publish them, as in an institute's mirror, and one with the
// same data in the flat layouts. All rows are there, but only the beginning of
// each IMDb review, to save time. The mirror is whole and kept where the
// variable MLDP_TEST_MIRROR names a folder, for runs by hand.
func officialMirror(t *testing.T) (mirror, flat string) {
	t.Helper()
	beginning := 300 // bytes
	if mirror = os.Getenv("MLDP_TEST_MIRROR"); mirror != "" {
		beginning = math.MaxInt
	} else {
		mirror = t.TempDir()
	}
	flat = t.TempDir()
	create := func(name string) *os.File {
		path := filepath.Join(mirror, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	read := func(name string) io.ReadCloser {
		f, err := os.Open(realdata.File(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, ".gz") {
			return f
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tarball := func(name string, fill func(add func(name string, data []byte))) {
		f := create(name)
		z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
		must(err)
		w := tar.NewWriter(z)
		fill(func(name string, data []byte) {
			must(w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(data)), Mode: 0o644}))
			_, err := w.Write(data)
			must(err)
		})
		must(errors.Join(w.Close(), z.Close(), f.Close()))
	}
	zipped := func(name string, members map[string]string) {
		f := create(name)
		w := zip.NewWriter(f)
		for member, source := range members {
			out, err := w.CreateHeader(&zip.FileHeader{Name: member, Method: zip.Store})
			must(err)
			in := read(source)
			_, err = io.Copy(out, in)
			must(errors.Join(err, in.Close()))
		}
		must(errors.Join(w.Close(), f.Close()))
	}

	tarball("imdb/aclImdb_v1.tar.gz", func(add func(string, []byte)) {
		r := csv.NewReader(read("imdb.csv.gz"))
		f, err := os.Create(filepath.Join(flat, "imdb.csv"))
		must(err)
		w := csv.NewWriter(f)
		header, err := r.Read()
		must(errors.Join(err, w.Write(header)))
		ids := map[string]int{}
		for i := 0; ; i++ {
			row, err := r.Read()
			if err == io.EOF {
				break
			}
			must(err)
			row[0] = strings.ToValidUTF8(row[0][:min(len(row[0]), beginning)], "")
			must(w.Write(row))
			dir := "aclImdb/" + []string{"train", "test"}[i/25000] + "/" + row[1][:3]
			add(fmt.Sprintf("%s/%d_7.txt", dir, ids[dir]), []byte(row[0]))
			ids[dir]++
		}
		w.Flush()
		must(errors.Join(w.Error(), f.Close()))
	})
	for _, name := range []string{"ag_news_train.subset.csv.gz", "ag_news_test.csv.gz", "opinion-lexicon",
		"wordnet-3.0"} {
		must(os.Symlink(realdata.File(t, name), filepath.Join(flat, name)))
	}
	tarball("archives/WordNet-3.0.tar.gz", func(add func(string, []byte)) {
		for _, pos := range []string{"noun", "verb", "adj", "adv"} {
			for _, name := range []string{"index." + pos, "data." + pos, pos + ".exc"} {
				data, err := io.ReadAll(read("wordnet-3.0/" + name + ".gz"))
				must(err)
				add("WordNet-3.0/dict/"+name, data)
			}
		}
	})
	for name, source := range map[string]string{"train.csv": "ag_news_train.subset.csv.gz",
		"test.csv": "ag_news_test.csv.gz"} {
		f := create("ag_news_csv/" + name)
		_, err := io.Copy(f, read(source))
		must(errors.Join(err, f.Close()))
	}
	zipped("archives/glove.6B.zip", map[string]string{"glove.6B.100d.txt": "glove.6B.100d.subset.txt.gz"})
	zipped("archives/opinion_lexicon.zip", map[string]string{
		"opinion_lexicon/positive-words.txt": "opinion-lexicon/positive-words.txt",
		"opinion_lexicon/negative-words.txt": "opinion-lexicon/negative-words.txt",
	})
	zipped("archives/words.zip", map[string]string{"words/en": "words/nltk-words-en.txt.gz"})
	return mirror, flat
}

// TestLongFetchFromOfficialLayouts goes from an empty cache to a run of the
// comparative study, one mechanism at one ε on each data set, and checks that
// the official layouts give exactly the same data sets as the flat ones.
func TestLongFetchFromOfficialLayouts(t *testing.T) {
	realdata.Long(t)
	mirror, flat := officialMirror(t)
	t.Setenv("MLDP_MIRROR", mirror)
	t.Setenv("MLDP_DATA", "")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	mldp := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); code != exitOK {
			t.Fatalf("mldp %s: exit code %d\n%s", strings.Join(args, " "), code, &stderr)
		}
		return stdout.String()
	}
	mldp("data", "fetch", "imdb", "agnews", "opinion-lexicon", "wordnet", "words", "glove.6B.100d")
	fingerprints := func(description string) (out []string) {
		for _, line := range strings.Split(description, "\n") {
			if strings.Contains(line, "fingerprint") {
				out = append(out, line)
			}
		}
		return out
	}
	official := fingerprints(mldp("data", "describe", "imdb", "agnews", "product-reviews"))
	same := fingerprints(mldp("data", "describe", "imdb", "agnews", "product-reviews", "--data", flat))
	if len(official) != 3 || strings.Join(official, "\n") != strings.Join(same, "\n") {
		t.Errorf("official layouts give\n%q\nflat ones\n%q", official, same)
	}
	// What takes longest is left out or cut.
	study := mldp("study", "show", "comparative")
	for long, short := range map[string]string{"encoder: use-lite-onnx, documents: 100}": "encoder: sif, documents: 1}", "  inference_error: {samples: 10}\n": "",
		"baseline_repetitions: 10": "baseline_repetitions: 1", "train: 8000": "train: 600",
		"validation: 2000": "validation: 200",
		"test: 2000":       "test: 200", "train: 16000": "train: 600", "validation: 4000": "validation: 200",
		"test: 4000": "test: 200"} {
		if strings.Count(study, long) != 1 {
			t.Fatalf("%q is not once in\n%s", long, study)
		}
		study = strings.Replace(study, long, short, 1)
	}
	file := filepath.Join(t.TempDir(), "comparative.yaml")
	writeFile(t, file, study)
	out := t.TempDir()
	mldp("run", file, "--set", "embeddings[0].dimensions=[100]", "--set", "models=[svm]", "--repetitions", "1",
		"--mechanism", "cmp", "--epsilons", "10", "--set", "settings=[local]", "--out", out)
	records, err := results.Read(filepath.Join(out, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	measured := map[string]string{}
	for _, r := range records {
		if r.Mechanism == "cmp" && r.Quantity == "cs" {
			measured[r.Dataset] = r.Detail
		}
	}
	want := map[string]string{"imdb": "sif", "agnews": "sif", "product-reviews": "sif"}
	if !maps.Equal(measured, want) {
		t.Errorf("measured on %v", measured)
	}
}
