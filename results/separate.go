package results

import (
	"fmt"
	"strings"
)

// seedMark stands between a data set and the seed of the run that sampled it.
const seedMark = ", seed "

// Separate keeps runs of several seeds apart that measured the same cells: each
// seed draws its own sample of documents, so their repetitions are no one
// sample. It names such data sets by their seed ("imdb, seed 7"); records of
// which there is one seed stay as they are.
func Separate(records []Record) []Record {
	seeds := map[gateCell]uint64{}
	split := map[string]bool{}
	for _, r := range records {
		g := gateKey(r.Group())
		if seed, known := seeds[g]; known && seed != r.Seed {
			split[r.Dataset] = true
		}
		seeds[g] = r.Seed
	}
	if len(split) == 0 {
		return records
	}
	out := make([]Record, len(records))
	for i, r := range records {
		if split[r.Dataset] {
			r.Dataset += fmt.Sprint(seedMark, r.Seed)
		}
		out[i] = r
	}
	return out
}

// ofSeed takes a name that Separate made apart.
func ofSeed(dataset string) (name, mark string) {
	if i := strings.LastIndex(dataset, seedMark); i >= 0 {
		return dataset[:i], dataset[i:]
	}
	return dataset, ""
}
