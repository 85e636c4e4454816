// Accuracy trains a model on a data set without privatisation, once per seed,
// and prints accuracies and their spread. The defaults of the models were
// chosen this way and can be checked this way.
//
//	go run ./models/bench/accuracy -data ../shared/data -dataset imdb \
//	  -embedding ../shared/data/glove.6B.100d.subset.txt.gz -seeds 5
//
// With -dump it also writes its training data, to train the same network
// elsewhere (see accuracy_torch.py).
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/stream"
)

type parameters map[string]any

func (p parameters) String() string { return models.FormatParameters(p) }
func (p parameters) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok {
		return fmt.Errorf("must be name=value")
	}
	if f, err := strconv.ParseFloat(value, 64); err == nil {
		p[name] = f
	} else {
		p[name] = value
	}
	return nil
}

func main() {
	var (
		data      = flag.String("data", "", "data folder")
		dataset   = flag.String("dataset", "imdb", "data set")
		embedding = flag.String("embedding", "", "file of word vectors")
		train     = flag.Int("train", 0, "training documents; 0 is what the study has of the data set")
		held      = flag.Int("held", 0, "validation documents, and as many test documents")
		model     = flag.String("model", "lstm", "model")
		seeds     = flag.Int("seeds", 5, "trainings")
		fresh     = flag.Bool("fresh", false, "draw other documents for each seed, not only other weights")
		dump      = flag.String("dump", "", "write vectors and documents to this file")
		verbose   = flag.Bool("v", false, "print every epoch")
		mechanism = flag.String("mechanism", "", "privatise all documents with this mechanism first")
		epsilon   = flag.Float64("epsilon", 5, "of the mechanism")
		set       = parameters{}
	)
	flag.Var(set, "set", "parameter of the model, name=value; may be repeated")
	flag.Parse()
	if err := run(*data, *dataset, *embedding, *train, *held, *model, *seeds, *fresh, *dump, *verbose, set,
		noise{*mechanism, *epsilon}); err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

func run(data, dataset, embedding string, train, held int, model string, seeds int, fresh bool, dump string,
	verbose bool, set parameters, n noise) error {
	ctx := context.Background()
	var prepared *task
	var accuracies, seconds []float64
	for seed := range seeds {
		if prepared == nil || fresh {
			var err error
			if prepared, err = prepare(ctx, data, dataset, embedding, train, held, uint64(seed), n); err != nil {
				return err
			}
		}
		if dump != "" {
			return prepared.dump(dump)
		}
		m, err := models.New(model, models.Options{Classes: prepared.classes, Embedding: prepared.table,
			Seed: stream.FromUint64(uint64(seed)), Parameters: set})
		if err != nil {
			return err
		}
		start := time.Now()
		h, err := m.Fit(ctx, prepared.splits[0], prepared.splits[1])
		if err != nil {
			return err
		}
		elapsed := time.Since(start).Seconds()
		test := prepared.splits[2]
		p, err := m.Predict(ctx, test)
		if err != nil {
			return err
		}
		right := 0
		for i, label := range test.Labels {
			if p[i] == label {
				right++
			}
		}
		a := 100 * float64(right) / float64(len(p))
		accuracies, seconds = append(accuracies, a), append(seconds, elapsed)
		if verbose {
			for _, e := range h.Epochs {
				fmt.Printf("  epoch %2d  train %.4f  validation %.4f %.2f%%  %.1f s\n", e.Epoch, e.TrainLoss,
					e.ValidationLoss, 100*e.ValidationAccuracy, e.Seconds)
			}
		}
		fmt.Printf("seed %d  test %.2f  best epoch %d of %d  chosen %v  %.1f s\n", seed, a, h.Best+1, len(h.Epochs),
			h.Chosen, elapsed)
	}
	low, high := accuracies[0], accuracies[0]
	for _, a := range accuracies {
		low, high = min(low, a), max(high, a)
	}
	mean, sd := stat.MeanStdDev(accuracies, nil)
	fmt.Printf("%s %s %v: %.2f ± %.2f (sd, %d seeds, %.2f to %.2f), %.1f s each\n", dataset, model, set, mean, sd,
		seeds, low, high, stat.Mean(seconds, nil))
	return nil
}

type task struct {
	classes int
	table   models.Embedding
	splits  [3]models.Examples // train, validation, test
}

// noise is the mechanism that privatises documents; none if no mechanism is
// given.
type noise struct {
	mechanism string
	epsilon   float64
}

// prepare draws the documents and privatises them; a word without a vector
// keeps its position and has a vector of zeros.
func prepare(ctx context.Context, data, dataset, embedding string, train, held int, seed uint64, n noise) (*task,
	error) {
	d, err := datasets.Load(ctx, datasets.Request{
		Name: dataset, Root: data, Seed: stream.FromUint64(seed),
		Sizes: datasets.Sizes{Train: train, Validation: held, Test: held},
	})
	if err != nil {
		return nil, err
	}
	words := map[string]bool{}
	for _, s := range d.Splits() {
		for _, doc := range s.Documents {
			for _, w := range doc.Tokens {
				words[w] = true
			}
		}
	}
	space, err := embeddings.Load(ctx, embedding, embeddings.LoadOptions{Keep: func(w string) bool { return words[w] }})
	if err != nil {
		return nil, err
	}
	out := &task{classes: len(d.Classes), table: models.Embedding{Dimension: space.Dimension, Vectors: space.Table()}}
	privatize := func([]mechanisms.WordID) {}
	if n.mechanism != "" {
		m, err := mechanisms.New(mechanisms.Environment{Space: space},
			mechanisms.Settings{Mechanism: n.mechanism, Epsilon: n.epsilon})
		if err != nil {
			return nil, err
		}
		rng := stream.FromUint64(seed).Derive("privatise").Rand()
		privatize = func(words []mechanisms.WordID) { m.Privatize(words, words, nil, rng) }
	}
	unknown, total := 0, 0
	for k, s := range d.Splits() {
		var known []mechanisms.WordID
		for _, doc := range s.Documents {
			for _, w := range doc.Tokens {
				if id := space.Vocabulary.ID(w); id != embeddings.Unknown {
					known = append(known, id)
				}
			}
		}
		privatize(known)
		for _, doc := range s.Documents {
			ids := make([]int32, 0, len(doc.Tokens))
			for _, w := range doc.Tokens {
				if space.Vocabulary.ID(w) == embeddings.Unknown {
					ids = append(ids, int32(space.Len()))
					unknown++
				} else {
					ids, known = append(ids, int32(known[0])), known[1:]
				}
			}
			total += len(ids)
			out.splits[k].Sequences = append(out.splits[k].Sequences, ids)
			out.splits[k].Labels = append(out.splits[k].Labels, doc.Label)
		}
	}
	fmt.Printf("%s: %d words with a vector, %d tokens, %.2f%% without\n", dataset, space.Len(), total,
		100*float64(unknown)/float64(total))
	return out, nil
}

// dump writes one line of JSON that describes the splits, then the vectors as
// little-endian float32.
func (t *task) dump(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	header := map[string]any{"classes": t.classes, "dimension": t.table.Dimension}
	for k, name := range []string{"train", "validation", "test"} {
		header[name] = t.splits[k].Sequences
		header[name+"_labels"] = t.splits[k].Labels
	}
	if err := json.NewEncoder(f).Encode(header); err != nil {
		return err
	}
	for _, v := range t.table.Vectors {
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], math.Float32bits(v))
		if _, err := f.Write(b[:]); err != nil {
			return err
		}
	}
	return f.Close()
}
