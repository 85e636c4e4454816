package datasets

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"mldpbench/stream"
)

// wholeShares are the percentages of validation and test where a source without
// its own splits is used whole; the rest is train.
const (
	wholeValidation = 10
	wholeTest       = 20
)

// split draws train, validation and test as a request says. Each class is shuffled by
// a separate stream, so a class's rows do not depend on the other classes. Each split
// is shuffled again to mix the classes.
func split(rows Rows, q Request) (out [3][]Document, err error) {
	if err := rows.check(); err != nil {
		return out, err
	}
	drawn, err := rows.draw(q)
	if err != nil {
		return out, err
	}
	inOrder := q.ByHash || q.Sizes.zero() && rows.InOrder
	for s, ids := range drawn {
		if !inOrder {
			rng := q.Seed.Derive("order").At(uint64(s)).Rand()
			rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		}
		for _, id := range ids {
			r := rows.Rows[id]
			out[s] = append(out[s], Document{
				ID:      id,
				Text:    r.Text,
				Second:  r.Second,
				Label:   r.Label,
				Private: r.Private,
				User:    r.User,
			})
		}
	}
	return out, nil
}

// check returns an error where there are no rows, or one has a label that is no class.
func (rows Rows) check() error {
	if len(rows.Classes) == 0 || len(rows.Rows) == 0 {
		return errors.New("no documents")
	}
	privates := max(1, len(rows.Privates))
	for id, r := range rows.Rows {
		if r.Label < 0 || r.Label >= len(rows.Classes) {
			return fmt.Errorf("row %d: label %d: must be in [0, %d)", id+1, r.Label, len(rows.Classes))
		}
		if r.Private < 0 || r.Private >= privates {
			return fmt.Errorf("row %d: private label %d: must be in [0, %d)", id+1, r.Private, len(rows.Privates))
		}
	}
	return nil
}

// whole is the text of a row; of a pair, both with a line feed between.
func (r Row) whole() string {
	if r.Second == "" {
		return r.Text
	}
	return r.Text + "\n" + r.Second
}

// draw returns the rows of each split.
func (rows Rows) draw(q Request) ([3][]int, error) {
	all := make([]int, len(rows.Rows))
	for id := range all {
		all[id] = id
	}
	switch {
	case q.ByHash:
		return rows.byHash(q)
	case q.Sizes.zero() && rows.InOrder:
		return rows.bySplit(), nil
	case q.Sizes.zero():
		return rows.whole(q.Seed), nil
	case q.Unbalanced:
		q.Seed.Derive("rows").Rand().Shuffle(len(all), func(i, j int) {
			all[i], all[j] = all[j], all[i]
		})
		rows.spread(all)
		return rows.deal([][]int{all}, q.Sizes.all())
	default:
		return rows.deal(rows.byClass(all, &q.Seed), q.Sizes.all())
	}
}

// bySplit are the rows of each split as the source says; one that is in none is a
// train row.
func (rows Rows) bySplit() (out [3][]int) {
	for id, r := range rows.Rows {
		s := max(0, slices.Index(splitNames, r.Split))
		out[s] = append(out[s], id)
	}
	return out
}

// deal gives each split its size, of each group as many rows: of each class, or of
// the one group of all.
func (rows Rows) deal(groups [][]int, sizes [3]int) (out [3][]int, err error) {
	for g, ids := range groups {
		need := 0
		for s, size := range sizes {
			n := (size + len(groups) - 1 - g) / len(groups)
			need += n
			if need <= len(ids) {
				out[s] = append(out[s], ids[need-n:need]...)
			}
		}
		if need > len(ids) {
			whose := "the source"
			if len(groups) > 1 {
				whose = fmt.Sprintf("class %q", rows.Classes[g])
			}
			return out, fmt.Errorf("%s has %d documents, a sample of %d + %d + %d needs %d", whose, len(ids), sizes[0],
				sizes[1], sizes[2], need)
		}
	}
	return out, nil
}

