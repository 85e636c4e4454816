package results

import (
	"fmt"
	"strings"
)

// seedMark separates a data set from the seed of the run that sampled it.
const seedMark = ", seed "

// Separate distinguishes runs of several seeds that measured the same cells.
// Each seed draws a different sample of documents, so their repetitions are not
// one sample. It adds the seed to the names of such data sets ("imdb, seed 7");
// records with only one seed are unchanged.
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

// ofSeed splits a name made by Separate.
func ofSeed(dataset string) (name, mark string) {
	if i := strings.LastIndex(dataset, seedMark); i >= 0 {
		return dataset[:i], dataset[i:]
	}
	return dataset, ""
}
