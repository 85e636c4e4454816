package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"mldpbench/internal/atomicfile"
)

// receiptsFile, in the data folder, records every fetched file. It holds the
// pins of files without a published checksum.
const receiptsFile = "fetched.json"

// Receipt is the record of a fetched file.
type Receipt struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	From   string `json:"from"` // address, or archive it was unpacked from
}

func (f *Fetcher) receipts() (map[string]Receipt, error) {
	r := map[string]Receipt{}
	b, err := os.ReadFile(f.path(receiptsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path(receiptsFile), err)
	}
	return r, nil
}

// remember adds receipts.
func (f *Fetcher) remember(add map[string]Receipt) error {
	return f.change(func(all map[string]Receipt) { maps.Copy(all, add) })
}

// forget drops the receipt of a file.
func (f *Fetcher) forget(file string) error {
	return f.change(func(all map[string]Receipt) { delete(all, file) })
}

func (f *Fetcher) change(edit func(map[string]Receipt)) error {
	unlock, err := f.lock(context.Background(), receiptsFile)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := f.receipts()
	if err != nil {
		return err
	}
	edit(all)
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(f.path(receiptsFile), 0o644, append(b, '\n'))
}

// Check is the result of verifying one file.
type Check struct {
	Path string
	// Status is "ok" (the published checksum), "unchanged" (as when fetched;
	// there is no published checksum, or the file came from the user's mirror
	// folder), "changed" or "missing".
	Status string
	Detail string
}

// Verify hashes every file that was fetched into the data folder.
func (f *Fetcher) Verify(ctx context.Context) ([]Check, error) {
	receipts, err := f.receipts()
	if err != nil {
		return nil, err
	}
	published := map[string]Download{}
	for _, e := range Catalogue() {
		for _, s := range e.Sources {
			for _, d := range s {
				published[d.File] = d
			}
		}
	}
	var out []Check
	for _, file := range slices.Sorted(maps.Keys(receipts)) {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		c := Check{Path: f.path(file)}
		got, err := hashFile(c.Path)
		d := published[file]
		switch want := receipts[file]; {
		case errors.Is(err, fs.ErrNotExist):
			c.Status, c.Detail = "missing", "fetch it again"
		case err != nil:
			return out, err
		case got.sha256 != want.SHA256:
			c.Status, c.Detail = "changed", fmt.Sprintf(
				"SHA-256 is %s, was %s when fetched: delete it and fetch it again", got.sha256, want.SHA256)
		case d.SHA256 == "" && d.MD5 == "":
			c.Status, c.Detail = "unchanged", "no published checksum; from "+want.From
		case d.checkPublished(got) != nil:
			c.Status, c.Detail = "unchanged", "not the published file; from "+want.From
		default:
			c.Status, c.Detail = "ok", "as published"
		}
		out = append(out, c)
	}
	return out, nil
}
