package lab

import (
	"fmt"
	"os"
	"path/filepath"

	"mldpbench/datasets/fetch"
	"mldpbench/models/transformer"
)

// ModelRef is a model that a study names: a folder with model.onnx and
// tokenizer.json, by its path or by its name in the data folder.
type ModelRef struct {
	Key    string // of the study
	Folder string
	Task   transformer.Task // "" for any that has vectors of tokens
}

// Folder returns the path of a folder: of one in the data folder root, unless
// there is one at the path itself; ref where there is none.
func Folder(root, ref string) string {
	if in := filepath.Join(fetch.Root(root), ref); !IsFolder(ref) && filepath.IsLocal(ref) && IsFolder(in) {
		return in
	}
	return ref
}

// IsFolder reports whether there is a folder of this path.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Model opens a model, once per run.
func (l *Lab) Model(ref ModelRef) (*transformer.Model, error) {
	dir := Folder(l.root, ref.Folder)
	m, err := Once(l, "model "+dir, func() (*transformer.Model, error) { return transformer.Open(dir, "") })
	switch {
	case err != nil:
	case ref.Task != "" && m.Task() != ref.Task:
		err = fmt.Errorf("model %s: serves as %s, not as %s", dir, m.Task(), ref.Task)
	case ref.Task == "" && !m.HasTokenVectors():
		err = fmt.Errorf("model %s: gives no vectors of tokens", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref.Key, err)
	}
	return m, nil
}

// ofModel returns the fingerprint of all files of a model.
func (l *Lab) ofModel(ref ModelRef) (string, error) {
	dir := Folder(l.root, ref.Folder)
	if !IsFolder(dir) {
		return "", fmt.Errorf("%s = %q: no such folder, nor one of that name in %s", ref.Key, ref.Folder,
			fetch.Root(l.root))
	}
	digest, err := l.hashFolder(dir)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", ref.Key, dir, err)
	}
	return digest, nil
}
