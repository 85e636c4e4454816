// Package fetch finds the data a study needs on this machine and gets what is
// missing: a catalogue of what there is, where its files lie in a data
// folder, and a downloader that checks what it gets.
//
// It believes that data is either whole and known, or not there: a download
// is checked against the published SHA-256 where there is one, pinned on
// first use where there is none, and moved into place only when complete. It
// stops at files: what is in them is for the readers of datasets and
// embeddings.
package fetch

import (
	_ "embed"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"mldpbench/internal/atomicfile"
)

//go:embed catalogue.yaml
var catalogueYAML []byte

// Entry is one thing that can be fetched and found.
type Entry struct {
	Name     string   `yaml:"name"`
	Title    string   `yaml:"title"`
	What     string   `yaml:"what"`
	Licence  string   `yaml:"licence"`
	Citation string   `yaml:"citation"`
	Studies  []string `yaml:"studies"` // built-in studies that need it
	// Accept says, for each part of the entry, which files or folders under
	// the data folder are it, in order of preference.
	Accept map[string][]string `yaml:"accept"`
	// Sources are tried in order; each gives the whole entry.
	Sources []Source `yaml:"sources"`
	// Manual says how to get what may not be downloaded by a program.
	Manual string `yaml:"manual"`
}

// Source is a set of downloads that together give an entry.
type Source []Download

// Download is one file of the network.
type Download struct {
	URLs   []string `yaml:"urls"` // mirrors of the same bytes, in order
	File   string   `yaml:"file"` // where it is kept, under the data folder
	Bytes  int64    `yaml:"bytes"`
	SHA256 string   `yaml:"sha256"` // as published; "" where nobody published one
	MD5    string   `yaml:"md5"`    // as published, for want of better
	// Unpack lists what is taken out of an archive: the end of a member's path
	// → file or, with a final slash, folder under the data folder.
	Unpack map[string]string `yaml:"unpack"`
}

// Check says what a download is held against.
func (d Download) Check() string {
	switch {
	case d.SHA256 != "":
		return "SHA-256 " + d.SHA256
	case d.MD5 != "":
		return "MD5 " + d.MD5
	}
	s := "no published one is known: pinned to what comes first"
	if slices.ContainsFunc(d.URLs, func(u string) bool { return strings.HasPrefix(u, "http://") }) {
		s += ", which comes unencrypted"
	}
	return s
}

var catalogue = sync.OnceValues(func() ([]Entry, error) {
	var entries []Entry
	if err := yaml.UnmarshalWithOptions(catalogueYAML, &entries, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("catalogue.yaml: %w", err)
	}
	return entries, nil
})

// Catalogue returns all entries in the order of the catalogue.
func Catalogue() []Entry {
	entries, err := catalogue()
	if err != nil {
		panic(err) // embedded, and read by a test
	}
	return entries
}

// Find returns the entry of a name.
func Find(name string) (Entry, error) {
	var names []string
	for _, e := range Catalogue() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Entry{}, fmt.Errorf("data = %q: must be one of %q", name, names)
}

// Expand returns the entries that names mean: an entry, the entries of one
// embedding ("glove.6B", of which dimensions selects), or all that a built-in
// study needs ("comparative").
func Expand(names []string, dimensions []int) ([]Entry, error) {
	var out []Entry
	for _, name := range names {
		matched := false
		for _, e := range Catalogue() {
			suffix, member := strings.CutPrefix(e.Name, name+".")
			member = member && !strings.Contains(suffix, ".")
			if member && len(dimensions) > 0 {
				member = slices.ContainsFunc(dimensions, func(d int) bool { return suffix == fmt.Sprintf("%dd", d) })
			}
			if e.Name != name && !member && !slices.Contains(e.Studies, name) {
				continue
			}
			matched = true
			if !slices.ContainsFunc(out, func(o Entry) bool { return o.Name == e.Name }) {
				out = append(out, e)
			}
		}
		if !matched {
			_, err := Find(name)
			if len(dimensions) > 0 {
				err = fmt.Errorf("%w (dimensions %d)", err, dimensions)
			}
			return nil, err
		}
	}
	return out, nil
}

