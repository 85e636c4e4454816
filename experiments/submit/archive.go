package submit

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mldpbench/internal/atomicfile"
)

// Limits of a package: far above the needs of any, far below what causes harm.
const (
	maxFiles = 2000
	maxBytes = 512 << 20 // of all files, unpacked
)

// contents is the file that lists all others.
const contents = "package.json"

// File is an entry of a package.
type File struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Package is what package.json says of a package.
type Package struct {
	Format  int    `json:"format"`
	Kind    string `json:"kind"`           // submission or artifact
	Task    string `json:"task,omitempty"` // as rows name it
	Study   string `json:"study"`
	Version string `json:"mldp"`
	Machine string `json:"machine"`
	// Data are the fingerprints of what was read.
	Data  map[string]string `json:"data"`
	Files map[string]File   `json:"files"`
}

// Kinds of a package, and the version of their format.
const (
	Submission = "submission"
	Artifact   = "artifact"
	format     = 1
)

// seal lists the files of a folder in its package.json.
func seal(dir string, p *Package) error {
	p.Format, p.Files = format, map[string]File{}
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err == nil && name != contents {
			p.Files[filepath.ToSlash(name)], err = digest(file)
		}
		return err
	})
	if err != nil {
		return err
	}
	return atomicfile.WriteJSON(filepath.Join(dir, contents), p)
}

func digest(file string) (File, error) {
	f, err := os.Open(file)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return File{n, hex.EncodeToString(h.Sum(nil))}, err
}

// pack writes a sealed folder as a zip file; equal folders give equal files.
func pack(dir, out string) error {
	return atomicfile.Write(out, 0o644, func(w io.Writer) error {
		z := zip.NewWriter(w)
		from := os.DirFS(dir)
		err := fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			to, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
			if err != nil {
				return err
			}
			data, err := fs.ReadFile(from, name)
			if err == nil {
				_, err = to.Write(data)
			}
			return err
		})
		return errors.Join(err, z.Close())
	})
}

// Refusal is the reason why a package is not accepted.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return "refused: " + r.Reason }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// open unpacks a package, a zip file or a folder, into dir and checks it against
// its list: every byte of every file, none missing and none more.
func open(name, dir string) (*Package, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	var from fs.FS
	if info.IsDir() {
		from = os.DirFS(name)
	} else {
		z, err := zip.OpenReader(name)
		if err != nil {
			return nil, refuse("%s is no zip file: %v", filepath.Base(name), err)
		}
		defer z.Close()
		if err := checkNames(z.File); err != nil {
			return nil, err
		}
		from = z
	}
	var files []string
	total := int64(0)
	err = fs.WalkDir(from, ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return refuse("%s is no plain file", file)
		case len(files) >= maxFiles:
			return refuse("more than %d files", maxFiles)
		}
		// A zip file cannot have more bytes in a file than it says.
		if total += info.Size(); info.Size() < 0 || total > maxBytes {
			return refuse("more than %d MB unpacked", maxBytes>>20)
		}
		files = append(files, file)
		return nil
	})
	if err == nil {
		err = os.CopyFS(dir, from)
	}
	if err != nil {
		return nil, asRefusal(err)
	}
	return checkList(dir, files)
}

func asRefusal(err error) error {
	var r *Refusal
	if errors.As(err, &r) {
		return err
	}
	return refuse("%v", err)
}

// checkNames refuses names that would leave the folder, or fall together on some
// system.
func checkNames(list []*zip.File) error {
	seen := map[string]bool{}
	if len(list) > maxFiles {
		return refuse("more than %d files", maxFiles)
	}
	for _, f := range list {
		name := strings.TrimSuffix(f.Name, "/")
		switch {
		case !fs.ValidPath(name) || !filepath.IsLocal(name) ||
			strings.ContainsAny(name, "\\:\x00") || path.Clean(name) != name:
			return refuse("the name %q leaves the folder of the package", f.Name)
		case seen[strings.ToLower(name)]:
			return refuse("%q is there twice", f.Name)
		}
		seen[strings.ToLower(name)] = true
	}
	return nil
}

// checkList reads package.json and compares it with the files.
func checkList(dir string, files []string) (*Package, error) {
	data, err := os.ReadFile(filepath.Join(dir, contents))
	if err != nil {
		return nil, refuse("there is no %s", contents)
	}
	p := &Package{}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, refuse("%s: %v", contents, err)
	}
	switch {
	case p.Format != format:
		return nil, refuse("%s: format = %d: this version of mldp reads %d", contents, p.Format, format)
	case p.Kind != Submission && p.Kind != Artifact:
		return nil, refuse("%s: kind = %q: must be %q or %q", contents, p.Kind, Submission, Artifact)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		if !slices.Contains(files, name) {
			return nil, refuse("%s is missing", name)
		}
		found, err := digest(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		if want := p.Files[name]; found != want {
			return nil, refuse("%s was changed: %d bytes of SHA-256 %.12s…, the list says %d of %.12s…", name, found.Bytes,
				found.SHA256, want.Bytes, want.SHA256)
		}
	}
	for _, name := range files {
		if _, listed := p.Files[name]; !listed && name != contents {
			return nil, refuse("%s is not in %s", name, contents)
		}
	}
	return p, nil
}
