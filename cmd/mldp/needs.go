package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"mldpbench/datasets/fetch"
)

// fetchOptions are the flags for a study's missing data.
type fetchOptions struct {
	fetch, yes bool
}

// provide downloads the data of a study with --fetch; otherwise its error tells
// how to get it.
func (o fetchOptions) provide(ctx context.Context, missing []fetch.Entry, dir string, stdin io.Reader,
	stderr io.Writer) error {
	switch {
	case len(missing) == 0:
		return nil
	case o.fetch:
		return asOneLine(newFetcher(dir, o.yes, stdin, stderr).Fetch(ctx, missing))
	}
	var names, download, byHand []string
	for _, e := range missing {
		names = append(names, e.Name)
		if len(e.Downloads) > 0 {
			download = append(download, e.Name)
		} else {
			byHand = append(byHand, e.Name+": "+e.Manual)
		}
	}
	steps := byHand
	if len(download) > 0 {
		command := "mldp data fetch " + strings.Join(download, " ")
		if dir != "" {
			command += " --data " + dir
		}
		steps = append([]string{"get it with: " + command}, byHand...)
	}
	return fmt.Errorf("not in %s: %s; %s", fetch.Root(dir), strings.Join(names, ", "), strings.Join(steps, "; "))
}
