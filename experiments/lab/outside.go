package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"mldpbench/datasets"
	"mldpbench/datasets/table"
	"mldpbench/embeddings"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/memo"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/mechanisms/fromfile"
	"mldpbench/stream"
)

// started is a command that was started, or the error of its start. That error
// is stored and fails only the units of the command.
type started struct {
	*external.Command
	failed error
}

func (s *started) fingerprint() string {
	if s.Command == nil {
		return "does not start"
	}
	return s.Key
}

// Close ends the command.
func (s *started) Close() error {
	if s.Command == nil {
		return nil
	}
	return s.Command.Close()
}

// command starts a command. The file of {vectors} in a mechanism's command line
// has those of space, which is nil for other roles.
func (l *Lab) command(ctx context.Context, o mechanisms.Outside, role external.Role,
	space *embeddings.Space) (*started, error) {
	options := external.Options{Role: role}
	vectors := ""
	if space != nil && external.NamesVectors(o.Command) {
		options.Vectors = space.WriteText
		vectors = space.Fingerprint()
	}
	return memo.Once(&l.Shared, engine.MakeID("command", o, role, vectors), func() (*started, error) {
		c, err := external.Open(ctx, o.Command, options)
		if err == nil && c.Hello.Code == "" {
			l.unseen.Store(c.Key, c.Who)
		}
		return &started{c, err}, ctx.Err()
	})
}

// Unseen names the commands behind fingerprints that may have changed without a change of
// these: those that give no fingerprint of what they run.
func (l *Lab) Unseen(data map[string]string) []string {
	var names []string
	for _, fingerprint := range data {
		if name, ok := l.unseen.Load(fingerprint); ok {
			names = append(names, name.(string))
		}
	}
	return names
}

// Text reads text that was privatised elsewhere, and the ids of a data set.
func (l *Lab) Text(ctx context.Context, o mechanisms.Outside, d study.DatasetSpec) (text *fromfile.Text, ids []string,
	err error) {
	type read struct {
		text *fromfile.Text
		ids  []string
	}
	r, err := memo.Once(&l.Shared, engine.MakeID("text", o, d, d.File), func() (r read, err error) {
		columns := o.Columns
		if len(columns) == 0 {
			columns = d.Text
		}
		r.text, err = fromfile.Read(ctx, fromfile.Source{
			Path: o.Text,
			ID:   o.ID,
			Options: table.Options{
				Columns:   columns,
				Delimiter: d.Delimiter,
				Encoding:  d.Encoding,
			},
		})
		if err != nil || o.ID == "" || d.File == "" || d.Split != "" {
			return r, err // ids of a task are the numbers of its rows
		}
		rows, err := table.Read(ctx, d.Path(l.root), table.Options{
			Delimiter: d.Delimiter,
			Encoding:  d.Encoding,
			Columns:   []string{o.ID},
		})
		for _, row := range rows {
			r.ids = append(r.ids, strings.TrimSpace(row[0]))
		}
		return r, err
	})
	return r.text, r.ids, err
}

// OfOutside adds the fingerprints of a mechanism that is not built in, over a
// data set; others have none: those of a command and of the raw texts that it
// reads, or of a text and the ids of its documents.
func (l *Lab) OfOutside(ctx context.Context, s mechanisms.Settings, sample Sample, space *embeddings.Space,
	f Fingerprints) error {
	if s.Outside == nil {
		return nil
	}
	name := engine.Outside + strings.Join(study.Labels(s), " ")
	o := s.Outside.At(s)
	if o.Text != "" {
		text, ids, err := l.Text(ctx, o, sample.Dataset)
		if err != nil {
			return err
		}
		f[name] = text.Fingerprint
		if ids != nil {
			f["ids of "+name] = digest(ids)
		}
		return nil
	}
	c, err := l.command(ctx, o, external.MechanismRole, space)
	if err != nil {
		return err
	}
	f[name] = c.fingerprint()
	if c.Command == nil || c.Hello.Input != external.Text {
		return nil
	}
	f["raw text"], err = memo.Once(&l.Shared, "digest of raw text "+sample.key(), func() (string, error) {
		corpus, err := l.Corpus(ctx, sample)
		if err != nil {
			return "", err
		}
		all := slices.Concat(corpus.Train, corpus.Validation, corpus.Test)
		return digest(list.Map(all, func(d datasets.Document) string { return d.Text })), nil
	})
	return err
}

// Command returns an attacker or a measurement.
func (l *Lab) Command(ctx context.Context, c study.CommandSpec, role external.Role) (*external.Command, error) {
	s, err := l.command(ctx, mechanisms.Outside{Command: c.Command}, role, nil)
	if err != nil {
		return nil, err
	}
	return s.Command, s.failed
}

// digest is the hash of a list of texts.
func digest(texts []string) string {
	d, _ := hashed(func(h io.Writer) (err error) { // a hash never fails
		for _, t := range texts {
			fmt.Fprintf(h, "%d:%s\n", len(t), t)
		}
		return nil
	})
	return d
}

