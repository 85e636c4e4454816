package fetch

import (
	"cmp"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"mldpbench/internal/check"
)

const hubPrefix = "hf://datasets/"

// OnHub reports whether a name is that of a file of the Hugging Face hub, as
// pandas, Polars and DuckDB write it: hf://datasets/OWNER/NAME[@REVISION]/PATH.
func OnHub(name string) bool { return strings.HasPrefix(name, "hf://") }

// hub is the entry of such a file. Its revision is main, or ~parquet for the copy
// that the hub converts itself; HF_ENDPOINT is another hub than the public one. The
// hub's own Parquet files have at most 500 MB, and so may this.
func hub(name string) (Entry, error) {
	rest, ok := strings.CutPrefix(name, hubPrefix)
	parts := strings.SplitN(rest, "/", 3)
	if !ok || len(parts) < 3 || !filepath.IsLocal(rest) || path.Ext(rest) == "" {
		return Entry{}, check.Wrong("data = %q: a file of the hub is %sOWNER/NAME[@REVISION]/PATH, as in "+
			"%sOWNER/NAME@~parquet/default/train/0000.parquet", name, hubPrefix, hubPrefix)
	}
	repository, revision, _ := strings.Cut(parts[1], "@")
	reference := cmp.Or(revision, "main")
	if revision == "~parquet" {
		reference = "refs/convert/parquet"
	}
	address := (&url.URL{Path: parts[2]}).EscapedPath()
	return Entry{Name: name, Title: name, What: "a file of the hub", Licence: "see its page",
		Accept: map[string][]string{"file": {"hf/" + rest}},
		Downloads: []Download{{File: "hf/" + rest, Bytes: 500 << 20, URL: strings.Join([]string{strings.TrimSuffix(cmp.Or(
			os.Getenv("HF_ENDPOINT"), "https://huggingface.co"), "/"), "datasets", parts[0], repository, "resolve",
			url.PathEscape(reference), address}, "/")}},
	}, nil
}
