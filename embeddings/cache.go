package embeddings

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// A cache file holds all rows of one vector file:
//
//	rows    n × dimension float32
//	words   n × (uvarint length, bytes)
//	sums    n × CRC-32C of the row
//	footer  cacheFooter, its own CRC-32C last
//
// all little-endian. The footer comes last so that the file can be written in
// one pass over a source of unknown length. With a checksum per row, a reader
// can take only the rows of its data set and still notice damage.
type cacheFooter struct {
	Magic     [8]byte // and version of this layout and of the readers' rules
	Source    source
	Rows      uint64
	Dimension uint64
	WordBytes uint64
	IndexSum  uint32 // CRC-32C of words and sums
	Sum       uint32 // CRC-32C of the footer before it
}

var (
	cacheMagic = [8]byte{'m', 'l', 'd', 'p', 'v', 'e', 'c', 2}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	footerSize = int64(binary.Size(cacheFooter{}))
)

// source identifies the content of a vector file. Size and modification time
// are not enough: an edited copy can have the same values.
type source struct {
	Size   int64
	SHA256 [sha256.Size]byte
}

func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s: is not a regular file", path)
	}
	return info.Size(), nil
}

// hasher computes the source of the data read through it.
type hasher struct {
	r    io.Reader
	sum  hash.Hash
	size int64
}

func newHasher(r io.Reader) *hasher { return &hasher{r: r, sum: sha256.New()} }

func (h *hasher) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	_, _ = h.sum.Write(p[:n]) // never fails
	h.size += int64(n)
	return n, err
}

// finish reads the rest.
func (h *hasher) finish(ctx context.Context) (source, error) {
	for {
		if err := ctx.Err(); err != nil {
			return source{}, err
		}
		switch _, err := io.CopyN(io.Discard, h, 1<<24); {
		case err == io.EOF:
			return source{h.size, [sha256.Size]byte(h.sum.Sum(nil))}, nil
		case err != nil:
			return source{}, err
		}
	}
}

// sourceOf hashes a file, at about a second per gigabyte, a small part of the
// time to read its text.
func sourceOf(ctx context.Context, path string) (source, error) {
	f, err := os.Open(path)
	if err != nil {
		return source{}, err
	}
	defer f.Close()
	return newHasher(f).finish(ctx)
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

type cacheWriter struct {
	w     io.Writer
	err   error // first failure; later rows are ignored
	words []byte
	sums  []byte
	rows  uint64
	buf   []byte
}

func newCacheWriter(w io.Writer) *cacheWriter { return &cacheWriter{w: w} }

func (c *cacheWriter) add(b block) {
	if c.err != nil || len(b.words) == 0 {
		return
	}
	d := len(b.vectors) / len(b.words)
	c.buf = c.buf[:0]
	for _, x := range b.vectors {
		c.buf = binary.LittleEndian.AppendUint32(c.buf, math.Float32bits(x))
	}
	for i, w := range b.words {
		c.words = binary.AppendUvarint(c.words, uint64(len(w)))
		c.words = append(c.words, w...)
		c.sums = binary.LittleEndian.AppendUint32(c.sums, crc32.Checksum(c.buf[i*4*d:(i+1)*4*d], castagnoli))
	}
	c.rows += uint64(len(b.words))
	_, c.err = c.w.Write(c.buf)
}

func (c *cacheWriter) finish(dimension int, from source) error {
	if c.err != nil {
		return c.err
	}
	footer := cacheFooter{
		Magic: cacheMagic, Source: from, Rows: c.rows, Dimension: uint64(dimension), WordBytes: uint64(len(c.words)),
		IndexSum: crc32.Update(crc32.Checksum(c.words, castagnoli), castagnoli, c.sums),
	}
	for _, part := range [][]byte{c.words, c.sums, footer.encode()} {
		if _, err := c.w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// encode returns the footer with its checksum set.
func (f cacheFooter) encode() []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, f) // writing to a buffer never fails
	sum := crc32.Checksum(b.Bytes()[:b.Len()-4], castagnoli)
	return binary.LittleEndian.AppendUint32(b.Bytes()[:b.Len()-4], sum)
}

// cacheFile is an open cache whose index has been checked.
type cacheFile struct {
	*os.File
	source    source // of which it is a copy
	dimension int
	words     int
	wordBytes []byte
	sums      []byte
}

// openCache reports false for a cache that is absent or damaged, or of a source
// of another size.
func openCache(path string, size int64) (_ *cacheFile, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer func() {
		if !ok {
			f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil || info.Size() < footerSize {
		return nil, false
	}
	raw := make([]byte, footerSize)
	if _, err := f.ReadAt(raw, info.Size()-footerSize); err != nil {
		return nil, false
	}
	var footer cacheFooter
	if err := binary.Read(bytes.NewReader(raw), binary.LittleEndian, &footer); err != nil {
		return nil, false
	}
	if footer.Magic != cacheMagic || footer.Source.Size != size || !bytes.Equal(raw, footer.encode()) {
		return nil, false
	}
	matrix := int64(footer.Rows) * int64(footer.Dimension) * 4
	index := int64(footer.WordBytes) + int64(footer.Rows)*4
	if matrix+index+footerSize != info.Size() {
		return nil, false
	}
	data := make([]byte, index)
	if _, err := f.ReadAt(data, matrix); err != nil || crc32.Checksum(data, castagnoli) != footer.IndexSum {
		return nil, false
	}
	return &cacheFile{
		File: f, source: footer.Source, dimension: int(footer.Dimension), words: int(footer.Rows),
		wordBytes: data[:footer.WordBytes], sums: data[footer.WordBytes:],
	}, true
}

// read returns the wanted rows; false when one of them is damaged.
func (c *cacheFile) read(keep func(string) bool) (words []string, vectors []float32, ok bool) {
	var rows []int
	all := string(c.wordBytes)
	for i := range c.words {
		n, size := binary.Uvarint([]byte(all[:min(len(all), binary.MaxVarintLen64)]))
		if size <= 0 || n > uint64(len(all)-size) {
			return nil, nil, false
		}
		word := all[size : size+int(n)]
		all = all[size+int(n):]
		if keep == nil || keep(word) {
			if keep != nil {
				word = strings.Clone(word) // do not keep all words of the file in memory for a few
			}
			words, rows = append(words, word), append(rows, i)
		}
	}
	rowBytes := 4 * c.dimension
	vectors = make([]float32, len(rows)*c.dimension)
	buf := make([]byte, max(1, cacheReadBytes/rowBytes)*rowBytes)
	for done := 0; done < len(rows); {
		// Read a run of neighbouring rows at once.
		run := 1
		for done+run < len(rows) && rows[done+run] == rows[done]+run && (run+1)*rowBytes <= len(buf) {
			run++
		}
		data := buf[:run*rowBytes]
		if _, err := c.ReadAt(data, int64(rows[done])*int64(rowBytes)); err != nil {
			return nil, nil, false
		}
		for r := range run {
			row := data[r*rowBytes : (r+1)*rowBytes]
			if crc32.Checksum(row, castagnoli) != binary.LittleEndian.Uint32(c.sums[4*rows[done+r]:]) {
				return nil, nil, false
			}
			dst := vectors[(done+r)*c.dimension : (done+r+1)*c.dimension]
			for k := range dst {
				dst[k] = math.Float32frombits(binary.LittleEndian.Uint32(row[4*k:]))
			}
		}
		done += run
	}
	return words, vectors, true
}

const cacheReadBytes = 1 << 20
