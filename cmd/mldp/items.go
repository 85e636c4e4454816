package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"

	"github.com/spf13/pflag"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/plan"
	"mldpbench/internal/atomicfile"
)

// itemOptions ask for the answers on test documents.
type itemOptions struct{ items, texts bool }

func (o *itemOptions) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.items, "items", false, "write items.jsonl.gz: each answer on a test document, of classifiers and "+
		"attackers, with the hash of the private text")
	f.BoolVar(&o.texts, "item-texts", false, "with --items: the private text itself")
}

// write writes the items of a finished run next to its rows.
func (o *itemOptions) write(ctx context.Context, s *engine.Summary, root string) error {
	if !o.items {
		return nil
	}
	return atomicfile.Write(filepath.Join(s.Dir, "items.jsonl.gz"), 0o644, func(w io.Writer) error {
		z := gzip.NewWriter(w)
		lines := json.NewEncoder(z)
		return errors.Join(experiments.Items(ctx, s, root, o.texts, func(x plan.Item) error { return lines.Encode(x) }),
			z.Close())
	})
}
