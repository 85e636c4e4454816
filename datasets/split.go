package datasets

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
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

// split draws train, validation and test. Each class is shuffled by a separate
// stream, so a class's rows do not depend on the other classes. Each split is
// shuffled again to mix the classes.
func split(rows Rows, sizes Sizes, unbalanced, byHash bool, seed stream.Seed) ([3][]Document,
	error) {
	var out [3][]Document
	classes := len(rows.Classes)
	if classes == 0 || len(rows.Rows) == 0 {
		return out, fmt.Errorf("no documents")
	}
	switch {
	case byHash:
		return splitByHash(rows, sizes, unbalanced)
	case sizes.zero() && rows.InOrder:
		for id, r := range rows.Rows {
			s := slices.Index(splitNames, r.Split)
			out[s] = appendRows(out[s], rows, []int{id})
		}
		return out, nil
	case sizes.zero():
		out = splitWhole(rows, seed)
	case unbalanced:
		ids := seed.Derive("rows").Rand().Perm(len(rows.Rows))
		rows.spread(ids)
		need := sizes.Train + sizes.Validation + sizes.Test
		if need > len(ids) {
			return out, fmt.Errorf("%d documents, a sample of %d + %d + %d needs %d", len(ids), sizes.Train,
				sizes.Validation, sizes.Test, need)
		}
		for s, size := range sizes.all() {
			out[s] = appendRows(nil, rows, ids[:size])
			ids = ids[size:]
		}
	default:
		byClass := shuffledByClass(rows, seed, func(Row) bool { return true })
		used := make([]int, classes)
		for s, size := range sizes.all() {
			for c, ids := range byClass {
				n := size / classes
				if c < size%classes {
					n++
				}
				if used[c]+n > len(ids) {
					need := 0
					for _, z := range sizes.all() {
						need += (z + classes - 1 - c) / classes
					}
					return out, fmt.Errorf("class %q has %d documents, a balanced sample of %d + %d + %d needs %d",
						rows.Classes[c], len(ids), sizes.Train, sizes.Validation, sizes.Test, need)
				}
				out[s] = appendRows(out[s], rows, ids[used[c]:used[c]+n])
				used[c] += n
			}
		}
	}
	for s, docs := range out {
		rng := seed.Derive("order").At(uint64(s)).Rand()
		rng.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	}
	return out, nil
}

// splitWhole uses every row once. Where a source has test rows but no
// validation rows, a tenth of its train rows is used for validation.
func splitWhole(rows Rows, seed stream.Seed) (out [3][]Document) {
	hasValidation, hasTest := false, false
	for _, r := range rows.Rows {
		hasValidation = hasValidation || r.Split == "validation"
		hasTest = hasTest || r.Split == "test"
	}
	for id, r := range rows.Rows {
		switch r.Split {
		case "validation":
			out[1] = appendRows(out[1], rows, []int{id})
		case "test":
			out[2] = appendRows(out[2], rows, []int{id})
		}
	}
	free := func(r Row) bool { return r.Split != "validation" && r.Split != "test" }
	for _, ids := range shuffledByClass(rows, seed, free) {
		validation, test := 0, 0
		if !hasValidation {
			validation = len(ids) * wholeValidation / 100
		}
		if !hasTest {
			test = len(ids) * wholeTest / 100
		}
		out[1] = appendRows(out[1], rows, ids[:validation])
		out[2] = appendRows(out[2], rows, ids[validation:validation+test])
		out[0] = appendRows(out[0], rows, ids[validation+test:])
	}
	return out
}

// splitByHash assigns each row to a split by a hash of its text alone. A size
// takes the rows of the smallest hashes: of each class as many, or, where the
// sample is not balanced, of each class and private label its share.
func splitByHash(rows Rows, sizes Sizes, unbalanced bool) (out [3][]Document, err error) {
	hashes := make([]uint64, len(rows.Rows))
	var pools [3][]int
	for id, r := range rows.Rows {
		sum := sha256.Sum256([]byte("split\n" + r.Text))
		hashes[id] = binary.BigEndian.Uint64(sum[8:])
		switch part := binary.BigEndian.Uint64(sum[:]) % 100; {
		case part < wholeTest:
			pools[2] = append(pools[2], id)
		case part < wholeTest+wholeValidation:
			pools[1] = append(pools[1], id)
		default:
			pools[0] = append(pools[0], id)
		}
	}
	for s, size := range sizes.all() {
		ids := pools[s]
		slices.SortFunc(ids, func(a, b int) int { return cmp.Or(cmp.Compare(hashes[a], hashes[b]), cmp.Compare(a, b)) })
		groups, privates := [][]int{ids}, max(1, len(rows.Privates))
		switch {
		case sizes.zero():
			size = len(ids)
		case unbalanced:
			rows.spread(ids)
		default:
			groups = make([][]int, len(rows.Classes))
			for _, id := range ids {
				groups[rows.Rows[id].Label] = append(groups[rows.Rows[id].Label], id)
			}
			for _, own := range groups {
				alternate(own, privates, func(id int) int { return rows.Rows[id].Private })
			}
		}
		for c, own := range groups {
			n := (size + len(groups) - 1 - c) / len(groups)
			if n > len(own) {
				whose := "the source"
				if len(groups) > 1 {
					whose = fmt.Sprintf("class %q", rows.Classes[c])
				}
				return out, fmt.Errorf("%s has %d documents in the %s split by hash, the sample needs %d", whose, len(own),
					splitNames[s], n)
			}
			out[s] = appendRows(out[s], rows, own[:n])
		}
		slices.SortStableFunc(out[s], func(a, b Document) int { return cmp.Compare(hashes[a.ID], hashes[b.ID]) })
	}
	return out, nil
}

// shuffledByClass returns the row numbers of every class, shuffled.
func shuffledByClass(rows Rows, seed stream.Seed, keep func(Row) bool) [][]int {
	byClass := make([][]int, len(rows.Classes))
	for id, r := range rows.Rows {
		if keep(r) {
			byClass[r.Label] = append(byClass[r.Label], id)
		}
	}
	for c, ids := range byClass {
		rng := seed.Derive("class", strconv.Itoa(c)).Rand()
		rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		if rows.Privates != nil {
			alternate(ids, len(rows.Privates), func(id int) int { return rows.Rows[id].Private })
		}
	}
	return byClass
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
// private label is independent of the split.
func alternate(ids []int, groups int, of func(id int) int) {
	byGroup := make([][]int, groups)
	for _, id := range ids {
		p := of(id)
		byGroup[p] = append(byGroup[p], id)
	}
	// The i-th of n rows of a label is placed at the fraction (i + 1/2)/n.
	type place struct {
		at float64
		id int
	}
	var places []place
	for _, own := range byGroup {
		for i, id := range own {
			places = append(places, place{(float64(i) + 0.5) / float64(len(own)), id})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	for i, p := range places {
		ids[i] = p.id
	}
}

func appendRows(dst []Document, rows Rows, ids []int) []Document {
	for _, id := range ids {
		r := rows.Rows[id]
		dst = append(dst, Document{ID: id, Text: r.Text, Label: r.Label, Private: r.Private, User: r.User})
	}
	return dst
}
