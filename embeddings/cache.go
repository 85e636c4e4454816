package embeddings

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mldpbench/internal/atomicfile"
	"mldpbench/internal/mapped"
	"mldpbench/internal/progress"
)

// cache is what a folder has of one file of vectors, the source: a file of package mapped of all
// its words, one for each restriction, and what is known of the source itself.
type cache struct {
	path     string // of the source
	stem     string // of the files in the folder, by the source's absolute path
	identity mapped.Identity
	format   string // and version, of one that was registered; "" for those of this package
	known    knownSource
}

// knownSource is what is known of a source by reading it.
type knownSource struct {
	mapped.Stamp
	Digest string // SHA-256 of the content
	// Complete are the restrictions that leave out none of its words: their files are those of
	// the whole.
	Complete []string
}

// newCache finds out what the source is. A program without the format that a copy was read in
// does not use it.
func newCache(ctx context.Context, path, dir string) (*cache, error) {
	c := &cache{path: path, stem: stemOf(dir, path)}
	err := withFile(ctx, path, func(f *File, found Format, _ int64) error {
		c.identity = f.identity
		if found.Version > 0 {
			c.format = fmt.Sprintf(", %s %d", found.Name, found.Version)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(c.knownFile())
	if err == nil && json.Unmarshal(data, &c.known) != nil {
		c.known = knownSource{}
	}
	return c, nil
}

// stemOf begins the names of the files of a source, told apart by its absolute path: what is made of a
// changed source replaces what was made before.
func stemOf(dir, path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		absolute = path
	}
	digest := sha256.Sum256([]byte(absolute))
	return filepath.Join(dir, fmt.Sprintf("%s-%x", baseName(path), digest[:8]))
}

func (c *cache) knownFile() string { return c.stem + ".source" }

// candidate is a file that may hold what a restriction leaves.
type candidate struct {
	path string
	rule string // restriction and version, in its key
}

// file is that of the words that a restriction leaves; nil leaves all.
func (c *cache) file(only *Restriction) candidate {
	if only == nil {
		return candidate{path: c.stem + ".cache"}
	}
	return candidate{path: fmt.Sprintf("%s.%s.cache", c.stem, only.Name), rule: only.String()}
}

// key is that of a file made from content of a digest.
func (c *cache) key(digest, rule string) string {
	if rule != "" {
		rule = ", " + rule
	}
	return digest + c.format + rule
}

// digest returns the SHA-256 of the source's content, as it is known or by reading it, at about a
// second per gigabyte.
func (c *cache) digest(ctx context.Context) (string, error) {
	if c.known.Vouches(c.identity) {
		return c.known.Digest, nil
	}
	f, err := os.Open(c.path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	before := mapped.IdentityOf(f)
	h := sha256.New()
	_, err = io.Copy(h, readerOf(ctx, f))
	if err != nil {
		return "", err
	}
	if before == mapped.IdentityOf(f) {
		c.identity = before
		c.learn(hex.EncodeToString(h.Sum(nil)))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// learn keeps the digest of the source as it is identified.
func (c *cache) learn(digest string) {
	if digest != c.known.Digest {
		c.known.Complete = nil
	}
	c.known.Digest = digest
	c.known.Stamp = mapped.NewStamp(c.identity)
	c.keepKnown()
}

// learnComplete keeps that a restriction leaves out no word.
func (c *cache) learnComplete(only *Restriction) {
	if !slices.Contains(c.known.Complete, only.String()) {
		c.known.Complete = append(c.known.Complete, only.String())
		c.keepKnown()
	}
}

// keepKnown writes what is known. What cannot be written is found out again.
func (c *cache) keepKnown() {
	data, err := json.Marshal(c.known)
	if err == nil {
		_ = atomicfile.WriteMany(c.knownFile(), 0o644, data)
	}
}

// candidates are the files that may hold what a restriction leaves, by name and version in Complete.
func (c *cache) candidates(only *Restriction) []candidate {
	files := []candidate{c.file(only)}
	switch {
	case only == nil:
		for _, rule := range c.known.Complete {
			name, _, _ := strings.Cut(rule, "-")
			files = append(files, candidate{path: fmt.Sprintf("%s.%s.cache", c.stem, name), rule: rule})
		}
	case slices.Contains(c.known.Complete, only.String()):
		files = append(files, c.file(nil))
	}
	return files
}

// find opens what a restriction leaves, nil where no file is of the source as it is. stale says what
// is wrong with a file that is there.
func (c *cache) find(ctx context.Context, only *Restriction) (found *spaceFile, stale string, err error) {
	for _, file := range c.candidates(only) {
		f, err := mapped.Open(file.path, vectorsKind)
		switch {
		case errors.Is(err, mapped.ErrUnusable):
			stale = mapped.Reason(err)
			continue
		case err != nil: // there is none, or it cannot be read
			continue
		}
		digest, err := c.digest(ctx)
		if err != nil {
			return nil, "", err
		}
		if f.Key != c.key(digest, file.rule) {
			stale = "the vectors have changed, or how they are read"
			continue
		}
		found, err := newSpaceFile(f, file.path)
		if err == nil {
			return found, "", nil
		}
		stale = mapped.Reason(err)
	}
	return nil, stale, nil
}

// notWritten is why a copy could not be written, though the source can be read.
type notWritten struct{ error }

// make makes the file of what a restriction leaves: from that of the whole if there is one, else by
// reading the source.
func (c *cache) make(ctx context.Context, opts LoadOptions, only *Restriction) (*spaceFile, error) {
	var whole *spaceFile
	if only != nil {
		var err error
		whole, _, err = c.find(ctx, nil)
		if err != nil {
			return nil, err
		}
	}
	if whole != nil && c.isComplete(whole, only) {
		c.learnComplete(only)
		return whole, nil
	}
	var failed error // of reading
	file := c.file(only)
	digest := ""
	f, err := mapped.Write(file.path, vectorsKind, func(w *mapped.Writer) error {
		digest, failed = c.fill(ctx, w, opts, only, whole)
		w.Key = c.key(digest, file.rule)
		if w.Err() != nil {
			failed = nil
			return w.Err()
		}
		return failed
	})
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, notWritten{err}
	}
	if whole == nil {
		c.learn(digest)
	}
	made, err := newSpaceFile(f, file.path)
	if err == nil && only != nil && made.meta.LeftOut.Words == 0 {
		c.learnComplete(only)
	}
	return made, err
}

// isComplete reports whether a restriction leaves out no word of the whole.
func (c *cache) isComplete(whole *spaceFile, only *Restriction) bool {
	s, err := whole.space("copy")
	return err == nil && leftOut(s.Vocabulary, only).Words == 0
}

// fill writes the space that a restriction leaves, and returns the digest of the source that it is of.
func (c *cache) fill(ctx context.Context, w *mapped.Writer, opts LoadOptions, only *Restriction,
	whole *spaceFile) (digest string, err error) {
	s := newSpaceWriter(w)
	l := &loader{
		LoadOptions: opts,
		path:        c.path,
		pass:        s.add,
	}
	l.Keep = nil
	l.Only = only
	if whole != nil {
		digest = whole.Key[:hex.EncodedLen(sha256.Size)]
		err = l.copy(ctx, whole)
	} else {
		l.seen = new(seenWords)
		err = l.file(ctx)
		digest = l.digest
		c.identity = l.identity
	}
	if err != nil {
		return "", err
	}
	if len(s.words.ends) == 0 {
		return "", l.none()
	}
	return digest, s.end(opts.Name, l.total, l.left)
}

// copy takes all rows of a copy.
func (l *loader) copy(ctx context.Context, f *spaceFile) error {
	s, err := f.space("copy")
	if err != nil {
		return err
	}
	return l.take(ctx, Rows{Words: s.Vocabulary.Words(), Vectors: s.Vectors})
}

// loadCached is Load with a cache.
func loadCached(ctx context.Context, path string, opts LoadOptions) (*Space, error) {
	only := opts.Only
	if opts.Keep != nil { // which words it keeps is not known by a name
		only = nil
	}
	c, err := newCache(ctx, path, opts.CacheDir)
	if err != nil {
		return nil, err
	}
	f, stale, err := c.find(ctx, only)
	if err != nil {
		return nil, err
	}
	if f == nil {
		if stale != "" {
			progress.Note(ctx, "the cached copy of %s is made anew: %s", path, stale)
		}
		f, err = c.make(ctx, opts, only)
	}
	if errors.As(err, new(notWritten)) {
		progress.Note(ctx, "%s is read without a cached copy: %v", path, err)
		return loadInMemory(ctx, path, opts)
	}
	if err != nil {
		return nil, err
	}
	s, err := f.space(opts.Name)
	if err != nil {
		return nil, err
	}
	if opts.Dimension > 0 && s.Dimension != opts.Dimension {
		return nil, wrongDimension(path, s.Dimension, opts.Dimension)
	}
	if opts.Keep == nil {
		return s, nil
	}
	l := &loader{LoadOptions: opts, path: path}
	l.pass = l.append
	return l.space(l.copy(ctx, f))
}