// Root returns the data folder: dir if given, else MLDP_DATA, else the folder
// mldp/data in the user's cache (XDG_CACHE_HOME), or mldp-data in the current
// folder for a user without a home. It need not exist.
func Root(dir string) string {
	if dir != "" {
		return dir
	}
	if env := os.Getenv("MLDP_DATA"); env != "" {
		return env
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "mldp-data"
	}
	return filepath.Join(cache, "mldp", "data")
}

// MissingError says that an entry is not on this machine and how to get it.
type MissingError struct {
	Entry  Entry
	Part   string   // key of Entry.Accept
	Root   string   // the data folder that was searched
	Looked []string // the names looked for
	dir    string   // as given to Locate
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is not in %s (looked for %s); %s",
		e.Entry.Title, e.Root, strings.Join(e.Looked, ", "), e.Hint())
}

// Unwrap makes errors.Is(err, fs.ErrNotExist) true.
func (e *MissingError) Unwrap() error { return fs.ErrNotExist }

// Hint is the sentence that says what to do.
func (e *MissingError) Hint() string {
	if len(e.Entry.Sources) == 0 {
		return e.Entry.Manual
	}
	flag := ""
	if e.dir != "" {
		flag = " --data " + e.dir
	}
	return "get it with: mldp data fetch " + e.Entry.Name + flag
}

// Locate returns the path of one part of an entry in the data folder dir (see
// Root). It is a *MissingError if the part is not there.
func Locate(dir, name, part string) (string, error) {
	entry, err := Find(name)
	if err != nil {
		return "", err
	}
	return entry.locate(dir, part)
}

func (e Entry) locate(dir, part string) (string, error) {
	accept, ok := e.Accept[part]
	if !ok {
		return "", fmt.Errorf("%s has no part %q: it has %q", e.Name, part, slices.Sorted(maps.Keys(e.Accept)))
	}
	root := Root(dir)
	if !exists(incomplete(root, e.Name)) {
		for _, candidate := range accept {
			path := filepath.Join(root, filepath.FromSlash(candidate))
			if complete(path) {
				return path, nil
			}
		}
	}
	return "", &MissingError{Entry: e, Part: part, Root: root, Looked: accept, dir: dir}
}

// incomplete is the path of the mark that an entry is being moved into place:
// while it is there, or left behind by a killed process, the entry counts as
// missing.
func incomplete(root, name string) string { return filepath.Join(root, ".incomplete-"+name) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// complete says whether path is a file, or a folder with something in it.
func complete(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if !info.IsDir() {
		return true
	}
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) > 0
}

// Parts are the names of the parts, sorted.
func (e Entry) Parts() []string { return slices.Sorted(maps.Keys(e.Accept)) }

// Place copies a file of the user's into the data folder as the one part of
// an entry that is got by hand, and returns its new path.
func (e Entry) Place(dir, file string) (string, error) {
	parts := e.Parts()
	if len(parts) != 1 {
		return "", fmt.Errorf("%s has the parts %q: copy them by hand", e.Name, parts)
	}
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	magic := make([]byte, 2)
	_, _ = io.ReadFull(in, magic)
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	gzipped := string(magic) == "\x1f\x8b"
	for _, name := range e.Accept[parts[0]] {
		if strings.HasSuffix(name, ".gz") != gzipped {
			continue
		}
		path := filepath.Join(Root(dir), filepath.FromSlash(name))
		return path, atomicfile.Write(path, 0o644, func(w io.Writer) error {
			_, err := io.Copy(w, in)
			return err
		})
	}
	return "", fmt.Errorf("%s: want one of %s", file, strings.Join(e.Accept[parts[0]], ", "))
}

// Present returns the paths of all parts of an entry, or a *MissingError for
// the first part that is not there.
func (e Entry) Present(dir string) (map[string]string, error) {
	paths := map[string]string{}
	for _, part := range e.Parts() {
		path, err := e.locate(dir, part)
		if err != nil {
			return nil, err
		}
		paths[part] = path
	}
	return paths, nil
}
