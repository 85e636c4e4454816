package experiments_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/results"
)

// everything reads a file of every kind: a table of one's own, data sets of the
// catalogue, an embedding, WordNet for cleaning and for synonyms, the English
// word list and a sentence encoder.
const everything = `schema: 1
name: everything
seed: 5
datasets:
  - {name: own, file: %s, text: text, label: label, train: 12, validation: 4, test: 8, cleaning: sentiment}
  - {name: agnews, train: 12, validation: 4, test: 8, cleaning: words}
  - {name: product-reviews, train: 6, validation: 2, test: 4}
embeddings: [{name: vectors, file: vectors.2d.txt, dimensions: [2]}]
mechanisms: [{name: cmp}, {name: syntf, variants: [released]}]
epsilons: [2]
models: [{name: svm}]
repetitions: 1
metrics:
  deniability: {words: 4, runs: 10}
  low: 3
  english: words
  cs: {encoder: sentence-encoder, documents: 6}
`

// pleasant and dull are the words of two classes.
var (
	pleasant = []string{"good", "great", "fine", "movie", "film", "enjoyed", "wonderful", "dogs"}
	dull     = []string{"bad", "poor", "weak", "stock", "prices", "bank", "rates", "cats"}
)

// resources are the files of a data folder that everything reads, and next to
// each the same file changed, in a way that changes numbers.
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
	hound := synset(0, 1, "dog", "hound")
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

		"wordnet-3.0/index.noun": {index(1, "dog", 0) + index(1, "film", 1), index(1, "film", 1)},
		"wordnet-3.0/data.noun":  {hound + synset(1, 1, "film", "movie"), hound + synset(1, 1, "film", "tale")},
		"wordnet-3.0/noun.exc":   {"cats cat\n", "cats cat\nbank dog\n"},
		"wordnet-3.0/index.verb": {index(2, "bank", 0), index(2, "stock", 0)},
		"wordnet-3.0/data.verb":  {synset(0, 2, "bank", "story"), synset(0, 2, "bank", "good")},
		"wordnet-3.0/verb.exc":   {"", "enjoyed bank\n"},
		"wordnet-3.0/index.adj":  {index(3, "great", 0), index(3, "poor", 0)},
		"wordnet-3.0/data.adj":   {synset(0, 3, "great", "fine"), synset(0, 3, "great", "weak")},
		"wordnet-3.0/adj.exc":    {"", "wonderful great\n"},
		"wordnet-3.0/index.adv":  {index(4, "good", 0), index(4, "bad", 0)},
		"wordnet-3.0/data.adv":   {synset(0, 4, "good", "fine"), synset(0, 4, "good", "tale")},
		"wordnet-3.0/adv.exc":    {"", "weak good\n"},
	}
	pieces := []string{"▁", "▁the", "▁i"}
	for _, w := range append(append([]string(nil), pleasant...), dull...) {
		pieces = append(pieces, "▁"+w)
	}
	tokenizer := `{"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true},` +
		`"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0]`
	table2 := []float32{0.1, 0.1}
	for i, p := range pieces {
		tokenizer += fmt.Sprintf(`,["%s",-2]`, p)
		table2 = append(table2, float32(i%3)/9, 0.3)
		if i > 0 && i <= 10 {
			table2[len(table2)-2] = 2
		} else if i > 10 {
			table2[len(table2)-1] = 3
		}
	}
	tokenizer += "]}}"
	other := append([]float32(nil), table2...)
	for i := range other {
		other[i] += float32(i%7) / 5
	}
	limit := [2]string{`{"max_seq_length": 64}`, `{"max_seq_length": 4}`}
	for name, versions := range map[string][2]string{
		"model.onnx": {lookupModel(table2, 2, "last_hidden_state", false), lookupModel(other, 2, "last_hidden_state",
			false)},
		"tokenizer.json":            {tokenizer, strings.Replace(tokenizer, "▁good", "▁goods", 1)},
		"sentence_bert_config.json": limit,
		"tokenizer_config.json":     {`{"model_max_length": 64}`, `{"model_max_length": 4}`},
		"config.json":               {`{"max_position_embeddings": 64}`, `{"max_position_embeddings": 4}`},
		"1_Pooling/config.json":     {`{"pooling_mode_mean_tokens": true}`, `{"pooling_mode_cls_token": true}`},
	} {
		files["sentence-encoder/"+name] = versions
	}
	return files
}

