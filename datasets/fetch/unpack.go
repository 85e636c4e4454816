package fetch

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"mldpbench/internal/atomicfile"
)

// unpack extracts the wanted members of an archive, under the mark incomplete. The
// names of members only select; the catalogue alone decides where a file goes, so no
// archive can write anywhere else.
func (f *Fetcher) unpack(ctx context.Context, d Download, mark string) error {
	archive := f.path(d.File)
	if err := os.WriteFile(mark, nil, 0o644); err != nil {
		return err
	}
	taken := map[string]bool{}
	err := eachMember(archive, func(name string, r io.Reader) error {
		want := wanted(d.Unpack, name)
		if want == "" || taken[want] {
			return ctx.Err()
		}
		taken[want] = true
		to := d.Unpack[want]
		if strings.HasSuffix(to, "/") {
			to += path.Base(want)
		}
		return atomicfile.Write(f.path(to), 0o644, func(w io.Writer) error {
			_, err := io.Copy(w, r)
			return err
		})
	})
	if err != nil && ctx.Err() == nil && d.SHA256 == "" {
		return errors.Join(fmt.Errorf("%s: damaged archive: %w; no checksum of it is published: deleted, the same "+
			"command gets it again", archive, err), os.Remove(archive))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	for want := range d.Unpack {
		if !taken[want] {
			return fmt.Errorf("%s: not the published archive: no %s in it", archive, want)
		}
	}
	return os.Remove(mark)
}

// wanted returns the key of unpack that is the end of a member's path.
func wanted(unpack map[string]string, name string) string {
	name = path.Clean("/" + strings.ReplaceAll(name, `\`, "/"))
	for want := range unpack {
		if strings.HasSuffix(name, "/"+want) && !strings.Contains(name, "/__MACOSX/") {
			return want
		}
	}
	return ""
}

// eachMember calls take with every regular file of a zip or tar.gz.
func eachMember(archive string, take func(name string, r io.Reader) error) error {
	if strings.HasSuffix(archive, ".zip") {
		return eachZip(archive, take)
	}
	in, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	t := tar.NewReader(z)
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = take(h.Name, t)
		}
		if err != nil {
			return err
		}
	}
}

// eachZip is eachMember of a zip.
func eachZip(archive string, take func(string, io.Reader) error) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, m := range z.File {
		if !m.Mode().IsRegular() {
			continue
		}
		r, err := m.Open()
		if err == nil {
			err = errors.Join(take(m.Name, r), r.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}
