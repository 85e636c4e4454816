package mechanisms

import (
	"cmp"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/kernel"
)

// shrinking is a space from which words are removed step by step, each time the
// remaining words nearest to some word. Ties go to the smaller id, so the
// result depends on the space alone.
//
// Nearest words are first looked up in a table of some neighbours per word;
// where too many of these are gone, all remaining words are scanned. Whenever
// half of its words are gone, the table is rebuilt for the rest: scans stay
// rare, and all tables together cost a third more than the first.
type shrinking struct {
	space *embeddings.Space
	gone  []bool
	left  int

	live  []WordID // words of the table, ascending
	place []int32  // of a word in live
	table []nearest.Neighbor
	width int // neighbours of a word in the table; 0 is no table
	wide  int // width of tables to come
	// panels scan the words of the table.
	panels *kernel.Panels
	row    []float64
}

// smallTable is the number of words below which tables are not rebuilt.
const smallTable = 512

// newShrinking starts with all words; width is the number of neighbours listed
// per word, or 0 to scan always.
func newShrinking(s *embeddings.Space, width int) *shrinking {
	x := &shrinking{
		space: s,
		wide:  width,
		gone:  make([]bool, s.Len()),
		left:  s.Len(),
		place: make([]int32, s.Len()),
	}
	x.live = s.Vocabulary.IDs()
	x.rebuild()
	return x
}

// rebuild builds the table of the remaining words.
func (x *shrinking) rebuild() {
	x.live = slices.DeleteFunc(x.live, func(w WordID) bool { return x.gone[w] })
	d := x.space.Dimension
	vectors := make([]float32, 0, len(x.live)*d)
	words := make([]string, len(x.live))
	for i, w := range x.live {
		x.place[w] = int32(i)
		words[i] = x.space.Vocabulary.Word(w)
		vectors = append(vectors, x.space.Vector(w)...)
	}
	x.panels = kernel.PackPanels(vectors, d)
	x.row = make([]float64, kernel.PairRows*x.panels.Stride())
	x.table = nil
	x.width = 0
	if x.wide == 0 || len(x.live) <= smallTable {
		return // a scan is as cheap
	}
	v, err := embeddings.NewVocabulary(words)
	if err != nil {
		panic(err) // they are distinct words of one vocabulary
	}
	part, err := embeddings.NewSpace(x.space.Name, v, d, vectors)
	if err != nil {
		panic(err) // they are vectors of a space
	}
	x.table = nearest.Of(part).Words(v.IDs(), x.wide)
	x.width = x.wide
}

// take removes a word.
func (x *shrinking) take(w WordID) {
	x.gone[w] = true
	x.left--
	if x.left > 0 && len(x.live) > smallTable && 2*x.left < len(x.live) {
		x.rebuild()
	}
}

// takeNearest removes w and the count−1 words nearest to it and returns them,
// w first.
func (x *shrinking) takeNearest(w WordID, count int) []WordID {
	members := x.search(append(make([]WordID, 0, min(count, x.left)), w), w, count-1)
	for _, m := range members {
		x.gone[m] = true
	}
	x.left -= len(members) - 1
	x.take(w) // counts w and rebuilds the table when due
	return slices.Clip(members)
}

// search appends the count remaining words nearest to w, or all if fewer
// remain. w itself may be gone but must be in the table.
func (x *shrinking) search(dst []WordID, w WordID, count int) []WordID {
	wanted := len(dst) + count
	if x.width > 0 {
		start := len(dst)
		for _, c := range x.table[int(x.place[w])*x.width:][:x.width] {
			if c.ID == embeddings.Unknown || len(dst) == wanted {
				break
			}
			if y := x.live[c.ID]; y != w && !x.gone[y] {
				dst = append(dst, y)
			}
		}
		if len(dst) == wanted {
			return dst
		}
		dst = dst[:start]
	}
	return x.scan(dst, w, count)
}

// scan does the same as search without the table.
func (x *shrinking) scan(dst []WordID, w WordID, count int) []WordID {
	x.panels.Distances(x.row, x.space.Vector(w))
	type candidate struct {
		id       WordID
		distance float64
	}
	best := make([]candidate, 0, min(count, x.left)+1)
	for i, y := range x.live {
		if y == w || x.gone[y] {
			continue
		}
		d := x.row[i]
		if len(best) == count && (count == 0 || d >= best[count-1].distance) {
			continue // words come by ascending id, so an equal distance loses
		}
		at, _ := slices.BinarySearchFunc(best, candidate{y, d}, func(a, b candidate) int {
			if a.distance != b.distance {
				return cmp.Compare(a.distance, b.distance)
			}
			return cmp.Compare(a.id, b.id)
		})
		best = slices.Insert(best, at, candidate{y, d})
		best = best[:min(len(best), count)]
	}
	for _, c := range best {
		dst = append(dst, c.id)
	}
	return dst
}

type chainKey struct{ start WordID }

// chainOf is the greedy chain of a space from a word: each next word is the
// nearest to the last among those not yet in the chain. Built once per space
// and start word.
func chainOf(s *embeddings.Space, start WordID) []WordID {
	return embeddings.Once(s, chainKey{start}, func() []WordID { return buildChain(s, start) })
}

// buildChain takes the words off one by one.
func buildChain(s *embeddings.Space, start WordID) []WordID {
	chain := make([]WordID, 0, s.Len())
	walk := newShrinking(s, 16)
	for w := start; ; {
		chain = append(chain, w)
		// Search before w is removed: a rebuilt table does not have w.
		next := walk.search(nil, w, 1)
		walk.take(w)
		if len(next) == 0 {
			return chain
		}
		w = next[0]
	}
}
