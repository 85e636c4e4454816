package experiments

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mldpbench/datasets/fetch"
	"mldpbench/embeddings/sentence"
	"mldpbench/metrics"
	"mldpbench/results"

	"gonum.org/v1/gonum/stat"
)

// Encoders of a study that are no folder: the catalogue's model, and the
// weighted mean of the cell's own word vectors, which needs no model.
const (
	catalogueEncoder = "sentence-encoder"
	sifEncoder       = "sif"
)

// measuresCS says whether CS is measured in a cell: it is by far the dearest
// metric, so a study may limit it to the first repetitions.
func (c Cell) measuresCS() bool {
	o := c.Metrics.CS
	return o.Documents > 0 && !c.IsBaseline() && (o.Repetitions == 0 || c.Repetition <= o.Repetitions)
}

// chooseEncoder settles, once per run, what CS is measured with. A machine
// without the catalogue's model measures it with SIF, which every row then
// says; the key of a cell holds the encoder, so a later run with the model
// measures anew.
func (w *workspace) chooseEncoder() (ref string, err error) {
	ref = w.study.Metrics.CS.Encoder
	if ref != catalogueEncoder {
		return ref, nil
	}
	dir, err := fetch.Locate(w.root, catalogueEncoder, "model")
	var missing *fetch.MissingError
	if errors.As(err, &missing) {
		return sifEncoder, nil
	}
	return dir, err
}

// encoderFingerprint identifies the encoder by the bytes of its model.
func (w *workspace) encoderFingerprint() (string, error) {
	dir, err := w.encoderRef()
	if err != nil || dir == sifEncoder {
		return dir, err // SIF follows from data set and space
	}
	return w.digests.get("encoder", func() (string, error) {
		h := sha256.New()
		for _, name := range []string{"model.onnx", "tokenizer.json"} {
			f, err := os.Open(filepath.Join(dir, name))
			if err != nil {
				return "", fmt.Errorf("sentence encoder: %w", err)
			}
			_, err = io.Copy(h, f)
			if cerr := f.Close(); err == nil {
				err = cerr
			}
			if err != nil {
				return "", fmt.Errorf("sentence encoder %s: %w", dir, err)
			}
		}
		return hex.EncodeToString(h.Sum(nil)), nil
	})
}

// encoder opens the sentence encoder of a study, one for the run; SIF is
// fitted to each data set and space.
func (w *workspace) encoder(ctx context.Context, p *privatised, c Cell) (sentence.Encoder, error) {
	dir, err := w.encoderRef()
	if err != nil {
		return nil, err
	}
	key := ""
	if dir == sifEncoder {
		key = dataName(c)
	}
	return w.encoders.get(key, func() (sentence.Encoder, error) {
		if key != "" {
			return sentence.NewSIF(p.space.Space, p.corpus.documents)
		}
		return sentence.Open(ctx, dir)
	})
}

// measureCS compares a sample of documents with their privatised form. The
// sample is that of the data set: the same for all cells, so that originals
// are encoded once and cells are compared on equal documents.
func (w *workspace) measureCS(ctx context.Context, c Cell, p *privatised, before, after [][]string) (sheet, error) {
	start := time.Now()
	defer func() { p.similarity = time.Since(start) }()
	e, err := w.encoder(ctx, p, c)
	if err != nil {
		return nil, err
	}
	all := make([]int, len(before))
	for i := range all {
		all[i] = i
	}
	sample := metrics.SampleWords(all, c.Metrics.CS.Documents, c.root().Derive("cs", c.Dataset.Name).Rand())
	sentences := func(documents [][]string) []string {
		s := make([]string, len(sample))
		for i, d := range sample {
			s[i] = strings.Join(documents[d], " ")
		}
		return s
	}
	originals, err := w.originals.get(dataName(c)+c.Setting, func() ([][]float32, error) { return e.Encode(ctx, sentences(before)) })
	if err != nil {
		return nil, err
	}
	noisy, err := e.Encode(ctx, sentences(after))
	if err != nil {
		return nil, err
	}
	interval, err := metrics.CS(originals, noisy)
	if err != nil {
		return nil, err
	}
	similarity := make([]float64, len(noisy))
	for i := range noisy {
		similarity[i] = 100 * metrics.Cosine(originals[i], noisy[i])
	}
	spread := stat.StdDev(similarity, nil)
	return func(r *results.Record) {
		r.CS, r.CSStdDev = results.Float(interval.Estimate), results.Float(spread)
		r.CSLow, r.CSHigh = results.Float(interval.Low), results.Float(interval.High)
		r.CSDocuments, r.CSEncoder = len(sample), e.Name()
	}, nil
}