// lookupModel is an ONNX model that looks up a row of so many numbers for every
// token; mixed adds the mean of the text's rows.
func lookupModel(table []float32, width int, output string, mixed bool) string {
	type field = func([]byte) []byte
	message := func(fields ...field) (b []byte) {
		for _, f := range fields {
			b = f(b)
		}
		return b
	}
	number := func(n protowire.Number, v uint64) field {
		return func(b []byte) []byte {
			return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
		}
	}
	text := func(n protowire.Number, s string) field {
		return func(b []byte) []byte {
			return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
		}
	}
	part := func(n protowire.Number, fields ...field) field { return text(n, string(message(fields...))) }
	value := func(n protowire.Number, name string, kind uint64, shape ...string) field {
		var dims []field
		for _, d := range shape {
			if d == "width" {
				dims = append(dims, part(1, number(1, uint64(width))))
			} else {
				dims = append(dims, part(1, text(2, d)))
			}
		}
		return part(n, text(1, name), part(2, part(1, number(1, kind), part(2, dims...))))
	}
	var raw []byte
	for _, x := range table {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	node := func(operation, to string, rest ...field) field {
		return part(1, append(rest, text(2, to), text(4, operation))...)
	}
	const float, int64s, ints = 1, 7, 7
	graph := []field{node("Gather", "looked", text(1, "table"), text(1, "input_ids"))}
	if mixed {
		graph = append(graph, node("ReduceMean", "mean", text(1, "looked"),
			part(5, text(1, "axes"), number(8, 1), number(20, ints))),
			node("Add", output, text(1, "looked"), text(1, "mean")))
	} else {
		graph[0] = node("Gather", output, text(1, "table"), text(1, "input_ids"))
	}
	return string(message(
		number(1, 8),
		part(7, append(graph,
			text(2, "graph"),
			part(5, number(1, uint64(len(table)/width)), number(1, uint64(width)), number(2, float), text(8, "table"),
				text(9, string(raw))),
			value(11, "input_ids", int64s, "batch", "length"),
			value(11, "attention_mask", int64s, "batch", "length"),
			value(12, output, float, "batch", "length", "width"),
		)...),
		part(8, number(2, 13)),
	))
}

// After a change of any file of a study, running the study again gives the
// result of a fresh run.
func TestChangedFileIsAFreshRun(t *testing.T) {
	t.Parallel()
	files := resources()
	// Every folder is a new one: some files are read once per process.
	folder := func(t *testing.T, changed string) string {
		dir := t.TempDir()
		for name, versions := range files {
			text := versions[0]
			if name == changed {
				text = versions[1]
			}
			put(t, dir, filepath.FromSlash(name), text)
		}
		return dir
	}
	run := func(t *testing.T, root, out string) *engine.Summary {
		t.Helper()
		s, err := study.Parse("everything.yaml", fmt.Appendf(nil, everything, filepath.Join(root, "own.csv")))
		if err != nil {
			t.Fatal(err)
		}
		sum, err := experiments.Run(t.Context(), s, root, engine.Options{Out: out, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	before := t.TempDir()
	first := run(t, folder(t, ""), before)
	if again := run(t, folder(t, ""), before); again.Ran != 0 {
		t.Fatalf("nothing changed, %d units run", again.Ran)
	}
	for name := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, out := folder(t, name), t.TempDir()
			if err := os.CopyFS(out, os.DirFS(before)); err != nil {
				t.Fatal(err)
			}
			fresh := run(t, root, t.TempDir())
			same(t, name, run(t, root, out).Rows, fresh.Rows)
			for i, r := range fresh.Rows {
				if i >= len(first.Rows) || results.FirstDifference(first.Rows[i], r) != "" {
					return
				}
			}
			t.Error("the change does not change a number: no test")
		})
	}
}
