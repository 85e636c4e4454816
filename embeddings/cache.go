package embeddings

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"mldpbench/internal/atomicfile"
)

// A cache file holds all rows of one vector file, as a gob stream: the source,
// then blocks of rows. gzip without compression is around it, for its checksum.
type cachedRows struct {
	Words   []string
	Vectors []byte // float32, little-endian
}

// cacheVersion is that of the layout and of the readers' rules.
const cacheVersion = "mldp vectors 4, source "

// sourceOf identifies the content of a file by its SHA-256, at about a second
// per gigabyte, a small part of the time to read its text. Size and modification
// time are not enough: an edited copy can have the same values. A program without
// the format that a copy was read in does not use it.
func sourceOf(ctx context.Context, path string) (string, error) {
	format := ""
	err := withFile(ctx, path, func(_ *File, found Format, _ int64) error {
		if found.Version > 0 {
			format = fmt.Sprintf(", %s %d", found.Name, found.Version)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	digest, err := digestOf(ctx, path)
	if err != nil {
		return "", err
	}
	return cacheVersion + hex.EncodeToString(digest) + format, nil
}

// digestOf is the SHA-256 of a file.
func digestOf(ctx context.Context, path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch _, err := io.CopyN(h, f, 1<<24); {
		case err == io.EOF:
			return h.Sum(nil), nil
		case err != nil:
			return nil, err
		}
	}
}

// cachePath depends on the source's absolute path only: a changed source
// replaces its old copy.
func cachePath(dir, path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	digest := sha256.Sum256([]byte(path))
	return filepath.Join(dir, fmt.Sprintf("%s-%x.cache", baseName(path), digest[:8]))
}

// writeCache writes the rows that rows passes to add, unless rows fails.
func writeCache(path, source string, rows func(add func(Rows)) error) error {
	return atomicfile.Write(path, 0o644, func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.NoCompression)
		if err != nil {
			return err
		}
		e := gob.NewEncoder(z)
		failed := e.Encode(source)
		err = rows(func(read Rows) {
			if failed != nil {
				return // a copy that cannot be written is no reason not to read
			}
			data := make([]byte, 0, 4*len(read.Vectors))
			for _, x := range read.Vectors {
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
			}
			failed = e.Encode(cachedRows{read.Words, data})
		})
		return errors.Join(err, failed, z.Close())
	})
}

// fromCache takes the rows of a cache. It reports false for one that is absent,
// damaged, or of another source: what was taken does not count then.
func (l *loader) fromCache(ctx context.Context, path, source string) (ok bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		l.size = info.Size()
	}
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return false, nil
	}
	d := gob.NewDecoder(z)
	var of string
	if err := d.Decode(&of); err != nil || of != source {
		return false, nil
	}
	for {
		var rows cachedRows
		switch err := d.Decode(&rows); {
		case err == io.EOF:
			return true, nil
		case err != nil || len(rows.Words) == 0 || len(rows.Vectors) == 0 || len(rows.Vectors)%(4*len(rows.Words)) != 0:
			return false, nil
		}
		read := Rows{Words: rows.Words, Vectors: make([]float32, len(rows.Vectors)/4), Bytes: len(rows.Vectors)}
		for i := range read.Vectors {
			read.Vectors[i] = math.Float32frombits(binary.LittleEndian.Uint32(rows.Vectors[4*i:]))
		}
		if err := l.take(ctx, read); err != nil {
			return true, err
		}
	}
}
