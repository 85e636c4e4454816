// Package fetch finds the data of a study on this machine and downloads what is
// missing. It consists of a catalogue of the data and its files in a data
// folder, and a downloader that checks what it receives.
//
// Data is either complete or absent: a download is checked against the
// published checksum where there is one, and moved into place only when
// complete. The content of files is read
// by packages datasets and embeddings.
package fetch

import (
	_ "embed"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"mldpbench/internal/check"
)

//go:embed catalogue.yaml
var catalogueYAML []byte

// Entry is one item of the catalogue.
type Entry struct {
	Name     string   `yaml:"name"`
	Title    string   `yaml:"title"`
	What     string   `yaml:"what"`
	Licence  string   `yaml:"licence"`
	Citation string   `yaml:"citation"`
	Studies  []string `yaml:"studies"` // built-in studies that need it
	// Accept lists, for each part of the entry, the files or folders under the
	// data folder that can be it, in order of preference.
	Accept    map[string][]string `yaml:"accept"`
	Downloads []Download          `yaml:"downloads"`
	// Manual describes how to get data that a program may not download.
	Manual string `yaml:"manual"`
}

// Download is one file to download.
type Download struct {
	URL    string `yaml:"url"`
	File   string `yaml:"file"` // where it is kept, under the data folder
	Bytes  int64  `yaml:"bytes"`
	SHA256 string `yaml:"sha256"` // as published; "" where none is
	// Unpack lists the members to extract from an archive: the end of a
	// member's path → file or, with a final slash, folder under the data
	// folder.
	Unpack map[string]string `yaml:"unpack"`
}

// Catalogue returns all entries in the order of the catalogue.
var Catalogue = sync.OnceValue(func() (entries []Entry) {
	if err := yaml.UnmarshalWithOptions(catalogueYAML, &entries, yaml.Strict()); err != nil {
		panic("catalogue.yaml: " + err.Error()) // embedded, and tested
	}
	return entries
})

// Find returns the entry with the given name.
func Find(name string) (Entry, error) {
	var names []string
	for _, e := range Catalogue() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Entry{}, check.OneOf("data", name, names...)
}

// Expand returns the entries that a name stands for: an entry, the entries of one
// embedding ("glove.6B"), or all entries of a built-in study ("comparative").
func Expand(name string) ([]Entry, error) {
	var out []Entry
	for _, e := range Catalogue() {
		suffix, member := strings.CutPrefix(e.Name, name+".")
		if e.Name == name || member && !strings.Contains(suffix, ".") || slices.Contains(e.Studies, name) {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		_, err := Find(name)
		return nil, err
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

// MissingError means that an entry is not on this machine; Hint tells how to
// get it.
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

// Hint returns a sentence that tells the user what to do.
func (e *MissingError) Hint() string {
	if len(e.Entry.Downloads) == 0 {
		return e.Entry.Manual
	}
	flag := ""
	if e.dir != "" {
		flag = " --data " + e.dir
	}
	return "get it with: mldp data fetch " + e.Entry.Name + flag
}

// Locate returns the path of one part of an entry in the data folder dir (see
// Root). The error is a *MissingError if the part is not there.
func Locate(dir, name, part string) (string, error) {
	entry, err := Find(name)
	if err != nil {
		return "", err
	}
	return entry.locate(dir, part)
}

// Size is how many bytes are downloaded; 0 where they come by hand.
func (e Entry) Size() (bytes int64) {
	for _, d := range e.Downloads {
		bytes += d.Bytes
	}
	return bytes
}

// locate returns the first of the accepted paths of a part that is there, unless the
// entry is just being moved into place.
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

// incomplete returns the path of the mark that an entry is being moved into
// place. While the mark exists, also after a process was killed, the entry
// counts as missing.
func incomplete(root, name string) string { return filepath.Join(root, ".incomplete-"+name) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// complete reports whether path is a file or a folder that is not empty.
func complete(path string) bool {
	entries, err := os.ReadDir(path)
	return len(entries) > 0 || err != nil && exists(path)
}

// Present returns the paths of all parts of an entry, or a *MissingError for
// the first part that is not there.
func (e Entry) Present(dir string) (map[string]string, error) {
	paths := map[string]string{}
	for _, part := range slices.Sorted(maps.Keys(e.Accept)) {
		path, err := e.locate(dir, part)
		if err != nil {
			return nil, err
		}
		paths[part] = path
	}
	return paths, nil
}
