package experiments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
)

// DataListing asks what data there is.
type DataListing struct {
	Call
	Verbose bool // licence, citation, addresses and checksums as well
}

// ListData lists the catalogue of files, what of it is here, and the data sets.
func ListData(_ context.Context, l DataListing) (*Outcome, error) {
	o := l.answer()
	folder := fetch.Root(l.Data)
	if _, err := os.Stat(folder); err != nil {
		folder += " (does not exist)"
	}
	o.say("data folder: %s\n", folder)
	files, sources := l.catalogue()
	o.listing("files", []string{"name", "here", "size", "studies", "what"}, files)
	if l.Verbose {
		o.say("")
		o.listing("sources", []string{"name", "of", "value"}, sources)
	}
	sets, err := l.dataSets()
	if err != nil {
		return nil, err
	}
	o.say("")
	o.listing("datasets", []string{"data set", "download", "what"}, sets)
	return o, nil
}

// dataSets is the rows of data sets, the smallest download first; what comes by hand is last.
func (l DataListing) dataSets() (rows [][]any, err error) {
	catalogue := map[string]fetch.Entry{}
	for _, e := range fetch.Catalogue() {
		catalogue[e.Name] = e
	}
	bytes := map[string]int64{}
	byHand := map[string]int{} // files that are not downloaded
	names := datasets.Names()
	for _, name := range names {
		needs, err := datasets.Needs(datasets.Request{Name: name, Root: l.Data})
		if err != nil {
			return nil, err
		}
		for _, need := range needs {
			size := catalogue[need].Size()
			bytes[name] += size
			if size == 0 {
				byHand[name]++
			}
		}
	}
	slices.SortStableFunc(names, func(x, y string) int {
		order := byHand[x] - byHand[y]
		if order == 0 {
			order = cmp.Compare(bytes[x], bytes[y])
		}
		return order
	})
	for _, name := range names {
		d, err := datasets.Find(name)
		if err != nil {
			return nil, err
		}
		download := shownSize(bytes[name])
		switch {
		case d.Generated:
			download = "none"
		case byHand[name] > 0:
			download = "by hand"
		}
		rows = append(rows, []any{name, download, d.Doc})
	}
	return rows, nil
}

// catalogue is the rows of files, and those of where these are from.
func (l DataListing) catalogue() (files, sources [][]any) {
	for _, e := range fetch.Catalogue() {
		_, absent := e.Present(l.Data)
		size := shownSize(e.Size())
		files = append(files, []any{e.Name, absent == nil, size, strings.Join(e.Studies, ", "), e.What})
		sources = append(sources, []any{e.Name, "licence", e.Licence}, []any{e.Name, "cite", e.Citation})
		for _, d := range e.Downloads {
			sources = append(sources, []any{e.Name, "from", d.URL},
				[]any{e.Name, "SHA-256", cmp.Or(d.SHA256, "none is published")})
		}
		if e.Manual != "" {
			sources = append(sources, []any{e.Name, "by hand", e.Manual})
		}
	}
	return files, sources
}

// shownSize is how much is downloaded, in megabytes.
func shownSize(bytes int64) string {
	if bytes == 0 {
		return "by hand"
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// FetchNames are the names that FetchData takes beside files of studies.
func FetchNames() []string {
	return append(list.Map(fetch.Catalogue(), func(e fetch.Entry) string { return e.Name }), Builtin.Names()...)
}

// Fetching asks for entries of the catalogue.
type Fetching struct {
	Call
	Names []string // of entries and studies, or files of studies; none: those of the comparative study
}

// FetchData downloads entries of the catalogue; for a study, those that are missing.
func FetchData(ctx context.Context, f Fetching) (*Outcome, error) {
	o := f.answer()
	names := f.Names
	if len(names) == 0 {
		names = []string{"comparative"}
	}
	entries, err := expand(names, f.Data)
	if err != nil {
		return nil, Usage(err)
	}
	if len(entries) == 0 {
		o.note("nothing is missing in %s", fetch.Root(f.Data))
		return o, nil
	}
	return o, o.call.download(ctx, entries)
}

// expand returns the entries for names: for a study, those that are missing.
func expand(names []string, folder string) (out []fetch.Entry, err error) {
	for _, name := range names {
		entries, err := entriesOf(name, folder)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			isSame := func(o fetch.Entry) bool { return o.Name == e.Name }
			if !slices.ContainsFunc(out, isSame) {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// entriesOf are those of an entry or group, or those that a study lacks.
func entriesOf(name, folder string) ([]fetch.Entry, error) {
	if !slices.Contains(Builtin.Names(), name) && !strings.HasSuffix(name, ".yaml") {
		return fetch.Expand(name)
	}
	p, err := openPlan(name, folder, study.Overrides{})
	if err != nil {
		return nil, err
	}
	return p.Missing(folder)
}

// download gets entries of the catalogue. The causes of a failure are one message.
func (c Call) download(ctx context.Context, entries []fetch.Entry) error {
	err := (&fetch.Fetcher{Dir: c.Data, Log: c.Log}).Fetch(ctx, entries)
	if err == nil || !strings.Contains(err.Error(), "\n") {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
}

// checkPresent returns an error where entries are missing that tells how to get them.
func (c Call) checkPresent(missing []fetch.Entry) error {
	if len(missing) == 0 {
		return nil
	}
	names := list.Map(missing, func(e fetch.Entry) string { return e.Name })
	command := "mldp data fetch " + strings.Join(names, " ")
	if c.Data != "" {
		command += " --data " + c.Data
	}
	return fmt.Errorf("not in %s: %s; get it with: %s", fetch.Root(c.Data), strings.Join(names, ", "), command)
}