// Outside returns the function that opens mechanisms that are not built in, for
// one repetition of a data set, counted from 1; space has its words. A command
// that declares to be repeatable is checked once.
func (l *Lab) Outside(ctx context.Context, sample Sample, space *embeddings.Space,
	repetition int) func(mechanisms.Settings) (*mechanisms.Mechanism, error) {
	return func(s mechanisms.Settings) (*mechanisms.Mechanism, error) {
		corpus, err := l.Corpus(ctx, sample)
		if err != nil {
			return nil, err
		}
		o := s.Outside.At(s)
		if o.Text != "" {
			r, err := l.FromFile(ctx, s, sample, repetition)
			if err != nil {
				return nil, err
			}
			return mechanisms.Rewriting(r, space)
		}
		m, err := l.mechanism(ctx, o, space, s.Epsilon)
		if err != nil {
			return nil, err
		}
		r := &cleaned{m, corpus.Dataset, sync.OnceValue(func() map[string]string {
			return originals(corpus.Dataset)
		})}
		if _, err := memo.Once(&l.Shared, engine.MakeID("repeatable", o, s.Epsilon), func() (bool, error) {
			return true, m.CheckRepeatable(ctx, few(corpus), stream.FromUint64(1))
		}); err != nil {
			return nil, err
		}
		return mechanisms.Rewriting(r, space)
	}
}

// FromFile is a repetition, counted from 1, of text that was privatised elsewhere.
func (l *Lab) FromFile(ctx context.Context, s mechanisms.Settings, sample Sample, repetition int) (*fromfile.Rewriter,
	error) {
	corpus, err := l.Corpus(ctx, sample)
	if err != nil {
		return nil, err
	}
	text, ids, err := l.Text(ctx, s.Outside.At(s), sample.Dataset)
	if err != nil {
		return nil, err
	}
	return text.Rewriter(s, corpus.Dataset, ids, repetition-1)
}

// WordByWord returns the function that opens commands for single words of a
// space, without a data set.
func (l *Lab) WordByWord(ctx context.Context, space *embeddings.Space) func(mechanisms.Settings) (*mechanisms.Mechanism,
	error) {
	return func(s mechanisms.Settings) (*mechanisms.Mechanism, error) {
		o := s.Outside.At(s)
		if o.Text != "" {
			return nil, errors.New("text of one ε cannot be calibrated")
		}
		m, err := l.mechanism(ctx, o, space, s.Epsilon)
		if err != nil {
			return nil, err
		}
		return mechanisms.WordByWord(m, space)
	}
}

// mechanism starts a command that is a mechanism.
func (l *Lab) mechanism(ctx context.Context, o mechanisms.Outside, space *embeddings.Space,
	epsilon float64) (*external.Mechanism, error) {
	c, err := l.command(ctx, o, external.MechanismRole, space)
	if err == nil {
		err = c.failed
	}
	if err != nil {
		return nil, err
	}
	return c.At(epsilon)
}

// few returns the text that a command must privatise twice: the beginnings of
// the first documents.
func few(corpus *Corpus) (documents [][]string) {
	const count, words = 3, 20
	for _, d := range slices.Concat(corpus.Train, corpus.Validation, corpus.Test) {
		if len(d.Tokens) > 0 && len(documents) < count {
			documents = append(documents, d.Tokens[:min(len(d.Tokens), words)])
		}
	}
	return documents
}

// cleaned is a command whose output, where it does not keep tokens in place, is
// cleaned like the text of the data set. A command that reads whole texts gets
// those of the data set.
type cleaned struct {
	*external.Mechanism
	dataset *datasets.Dataset
	raw     func() map[string]string // texts by their tokens
}

// Rewrite asks the command for texts, cleaned like those of the data set.
func (c *cleaned) Rewrite(ctx context.Context, documents [][]string, seeds []stream.Seed) ([][]string, error) {
	if c.Aligned() || len(documents) == 0 {
		return c.Mechanism.Rewrite(ctx, documents, seeds)
	}
	texts := make([]string, len(documents))
	if c.ReadsText() {
		for i, d := range documents {
			key := strings.Join(d, " ")
			texts[i] = cmp.Or(c.raw()[key], key)
		}
		var err error
		if texts, err = c.RewriteTexts(ctx, texts, seeds); err != nil {
			return nil, err
		}
	} else {
		private, err := c.Mechanism.Rewrite(ctx, documents, seeds)
		if err != nil {
			return nil, err
		}
		for i, d := range private {
			texts[i] = strings.Join(d, " ")
		}
	}
	out := make([][]string, len(texts))
	for i, t := range texts {
		out[i] = c.dataset.Clean(t)
	}
	return out, nil
}

// originals returns the texts of a data set by their tokens.
func originals(d *datasets.Dataset) map[string]string {
	out := map[string]string{}
	for _, split := range d.Splits() {
		for _, x := range split.Documents {
			out[strings.Join(x.Tokens, " ")] = x.Text
		}
	}
	return out
}
