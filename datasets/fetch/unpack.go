package fetch

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits on the size of unpacked archives: far above everything in the
// catalogue, where text unpacks to three or four times its size, but low enough
// to stop a decompression bomb. All wanted members together may have maxRatio
// times the archive's bytes plus maxSlack.
const (
	maxRatio   = 50
	maxSlack   = 1 << 20
	maxMembers = 1_000_000
)

// unpack extracts the wanted members of an archive, first into a separate
// folder and then, when all are there, into place, under the mark incomplete.
// The names of members only select; the catalogue alone decides where a file
// goes, so no archive can write anywhere else.
func (f *Fetcher) unpack(ctx context.Context, d Download, mark string) (err error) {
	staging, err := os.MkdirTemp(f.path(""), ".unpack-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	archive := f.path(d.File)
	staged := map[string]string{} // wanted → staged file
	left := maxRatio*size(archive) + maxSlack
	take := func(name string, r io.Reader) error {
		want := wanted(d.Unpack, name)
		if want == "" || staged[want] != "" {
			return nil
		}
		out, err := os.CreateTemp(staging, "*")
		if err != nil {
			return err
		}
		n, err := io.Copy(out, io.LimitReader(&contextReader{ctx, r}, left+1))
		if err == nil {
			err = out.Sync()
		}
		if cerr := out.Close(); err == nil {
			err = cerr
		}
		if left -= n; err == nil && left < 0 {
			err = damaged(fmt.Errorf("unpacks to more than %d times its size", maxRatio))
		}
		staged[want] = out.Name()
		return diskError(err, archive)
	}
	if err := eachMember(archive, take); err != nil {
		return fmt.Errorf("%s: %w", archive, f.discard(d, err))
	}
	for _, want := range slices.Sorted(maps.Keys(d.Unpack)) {
		if staged[want] == "" {
			return fmt.Errorf("%s: %w: no %s in it", archive, errLacks, want)
		}
	}
	if err := os.WriteFile(mark, nil, 0o644); err != nil {
		return diskError(err, archive)
	}
	for want, file := range staged {
		to := f.path(target(d.Unpack, want))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.Chmod(file, 0o644); err != nil {
			return err
		}
		if err := os.Rename(file, to); err != nil {
			return err
		}
	}
	return os.Remove(mark)
}

// discard deletes a damaged archive without a published checksum, so the next
// fetch downloads it again, and says so in the error. An archive with a
// published checksum is as published and is kept.
func (f *Fetcher) discard(d Download, err error) error {
	if !errors.Is(err, errDamaged) || d.SHA256 != "" || d.MD5 != "" {
		return err
	}
	if gone := os.Remove(f.path(d.File)); gone != nil {
		return errors.Join(err, gone)
	}
	return fmt.Errorf("%w; no checksum of it is published: deleted, the same command gets it again", err)
}

// errLacks is in the chain when an archive, such as one of the user's own in a
// mirror folder, lacks a member.
var errLacks = errors.New("not the published archive")

// wanted returns the key of unpack that is the end of a member's path.
func wanted(unpack map[string]string, name string) string {
	name = path.Clean("/" + strings.ReplaceAll(name, `\`, "/"))
	if strings.Contains(name, "/__MACOSX/") {
		return ""
	}
	for want := range unpack {
		if strings.HasSuffix(name, "/"+want) {
			return want
		}
	}
	return ""
}

func target(unpack map[string]string, want string) string {
	if to := unpack[want]; !strings.HasSuffix(to, "/") {
		return to
	}
	return unpack[want] + path.Base(want)
}

// contextReader ends a long copy when the context does.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = damaged(err)
	}
	return n, err
}

// eachMember calls take with every regular file of a zip or tar.gz.
func eachMember(archive string, take func(name string, r io.Reader) error) error {
	in, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer in.Close()
	switch name := strings.ToLower(archive); {
	case strings.HasSuffix(name, ".zip"):
		return eachZip(in, take)
	case strings.HasSuffix(name, ".tar.gz"):
		z, err := gzip.NewReader(in)
		if err != nil {
			return damaged(err)
		}
		return eachTar(z, take)
	}
	return errors.New("unknown kind of archive")
}

// errDamaged is in the chain of errors of reading an archive.
var errDamaged = errors.New("damaged archive")

func damaged(err error) error { return fmt.Errorf("%w: %w", errDamaged, err) }

func eachZip(in *os.File, take func(string, io.Reader) error) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(in, info.Size())
	if err != nil {
		return damaged(err)
	}
	for i, m := range z.File {
		if i == maxMembers {
			return fmt.Errorf("more than %d files", maxMembers)
		}
		if !m.Mode().IsRegular() {
			continue
		}
		r, err := m.Open()
		if err != nil {
			return damaged(err)
		}
		err = take(m.Name, r)
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func eachTar(r io.Reader, take func(string, io.Reader) error) error {
	t := tar.NewReader(r)
	for range maxMembers {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return damaged(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := take(h.Name, t); err != nil {
			return err
		}
	}
	return fmt.Errorf("more than %d files", maxMembers)
}
