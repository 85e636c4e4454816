package mechanisms

import (
	"sync"
	"sync/atomic"
)

// rowMemory bounds the rows one mechanism keeps, in bytes; largeRowMemory does
// so for a mechanism with a large vocabulary, where one row may take rowBytes.
const (
	rowMemory      = 256 << 20
	largeRowMemory = 1536 << 20
	rowBytes       = 4 << 10
)

// rowLimit bounds the rows of a large vocabulary, in bytes.
func rowLimit(words int) int { return min(max(rowMemory, words*rowBytes), largeRowMemory) }

// rowCache keeps one row per word within a memory limit. Reading takes no lock.
// The row that is dropped is one not read since the clock hand last passed it
// (Corbató's second chance).
type rowCache[R any] struct {
	slots []atomic.Pointer[cachedRow[R]] // by word
	limit int                            // bytes

	mu    sync.Mutex
	bytes int
	ring  []WordID // words with a row
	hand  int      // position in ring
}

type cachedRow[R any] struct {
	row   R
	bytes int
	used  atomic.Bool
}

func newRowCache[R any](words, limit int) *rowCache[R] {
	return &rowCache[R]{slots: make([]atomic.Pointer[cachedRow[R]], words), limit: limit}
}

// get returns the row of a word, or nil.
func (c *rowCache[R]) get(word WordID) *R {
	row := c.slots[word].Load()
	if row == nil {
		return nil
	}
	if !row.used.Load() { // avoid a write that readers would contend for
		row.used.Store(true)
	}
	return &row.row
}

func (c *rowCache[R]) hasRoom() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes < c.limit
}

// offer stores a row, whose bytes are set, unless another caller stored the
// same row first.
func (c *rowCache[R]) offer(word WordID, row *cachedRow[R]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots[word].Load() != nil {
		return
	}
	for len(c.ring) > 0 && c.bytes+row.bytes > c.limit {
		c.hand %= len(c.ring)
		old := c.slots[c.ring[c.hand]].Load()
		if old.used.Swap(false) {
			c.hand++
			continue
		}
		c.slots[c.ring[c.hand]].Store(nil)
		c.bytes -= old.bytes
		last := len(c.ring) - 1
		c.ring[c.hand] = c.ring[last]
		c.ring = c.ring[:last]
	}
	c.slots[word].Store(row)
	c.bytes += row.bytes
	c.ring = append(c.ring, word)
}
