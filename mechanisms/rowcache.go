package mechanisms

import (
	"sync"
	"sync/atomic"
)

// rowMemory bounds the alias tables one selector keeps, in bytes.
const rowMemory = 256 << 20

// rowCache keeps one table per word within rowMemory. Reading takes no lock.
// What makes room is a table not read since the hand of the clock last passed
// it (Corbató's second chance).
type rowCache struct {
	slots []atomic.Pointer[cachedRow] // by word

	mu    sync.Mutex
	bytes int
	ring  []WordID // words with a table
	hand  int      // position in ring
}

type cachedRow struct {
	aliasTable
	used atomic.Bool
}

// get returns the table of a word, or nil.
func (c *rowCache) get(word WordID) *aliasTable {
	row := c.slots[word].Load()
	if row == nil {
		return nil
	}
	if !row.used.Load() { // no write where readers would contend for it
		row.used.Store(true)
	}
	return &row.aliasTable
}

func (c *rowCache) hasRoom() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes < rowMemory
}

// offer keeps a table, unless another caller was first: both are the same.
func (c *rowCache) offer(word WordID, row *cachedRow) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots[word].Load() != nil {
		return
	}
	for len(c.ring) > 0 && c.bytes+row.bytes() > rowMemory {
		c.hand %= len(c.ring)
		old := c.slots[c.ring[c.hand]].Load()
		if old.used.Swap(false) {
			c.hand++
			continue
		}
		c.slots[c.ring[c.hand]].Store(nil)
		c.bytes -= old.bytes()
		last := len(c.ring) - 1
		c.ring[c.hand] = c.ring[last]
		c.ring = c.ring[:last]
	}
	c.slots[word].Store(row)
	c.bytes += row.bytes()
	c.ring = append(c.ring, word)
}