// whole uses every row once. Where a source has test rows but no validation rows,
// a tenth of its train rows is used for validation.
func (rows Rows) whole(seed stream.Seed) [3][]int {
	out := rows.bySplit()
	free := out[0]
	percent := [3]int{0, wholeValidation, wholeTest}
	for s := range out {
		if len(out[s]) > 0 {
			percent[s] = 0
		}
	}
	out[0] = nil
	for _, ids := range rows.byClass(free, &seed) {
		validation := len(ids) * percent[1] / 100
		test := validation + len(ids)*percent[2]/100
		out[1] = append(out[1], ids[:validation]...)
		out[2] = append(out[2], ids[validation:test]...)
		out[0] = append(out[0], ids[test:]...)
	}
	return out
}

// byHash assigns each row to a split by a hash of its text alone. A size takes the
// rows of the smallest hashes: of each class as many, or, where the sample is not
// balanced, of each class and private label its share.
func (rows Rows) byHash(q Request) (pools [3][]int, err error) {
	hashes := make([]uint64, len(rows.Rows))
	for id, r := range rows.Rows {
		sum := sha256.Sum256([]byte("split\n" + r.whole()))
		hashes[id] = binary.BigEndian.Uint64(sum[8:])
		part := binary.BigEndian.Uint64(sum[:]) % 100
		switch {
		case part < wholeTest:
			pools[2] = append(pools[2], id)
		case part < wholeTest+wholeValidation:
			pools[1] = append(pools[1], id)
		default:
			pools[0] = append(pools[0], id)
		}
	}
	byHash := func(a, b int) int { return cmp.Compare(hashes[a], hashes[b]) }
	for s, size := range q.Sizes.all() {
		slices.SortStableFunc(pools[s], byHash)
		if q.Sizes.zero() {
			continue
		}
		var only [3]int
		only[s] = size
		groups := [][]int{pools[s]}
		if q.Unbalanced {
			rows.spread(pools[s])
		} else {
			groups = rows.byClass(pools[s], nil)
		}
		dealt, err := rows.deal(groups, only)
		if err != nil {
			return pools, fmt.Errorf("%s split by hash: %w", splitNames[s], err)
		}
		pools[s] = dealt[s]
		slices.SortStableFunc(pools[s], byHash)
	}
	return pools, nil
}

// byClass returns the rows of every class, shuffled if there is a seed, with
// private labels spread evenly.
func (rows Rows) byClass(ids []int, seed *stream.Seed) [][]int {
	out := make([][]int, len(rows.Classes))
	for _, id := range ids {
		c := rows.Rows[id].Label
		out[c] = append(out[c], id)
	}
	for c, own := range out {
		if seed != nil {
			rng := seed.Derive("class", strconv.Itoa(c)).Rand()
			rng.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
		}
		alternate(own, len(rows.Privates), func(id int) int { return rows.Rows[id].Private })
	}
	return out
}

// spread spreads classes, and private labels in them, evenly over shuffled rows.
func (rows Rows) spread(ids []int) {
	privates := max(1, len(rows.Privates))
	alternate(ids, len(rows.Classes)*privates, func(id int) int {
		return rows.Rows[id].Label*privates + rows.Rows[id].Private
	})
}

// alternate reorders shuffled rows so that groups, numbered from 0, are spread
// evenly: any part of ids then has the same shares of them as the whole, and a
// private label is independent of the split. The i-th of n rows of a group is
// placed at the fraction (i + 1/2)/n.
func alternate(ids []int, groups int, of func(id int) int) {
	if groups < 2 {
		return
	}
	total := make([]int, groups)
	before := make([]int, groups)
	at := make(map[int]float64, len(ids))
	for _, id := range ids {
		total[of(id)]++
	}
	for _, id := range ids {
		g := of(id)
		at[id] = (float64(before[g]) + 0.5) / float64(total[g])
		before[g]++
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		if at[a] != at[b] {
			return cmp.Compare(at[a], at[b])
		}
		return cmp.Compare(of(a), of(b))
	})
}
