package mechanisms

import (
	"cmp"
	"slices"
)

// windowWords is the number of content words of a window, windowsRead that of windows
// whose sets are looked at, setWords that of words of a set at most.
const (
	windowWords = 16
	windowsRead = 4
	setWords    = 3
)

// windows are those of a corpus.
type windows struct {
	words     [][]WordID // of each window, different ones, ascending
	of        [][]int32  // by word: the windows that have it, ascending
	relatives func(w WordID) []WordID
}

// newWindows cuts the documents of a corpus into windows of content words.
func newWindows(env Environment) *windows {
	v := env.Space.Vocabulary
	w := &windows{of: make([][]int32, v.Len())}
	w.relatives = func(word WordID) (all []WordID) {
		for _, lemma := range env.Thesaurus.Lemmas(v.Word(word)) {
			all = append(all, v.ID(lemma))
		}
		return all
	}
	for _, document := range env.Documents {
		var content []WordID
		for _, id := range v.Encode(nil, document) {
			if id >= 0 && env.Thesaurus.Covers(v.Word(id)) {
				content = append(content, id)
			}
		}
		for window := range slices.Chunk(content, windowWords) {
			different := slices.Compact(slices.Sorted(slices.Values(window)))
			for _, id := range different {
				w.of[id] = append(w.of[id], int32(len(w.words)))
			}
			w.words = append(w.words, different)
		}
	}
	return w
}

// scrambled is a candidate.
type scrambled struct {
	set    []WordID
	at     []int32 // the df(w) windows that have it
	shared int     // df(w,q) of them have a word of the query
}

// scramble returns the words of the k best sets.
func (m versatile) scramble(query []WordID) (out []WordID) {
	denied := map[WordID]bool{}
	hits := make([]int32, len(m.words)) // words of the query by window
	for _, w := range slices.Compact(slices.Sorted(slices.Values(query))) {
		denied[w] = true
		for _, r := range m.relatives(w) {
			denied[r] = true
		}
		for _, i := range m.of[w] {
			hits[i]++
		}
	}
	var all []scrambled
	for _, others := range m.nearest(hits, denied) {
		all = m.sets(all, hits, others, scrambled{})
	}
	slices.SortFunc(all, better)
	all = slices.CompactFunc(all, func(a, b scrambled) bool { return slices.Equal(a.set, b.set) })
	for _, c := range all[:min(m.k, len(all))] {
		out = append(out, c.set...)
	}
	return out
}

// nearest returns the words not denied of the windows with most words of the query; the text's own have none.
func (m versatile) nearest(hits []int32, denied map[WordID]bool) (free [][]WordID) {
	if len(hits) == 0 {
		return nil
	}
	for most := slices.Max(hits); most > 0; most-- {
		for i, n := range hits {
			if n != most {
				continue
			}
			words := slices.DeleteFunc(slices.Clone(m.words[i]), func(w WordID) bool { return denied[w] })
			if len(words) == 0 {
				continue
			}
			free = append(free, words)
			if len(free) == windowsRead {
				return free
			}
		}
	}
	return free
}

// better orders candidates by mutual information, those of more windows first among equals.
func better(a, b scrambled) int {
	if c := cmp.Compare(b.shared*len(a.at), a.shared*len(b.at)); c != 0 {
		return c
	}
	if c := cmp.Compare(b.shared, a.shared); c != 0 {
		return c
	}
	return slices.Compare(a.set, b.set)
}

// sets adds the sets that a set and at most three words in all of others give.
func (m versatile) sets(all []scrambled, hits []int32, others []WordID, from scrambled) []scrambled {
	for i, w := range others {
		next := scrambled{set: append(slices.Clone(from.set), w), at: m.of[w]}
		if len(from.set) > 0 {
			next.at = common(from.at, m.of[w])
		}
		for _, x := range next.at {
			if hits[x] > 0 {
				next.shared++
			}
		}
		all = append(all, next)
		if len(next.set) < setWords {
			all = m.sets(all, hits, others[i+1:], next)
		}
	}
	return all
}

// common are the numbers that two ascending lists have.
func common(a, b []int32) (both []int32) {
	if len(a) > len(b) {
		return common(b, a)
	}
	for _, x := range a {
		at, found := slices.BinarySearch(b, x)
		if found {
			both = append(both, x)
		}
		b = b[at:]
	}
	return both
}
