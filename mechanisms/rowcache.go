package mechanisms

import "sync/atomic"

// rowMemory bounds the rows one mechanism keeps, in bytes; largeRowMemory does
// so for a mechanism with a large vocabulary, where one row may take rowBytes.
const (
	rowMemory      = 256 << 20
	largeRowMemory = 1536 << 20
	rowBytes       = 4 << 10
)

// rowLimit bounds the rows of a large vocabulary, in bytes.
func rowLimit(words int) int64 { return int64(min(max(rowMemory, words*rowBytes), largeRowMemory)) }

// rowCache keeps one row per word, until a memory limit is reached: the words
// of a text that come first are its frequent ones.
type rowCache[R any] struct {
	slots []atomic.Pointer[R] // by word
	limit int64               // bytes
	bytes atomic.Int64
}

func newRowCache[R any](words int, limit int64) *rowCache[R] {
	return &rowCache[R]{slots: make([]atomic.Pointer[R], words), limit: limit}
}

// get returns the row of a word, or nil.
func (c *rowCache[R]) get(word WordID) *R { return c.slots[word].Load() }

func (c *rowCache[R]) hasRoom() bool { return c.bytes.Load() < c.limit }

// keep stores a row of so many bytes, unless another caller stored the same row
// first.
func (c *rowCache[R]) keep(word WordID, row *R, bytes int) {
	if c.slots[word].CompareAndSwap(nil, row) {
		c.bytes.Add(int64(bytes))
	}
}
