package tokenizer

import (
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// bpe is byte-level byte-pair encoding (Sennrich et al. 2016; Radford et al.
// 2019): of all neighbours that the table joins, the earliest entry first.
type bpe struct {
	vocab   map[string]int
	ranks   map[[2]string]int
	whole   bool // a part that is a piece is not taken apart
	unknown int  // −1 without
}

func (t *Tokenizer) newBPE(f *file) error {
	vocab, err := t.vocabulary(f.Model.Vocab)
	if err != nil {
		return err
	}
	if !t.byteLevel {
		return errors.New("a BPE model needs the ByteLevel pre-tokenizer")
	}
	if f.Model.Prefix != "" || f.Model.Suffix != "" || f.Model.ByteFallback {
		return errors.New("a BPE model with continuing_subword_prefix, end_of_word_suffix or byte_fallback is not " +
			"supported")
	}
	b := &bpe{vocab: vocab, ranks: map[[2]string]int{}, whole: f.Model.IgnoreMerges, unknown: -1}
	if id, ok := vocab[f.Model.UnkToken]; ok {
		b.unknown = id
	}
	var merges []json.RawMessage
	if err := json.Unmarshal(f.Model.Merges, &merges); err != nil {
		return fmt.Errorf("merges: %w", err)
	}
	for i, raw := range merges {
		var pair [2]string
		var line string
		if json.Unmarshal(raw, &line) == nil {
			var ok bool
			if pair[0], pair[1], ok = strings.Cut(line, " "); !ok {
				return fmt.Errorf("merge %d: %q: must be two pieces", i, line)
			}
		} else if err := json.Unmarshal(raw, &pair); err != nil {
			return fmt.Errorf("merge %d: %w", i, err)
		}
		if _, ok := b.ranks[pair]; !ok {
			b.ranks[pair] = i
		}
	}
	t.model = b
	return nil
}

// symbol is a piece of a part under way, in a list of neighbours.
type symbol struct {
	text       string
	prev, next int
}

// join is a possible join of a symbol with the next one, as they were.
type join struct {
	rank, at    int
	left, right string
}

type joins []join

func (j joins) Len() int { return len(j) }
func (j joins) Less(a, b int) bool {
	return j[a].rank < j[b].rank || j[a].rank == j[b].rank && j[a].at < j[b].at
}
func (j joins) Swap(a, b int) { j[a], j[b] = j[b], j[a] }
func (j *joins) Push(x any)   { *j = append(*j, x.(join)) }
func (j *joins) Pop() any {
	last := len(*j) - 1
	x := (*j)[last]
	*j = (*j)[:last]
	return x
}

func (b *bpe) ids(part string) []int {
	if id, ok := b.vocab[part]; ok && b.whole {
		return []int{id}
	}
	var symbols []symbol
	for _, r := range part {
		symbols = append(symbols, symbol{string(r), len(symbols) - 1, len(symbols) + 1})
	}
	var queue joins
	offer := func(at int) {
		if at < 0 || symbols[at].next >= len(symbols) {
			return
		}
		left, right := symbols[at].text, symbols[symbols[at].next].text
		if rank, ok := b.ranks[[2]string{left, right}]; ok {
			heap.Push(&queue, join{rank, at, left, right})
		}
	}
	for at := range symbols {
		offer(at)
	}
	for queue.Len() > 0 {
		j := heap.Pop(&queue).(join)
		s := &symbols[j.at]
		if s.text != j.left || s.next >= len(symbols) || symbols[s.next].text != j.right {
			continue // one of the two was joined with another meanwhile
		}
		gone := &symbols[s.next]
		s.text, s.next = j.left+j.right, gone.next
		gone.text = ""
		if s.next < len(symbols) {
			symbols[s.next].prev = j.at
		}
		offer(s.prev)
		offer(j.at)
	}
	var ids []int
	for at := 0; at < len(symbols); at = symbols[at].next {
		if id, ok := b.vocab[symbols[at].text]; ok {
			ids = append(ids, id)
		} else if b.unknown >= 0 {
			ids = append(ids, b.unknown)
		}
	}
	return ids
}
