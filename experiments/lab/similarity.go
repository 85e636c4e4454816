package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"mldpbench/datasets/fetch"
	"mldpbench/embeddings/sentence"
)

// Encoders of a study that are not a folder: the catalogue's model, and the
// weighted mean of the text's own word vectors, which needs no model.
const (
	CatalogueEncoder = "sentence-encoder"
	SIFEncoder       = "sif"
)

// EncoderRef decides which encoder measures CS. A machine without the
// catalogue's model uses SIF, and every row states that. The key of a unit
// holds the encoder, so a later run with the model measures again.
func (l *Lab) EncoderRef(encoder string) (ref string, err error) {
	if encoder == SIFEncoder {
		return encoder, nil
	}
	if encoder != CatalogueEncoder {
		return Folder(l.root, encoder), nil
	}
	dir, err := fetch.Locate(l.root, CatalogueEncoder, "model")
	var missing *fetch.MissingError
	if errors.As(err, &missing) {
		return SIFEncoder, nil
	}
	return dir, err
}

// ofEncoder returns the fingerprint of all files of an encoder.
func (l *Lab) ofEncoder(encoder string) (string, error) {
	dir, err := l.EncoderRef(encoder)
	if err != nil || dir == SIFEncoder {
		return dir, err // SIF follows from data set and space
	}
	digest, err := l.hashFolder(dir)
	if err != nil {
		return "", fmt.Errorf("sentence encoder %s: %w", dir, err)
	}
	return digest, nil
}

// hashFolder is the fingerprint of all files of a folder.
func (l *Lab) hashFolder(dir string) (string, error) {
	return Once(l, "digest of folder "+dir, func() (string, error) {
		h := sha256.New()
		dir, err := filepath.EvalSymlinks(dir) // WalkDir does not follow a link
		if err != nil {
			return "", err
		}
		err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			_, _ = io.WriteString(h, filepath.ToSlash(name)+"\n") // a hash never fails
			return hashFile(h, path)
		})
		return hex.EncodeToString(h.Sum(nil)), err
	})
}

// Encoder opens a sentence encoder, once per run; SIF is fitted to each data
// set and space.
func (l *Lab) Encoder(ctx context.Context, encoder string, corpus *Corpus,
	space *Space) (sentence.Encoder, error) {
	dir, err := l.EncoderRef(encoder)
	if err != nil {
		return nil, err
	}
	key := dir
	if dir == SIFEncoder {
		key = corpus.Fingerprint + space.Fingerprint()
	}
	return Once(l, "encoder "+key, func() (sentence.Encoder, error) {
		if dir == SIFEncoder {
			return sentence.NewSIF(space.Space, corpus.Documents)
		}
		return sentence.Open(ctx, dir)
	})
}
