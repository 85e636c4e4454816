package embeddings

import (
	"math/bits"
	"sync"

	"github.com/cespare/xxhash/v2"

	"mldpbench/internal/mapped"
)

// wordTable finds distinct words by their text. It holds no pointers but three, and can be mapped.
type wordTable struct {
	text []byte   // all words, one after the other
	ends []uint64 // of each word in text, by id
	// slots is a table with open addressing, at most half full, of a power of two: a word is in
	// the slot of its xxHash64, or in the next ones up to an empty one.
	slots []uint32 // id + 1; 0: empty
}

// slotsFor is the size of the table of n words.
func slotsFor(n int) int { return 2 << bits.Len(uint(max(1, n)-1)) }

func (t *wordTable) word(id WordID) string {
	start := uint64(0)
	if id > 0 {
		start = t.ends[id-1]
	}
	return mapped.String(t.text[start:t.ends[id]])
}

// slot is the slot of a word, or the empty one that it would have.
func (t *wordTable) slot(word string) uint64 {
	mask := uint64(len(t.slots) - 1)
	at := xxhash.Sum64String(word) & mask
	for t.slots[at] != 0 && t.word(WordID(t.slots[at]-1)) != word {
		at = (at + 1) & mask
	}
	return at
}

// id returns the id of a word, or Unknown.
func (t *wordTable) id(word string) WordID { return WordID(t.slots[t.slot(word)]) - 1 }

// add gives a word the next id, unless it is there: then it returns the id that it has.
func (t *wordTable) add(word string) (has WordID, added bool) {
	n := len(t.ends)
	if slotsFor(n+1) > len(t.slots) {
		t.grow(slotsFor(n + 1))
	}
	at := t.slot(word)
	if t.slots[at] != 0 {
		return WordID(t.slots[at] - 1), false
	}
	t.text = append(t.text, word...)
	t.ends = append(t.ends, uint64(len(t.text)))
	t.slots[at] = uint32(n + 1)
	return WordID(n), true
}

// grow finds the words new slots.
func (t *wordTable) grow(slots int) {
	t.slots = make([]uint32, slots)
	mask := uint64(slots - 1)
	for id := range t.ends {
		at := xxhash.Sum64String(t.word(WordID(id))) & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = uint32(id + 1)
	}
}

// mappedWords are the words of a vocabulary that lie in a file of package mapped.
type mappedWords struct {
	wordTable
	all func() []string
}

// newMappedWords reports false if the parts do not fit together.
func newMappedWords(t wordTable) (m *mappedWords, ok bool) {
	n := len(t.ends)
	if n == 0 || t.ends[n-1] != uint64(len(t.text)) || len(t.slots) != slotsFor(n) {
		return nil, false
	}
	m = &mappedWords{wordTable: t}
	m.all = sync.OnceValue(m.list)
	return m, true
}

// list returns all words.
func (m *mappedWords) list() []string {
	words := make([]string, len(m.ends))
	for id := range words {
		words[id] = m.word(WordID(id))
	}
	return words
}
