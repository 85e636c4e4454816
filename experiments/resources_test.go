package experiments_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// everything reads a file of every kind: a table of one's own, data sets of the
// catalogue, an embedding, WordNet for cleaning and for synonyms, the English word list
// and a model.
const everything = `schema: 1
name: everything
seed: 5
datasets:
  - {name: own, file: own.csv, text: text, label: label, train: 12, validation: 4, test: 8, cleaning: sentiment}
  - {name: agnews, train: 12, validation: 4, test: 8, cleaning: words}
  - {name: product-reviews, train: 6, validation: 2, test: 4}
embeddings: [{name: vectors, file: vectors.2d.txt, dimensions: [2]}]
mechanisms: [{name: cmp}, {name: syntf, variant: released}]
epsilons: [2]
models: [{name: svm}]
metrics:
  english: words
  cs: {encoder: encoder, documents: 6}
`

// pleasant and dull are the words of two classes.
var (
	pleasant = []string{"good", "great", "fine", "movie", "film", "enjoyed", "wonderful", "dogs"}
	dull     = []string{"bad", "poor", "weak", "stock", "prices", "bank", "rates", "cats"}
)

// resources are the files of a data folder that everything reads, and next to
// each the same file changed.
func resources() map[string][2]string {
	table := func(header, row string, classes ...string) string {
		var b strings.Builder
		b.WriteString(header)
		for i := range 48 {
			words, class := pleasant, classes[0]
			if i%2 == 1 {
				words, class = dull, classes[1]
			}
			text := strings.Join([]string{words[i%8], words[(i/2+3)%8], words[(i/3+5)%8], words[i/8]}, " ")
			fmt.Fprintf(&b, row, class, text, i)
		}
		return b.String()
	}
	own := table("label,text\n", "%s,%s row%d\n", "yes", "no")
	news := table("", `"%s","%s","story number%d"`+"\n", "1", "2") + table("", `"%s","%s","tale number%d"`+"\n", "3",
		"4")
	var vectors strings.Builder
	for i, w := range append(append([]string{"cat", "dog", "hound", "row", "story", "tale"}, pleasant...), dull...) {
		fmt.Fprintf(&vectors, "%s %.3f %.3f\n", w, math.Cos(float64(i)), math.Sin(3*float64(i)))
	}
	synset := func(offset, pos int, words ...string) string {
		s := fmt.Sprintf("%08d 03 %c %02x ", offset, " nvar"[pos], len(words))
		for _, w := range words {
			s += w + " 0 "
		}
		return s + "000 | x\n"
	}
	index := func(pos int, word string, offset int) string {
		return fmt.Sprintf("%s %c 1 0 1 0 %08d\n", word, " nvar"[pos], offset)
	}
	lines := func(words ...string) string { return strings.Join(words, "\n") + "\n" }
	files := map[string][2]string{
		"own.csv":               {own, strings.ReplaceAll(own, "weak", "good")},
		"ag_news_csv/train.csv": {news, strings.ReplaceAll(news, "stock", "wonderful")},
		"ag_news_csv/test.csv":  {news, strings.ReplaceAll(news, "bank", "movie")},
		"vectors.2d.txt":        {vectors.String(), strings.Replace(vectors.String(), "good 0", "good 7", 1)},
		"words/en":              {"good\nmovie\nbad\n", "good\n"},

		"opinion-lexicon/positive-words.txt": {lines(pleasant...), lines(pleasant[1:]...)},
		"opinion-lexicon/negative-words.txt": {lines(dull...), lines(dull[1:]...)},
	}
	for i, pos := range []string{"noun", "verb", "adj", "adv"} {
		const name = "wordnet-3.0/"
		words := [][2]string{{"dog", "hound"}, {"bank", "story"}, {"great", "fine"}, {"good", "fine"}}[i]
		exceptions := []string{"bank dog", "enjoyed bank", "wonderful great", "weak good"}
		files[name+"index."+pos] = [2]string{index(i+1, words[0], 0), index(i+1, words[1], 0)}
		files[name+"data."+pos] = [2]string{synset(0, i+1, words[0], words[1]), synset(0, i+1, words[0], "tale")}
		files[name+pos+".exc"] = [2]string{"cats cat\n", "cats cat\n" + exceptions[i] + "\n"}
	}
	return files
}

// A change of any file of a study changes the keys of what reads it, and nothing else does.
func TestKeysFollowFiles(t *testing.T) {
	t.Parallel()
	files := resources()
	for _, name := range []string{"model.onnx", "tokenizer.json", "config.json", "1_Pooling/config.json"} {
		files["encoder/"+name] = [2]string{"1", "2"}
	}
	s := parsed(t, everything)
	keys := func(changed string) string {
		dir := t.TempDir() // a new one: some files are read once per process
		for name, versions := range files {
			text := versions[0]
			if name == changed {
				text = versions[1]
			}
			put(t, dir, filepath.FromSlash(name), text)
		}
		return strings.Join(unitKeys(t, s, dir), " ")
	}
	before := keys("")
	if keys("") != before {
		t.Error("nothing changed, another key")
	}
	for name := range files {
		if keys(name) == before {
			t.Errorf("%s is in no key", name)
		}
	}
}
