package experiments

import (
	"fmt"
	"strings"
	"testing"

	"mldpbench/internal/list"
	"mldpbench/mechanisms/privatize"
	"mldpbench/stream"
)

// exposedTexts are 300 texts of ten words each, of which every fifth is released as it is, and the
// others as words that have nothing to do with theirs.
func exposedTexts() []privatize.Pair {
	rng := stream.FromUint64(5).Rand()
	text := func() string {
		var words []string
		for range 10 {
			words = append(words, fmt.Sprintf("w%c%c", 'a'+rune(rng.IntN(20)), 'a'+rune(rng.IntN(20))))
		}
		return strings.Join(words, " ")
	}
	var pairs []privatize.Pair
	for i := range 300 {
		original := text()
		written := text()
		if i%5 == 0 {
			written = original
		}
		pairs = append(pairs, privatize.Pair{Original: original, Written: written})
	}
	return pairs
}

// Texts that are released as they are, are named first with confidence, and no others.
func TestExposureFindsThoseThatAreReleased(t *testing.T) {
	t.Parallel()
	texts := exposedTexts()
	exposures, err := exposuresOf(t.Context(), texts, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range exposures {
		isReleased := i%5 == 0
		if isReleased && (x.Rank != 1 || x.Rare.Back != x.Rare.Words) {
			t.Errorf("text %d is released as it is: rank %d, %d of %d rare words, want rank 1 and all", i, x.Rank,
				x.Rare.Back,
				x.Rare.Words)
		}
		if !isReleased && x.isNamed() {
			t.Errorf("text %d is not released, but named with a confidence of %v", i, x.Confidence)
		}
		if x.Candidates != len(texts) {
			t.Errorf("text %d has %d candidates, want %d", i, x.Candidates, len(texts))
		}
	}
	named := list.Count(exposures, exposure.isNamed)
	if named < 50 {
		t.Errorf("%d of 60 released texts are named, want 50 at least", named)
	}
}

// Nobody is named where the release has nothing to do with the originals, and everyone where it is
// them; equal originals share their rank.
func TestExposureOfAllAndNone(t *testing.T) {
	t.Parallel()
	texts := exposedTexts()
	var plain, mixed, equal []privatize.Pair
	for i, p := range texts {
		plain = append(plain, privatize.Pair{Original: p.Original, Written: p.Original})
		mixed = append(mixed, privatize.Pair{Original: p.Original, Written: texts[(i+7)%len(texts)].Original})
		equal = append(equal, privatize.Pair{Original: "one text", Written: "one text"})
	}
	for _, c := range []struct {
		name  string
		texts []privatize.Pair
		least int
		most  int
	}{{"plain", plain, 295, 300}, {"mixed", mixed, 0, 0}, {"equal", equal, 0, 0}, {"two", plain[:2], 0, 2},
		{"none", nil, 0, 0}} {
		exposures, err := exposuresOf(t.Context(), c.texts, 2)
		if err != nil {
			t.Fatal(err)
		}
		named := list.Count(exposures, exposure.isNamed)
		if named < c.least || named > c.most {
			t.Errorf("%s: %d of %d are named, want %d to %d", c.name, named, len(c.texts), c.least, c.most)
		}
		if c.name == "equal" && exposures[0].Rank != 150 {
			t.Errorf("of equal originals the rank is %d, want the middle, 150", exposures[0].Rank)
		}
	}
}

// Names inside a sentence, numbers and addresses are counted, in whatever case they come back;
// capitals that begin a sentence are none.
func TestExposureCountsNamesAndNumbers(t *testing.T) {
	t.Parallel()
	texts := []privatize.Pair{
		{
			Original: "The man met Anna in Oslo. He paid 300 to q@x.org! Then left.",
			Written:  "the cat met anna in 300 he",
		},
		{Original: "nothing here", Written: "nothing there"},
	}
	exposures, err := exposuresOf(t.Context(), texts, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := exposures[0].Marked; got != (again{Words: 4, Back: 2}) { // Anna, Oslo, 300, q@x.org
		t.Errorf("%d of %d names and numbers came back, want 2 of 4", got.Back, got.Words)
	}
	if got := exposures[1].Marked; got != (again{}) {
		t.Errorf("%d of %d names and numbers came back, want none of none", got.Back, got.Words)
	}
}
