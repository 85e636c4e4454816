package lab

import (
	"context"
	"os"
	"path/filepath"

	"mldpbench/datasets"
	"mldpbench/datasets/table"
	"mldpbench/embeddings/sentence"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/memo"
	"mldpbench/mechanisms"
)

// poolColumn is the column of a table of public texts.
const poolColumn = "text"

// PublicTexts returns the texts of a pool of a name, without a data set whose public half
// it could be: a file, at its path or in the data folder, or a data set.
func (l *Lab) PublicTexts(ctx context.Context, name string) ([]string, error) {
	path, err := study.VectorFile(name, datasets.Root(l.root))
	info, statErr := os.Stat(path)
	if err == nil && statErr == nil && info.Mode().IsRegular() {
		return readPool(ctx, path)
	}
	if name == mechanisms.OwnPool {
		return nil, check.Wrong("pool = %s: there is no data set here: name one, or a file of public texts, as "+
			"pool=agnews or pool=public.txt", name)
	}
	if _, err := datasets.Find(name); err != nil && study.NamesFile(name) {
		return nil, check.Wrong("pool = %s: there is no such file", name)
	}
	return l.textsOf(ctx, name)
}

// GeneratedTexts are those of the generated corpus: mechanisms.OwnPool of its vectors.
func (l *Lab) GeneratedTexts(ctx context.Context) ([]string, error) {
	return l.textsOf(ctx, "generated-news", "generated-reviews")
}

// textsOf are those of data sets, each once.
func (l *Lab) textsOf(ctx context.Context, names ...string) ([]string, error) {
	var texts []string
	for _, name := range names {
		d, err := datasets.Load(ctx, datasets.Request{Name: name, Root: l.root})
		if err != nil {
			return nil, err
		}
		for _, split := range d.Splits() {
			texts = append(texts, textsOf(split.Documents)...)
		}
	}
	return once(texts), nil
}

// PublicTextsFor returns those of a pool for a data set: what no split uses or nearly
// repeats, as of Public. mechanisms.OwnPool is the data set itself.
func (l *Lab) PublicTextsFor(ctx context.Context, s Sample, name string) ([]string, error) {
	return memo.Once(&l.Shared, engine.MakeID("texts of pool", s.key(), name), func() ([]string, error) {
		own := s.Dataset
		own.Train = 0
		own.Validation = 0
		own.Test = 0
		if name != mechanisms.OwnPool {
			if _, err := datasets.Find(name); err != nil {
				return l.PublicTexts(ctx, name)
			}
			own = study.DatasetSpec{Name: name, MaxTokens: s.Dataset.MaxTokens}
		}
		public, err := l.Public(ctx, s, Sample{Dataset: own, Seed: s.Seed})
		if err != nil {
			return nil, err
		}
		return once(textsOf(public.Documents)), nil
	})
}

// readPool reads the lines of a file, or the column text of a table.
func readPool(ctx context.Context, path string) ([]string, error) {
	o := table.Options{Name: filepath.Base(path), Format: table.FormatOf(path)}
	if o.Format != table.Lines {
		o.Columns = []string{poolColumn}
	}
	rows, err := table.Read(ctx, path, o)
	return once(list.Map(rows, func(row []string) string { return row[0] })), err
}

// once returns the texts that are not empty, each once.
func once(texts []string) (distinct []string) {
	met := map[string]bool{"": true}
	for _, text := range texts {
		if !met[text] {
			met[text] = true
			distinct = append(distinct, text)
		}
	}
	return distinct
}

func textsOf(documents []datasets.Document) []string {
	return list.Map(documents, func(d datasets.Document) string { return d.Text })
}

// OfPool adds the fingerprint of the public texts of a mechanism that needs some, for a
// data set.
func (l *Lab) OfPool(ctx context.Context, s mechanisms.Settings, sample Sample, f Fingerprints) error {
	name, _ := s.Parameters["pool"].(string)
	texts, err := l.PublicTextsFor(ctx, sample, name)
	if err != nil {
		return err
	}
	f["pool"] = digest(texts)
	encoder, _ := s.Parameters["encoder"].(string)
	if encoder == SIF || encoder == "" {
		return nil
	}
	f["pool encoder"], err = l.ofModel(ctx, encoderRef(encoder))
	return err
}

// SentenceEncoder opens a sentence encoder that is a model, once per run.
func (l *Lab) SentenceEncoder(ctx context.Context, name string) (sentence.Encoder, error) {
	return l.Model(ctx, encoderRef(name))
}
