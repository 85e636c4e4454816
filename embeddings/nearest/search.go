package nearest

import (
	"math"
	"math/bits"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
)

// batch is the number of queries searched together: a block of words is read
// from memory once for all of them.
const batch = 2048

// blockBytes is the size of the part of the words that all tiles scan before
// the next part: half of a typical second-level cache.
const blockBytes = 256 << 10

// candidate is a word that could not be ruled out and its squared distance in
// float64, correct up to its last bits.
type candidate struct {
	squared float64
	id      embeddings.WordID
}

// best is the state of one query.
type best struct {
	candidates []candidate // all words whose squared distance was at most the limit when they were measured
	limit      float64     // no word farther than this (squared) can be among the k nearest
	nearest    []float64   // the k smallest squared distances so far, ascending
	norm       float64     // ‖q'‖², see packed
	excluded   embeddings.WordID
	plain      bool // to be answered by the reference: too large for float32, or for sums of 32 bits
}

// scratch is the working memory of one goroutine for one batch.
type scratch struct {
	tiles    []kernel.Tile
	bytes    []byte // tiles × groups of four axes × TileStride × 4
	best     []best
	nearest  []float64
	hits     []kernel.Hit
	centered []float64
}

// search answers queries a batch at a time, with the scratch space of one goroutine.
func (x *Index) search(dst []Neighbor, queries []float32, k int, excluded []embeddings.WordID) {
	if len(dst) == 0 {
		return
	}
	d := x.space.Dimension
	n := len(dst) / k
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	for from := 0; from < n; from += batch {
		to := min(n, from+batch)
		var without []embeddings.WordID
		if excluded != nil {
			without = excluded[from:to]
		}
		x.searchBatch(s, dst[from*k:to*k], queries[from*d:to*d], k, without)
	}
}

// searchBatch rules out words for all queries of a batch, and settles what is left.
func (x *Index) searchBatch(s *scratch, dst []Neighbor, queries []float32, k int, excluded []embeddings.WordID) {
	n := len(dst) / k
	s.begin(n, k, excluded)
	if x.spared.Add(-int64(n)) >= 0 {
		x.measureAll(s, queries)
	} else {
		x.scan(s, x.panels(), queries, k)
	}
	x.settle(s, dst, queries, k, excluded)
}

// begin forgets the queries before n others.
func (s *scratch) begin(n, k int, excluded []embeddings.WordID) {
	s.best = slices.Grow(s.best[:0], n)[:n]
	s.nearest = slices.Grow(s.nearest[:0], n*k)[:n*k]
	for i := range s.nearest {
		s.nearest[i] = math.Inf(1)
	}
	for q := range s.best {
		b := &s.best[q]
		*b = best{
			candidates: b.candidates[:0],
			limit:      math.Inf(1),
			nearest:    s.nearest[q*k : q*k+k],
			excluded:   embeddings.Unknown,
		}
		if excluded != nil {
			b.excluded = excluded[q]
		}
	}
}

// measureAll measures all words, some at a time for all queries, as they lie in memory.
func (x *Index) measureAll(s *scratch, queries []float32) {
	d := x.space.Dimension
	for q := range s.best {
		b := &s.best[q]
		b.plain = !finite(queries[q*d : q*d+d])
	}
	words := embeddings.WordID(x.space.Len())
	together := embeddings.WordID(max(1, blockBytes/(4*d)))
	for from := embeddings.WordID(0); from < words; from += together {
		to := min(words, from+together)
		for q := range s.best {
			for id := from; id < to; id++ {
				x.measure(&s.best[q], queries[q*d:q*d+d], id)
			}
		}
	}
}

func finite(v []float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool {
		return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0)
	})
}

// scan lets the panels rule out words, block by block.
func (x *Index) scan(s *scratch, p *packed, queries []float32, k int) {
	d := x.space.Dimension
	rows := p.geometry.TileRows
	n := len(s.best)
	s.prepare(p, queries)

	// A few words measured at once give every query a first limit. The scan
	// visits them again, so only the limit is kept.
	seeds := min(len(p.ids), 4*k)
	for q := range n {
		b := &s.best[q]
		for i := range seeds {
			x.measure(b, queries[q*d:q*d+d], p.ids[i*len(p.ids)/seeds])
		}
		b.candidates = b.candidates[:0]
		for i := range b.nearest {
			b.nearest[i] = math.Inf(1)
		}
	}

	panels := len(p.bounds) / 4
	largest := max(1, blockBytes/p.panelBytes())
	if need := largest * rows; len(s.hits) < need {
		s.hits = make([]kernel.Hit, need)
	}
	// Block sizes double, so limits are already tight for the large blocks.
	from := 0
	size := 1
	for from < panels {
		to := min(panels, from+size)
		for t := range s.tiles {
			x.scanTile(s, p, queries, t, from, to)
		}
		size = min(to, largest)
		from = to
	}
}

// prepare centres, scales, quantises and interleaves the queries.
func (s *scratch) prepare(p *packed, queries []float32) {
	d := len(p.center)
	n := len(s.best)
	tiles := (n + p.geometry.TileRows - 1) / p.geometry.TileRows
	size := tiles * p.tileBytes()
	s.tiles = slices.Grow(s.tiles[:0], tiles)[:tiles]
	s.bytes = slices.Grow(s.bytes[:0], size)[:size]
	clear(s.bytes)
	s.centered = slices.Grow(s.centered[:0], d)[:d]
	for t := range s.tiles {
		s.tiles[t] = kernel.Tile{}
		for r := range s.tiles[t].Tau {
			s.tiles[t].Tau[r] = float32(math.Inf(-1)) // nothing passes for an empty row
		}
	}
	for q := range n {
		s.quantise(p, q, queries[q*d:q*d+d])
	}
}

// tileBytes is the size of a tile of queries of 8 bits.
func (p *packed) tileBytes() int { return 4 * p.groups * kernel.TileStride }

// quantise puts query q into its tile.
func (s *scratch) quantise(p *packed, q int, query []float32) {
	b := &s.best[q]
	largest := center(s.centered, query, p)
	b.norm = squares(s.centered)
	if !(b.norm < 0x1p60) || len(query) > mostAxes {
		b.plain = true
		return
	}
	t := q / p.geometry.TileRows
	r := q % p.geometry.TileRows
	tile := &s.tiles[t]
	tile.Norm[r] = up(math.Sqrt(b.norm))
	scale := max(largest/127, 0x1p-60)
	tile.Scale[r] = float32(scale)
	scale = float64(tile.Scale[r]) // the scan must use exactly the scale that made the bytes
	inverse := 1 / scale
	residual := 0.0
	sum := int32(0)
	to := s.bytes[t*p.tileBytes()+4*r : (t+1)*p.tileBytes()]
	for i, y := range s.centered {
		// Adding toInteger rounds to an integer, in [−127, 127] by the
		// choice of the scale, and stores it in the low bits.
		shifted := y*inverse + toInteger
		a := int8(math.Float64bits(shifted))
		e := y - scale*float64(a)
		residual += e * e
		sum += int32(a)
		to[i>>2*4*kernel.TileStride+i&3] = byte(a)
	}
	tile.Residual[r] = up(math.Sqrt(residual))
	tile.Bias[r] = -int32(p.geometry.Levels+1) * sum
}

// toInteger is 1.5·2⁵²: float64 numbers near it are the integers.
const toInteger = 0x1.8p52

// center writes the scaled difference of a query from the centre, and returns
// its largest component.
func center(dst []float64, query []float32, p *packed) float64 {
	scale := ldexp(1, -p.exponent)
	largest := 0.0
	mean := p.center[:len(query)]
	dst = dst[:len(query)]
	for i, v := range query {
		y := (float64(v) - mean[i]) * scale
		dst[i] = y
		// Not max and Abs, which are slow because they handle NaN.
		if y > largest {
			largest = y
		} else if -y > largest {
			largest = -y
		}
	}
	return largest
}

// squares returns ‖v‖² by four independent sums, which run in parallel.
func squares(v []float64) float64 {
	var s [4]float64
	for ; len(v) >= 4; v = v[4:] {
		s[0] += v[0] * v[0]
		s[1] += v[1] * v[1]
		s[2] += v[2] * v[2]
		s[3] += v[3] * v[3]
	}
	for _, y := range v {
		s[0] += y * y
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// scanTile scans panels from..to for the queries of one tile and measures the
// words that pass.
func (x *Index) scanTile(s *scratch, p *packed, queries []float32, t, from, to int) {
	d := x.space.Dimension
	rows := p.geometry.TileRows
	width := p.geometry.PanelWords
	tile := &s.tiles[t]
	first := t * rows
	for r := range min(rows, len(s.best)-first) {
		if b := &s.best[first+r]; !b.plain {
			tile.Tau[r] = tau(b.limit, b.norm, p.exponent)
		}
	}
	panelSize := p.panelBytes()
	words := kernel.Words{
		Groups: p.groups,
		Bytes:  p.bytes[from*panelSize : to*panelSize],
		Heads:  p.heads[from*width : to*width],
		Bounds: p.bounds[4*from : 4*to],
	}
	count := p.geometry.Scan(words, s.bytes[t*p.tileBytes():(t+1)*p.tileBytes()], tile, s.hits)
	for _, h := range s.hits[:count] {
		q := first + int(h.Query)
		place := (from + int(h.Panel)) * width
		for words := h.Words; words != 0; words &= words - 1 {
			x.measure(&s.best[q], queries[q*d:q*d+d], p.ids[place+bits.TrailingZeros32(words)])
		}
	}
}

// tau is the limit on the squared distance as a limit on s (see packed), with
// an allowance for float32 errors.
func tau(limit, norm float64, exponent int) float32 {
	t := (ldexp(ldexp(limit, -exponent), -exponent) - norm) / 2
	return up(t + rounding*math.Abs(t))
}

// measure adds the word to the candidates of a query unless it is too far away.
func (x *Index) measure(b *best, query []float32, id embeddings.WordID) {
	if id == b.excluded || id == embeddings.Unknown || b.plain {
		return
	}
	squared := kernel.SquaredDistance(query, x.space.Vector(id))
	if squared > b.limit {
		return
	}
	b.candidates = append(b.candidates, candidate{squared, id})
	k := len(b.nearest)
	if squared >= b.nearest[k-1] {
		return
	}
	i := k - 1
	for ; i > 0 && squared < b.nearest[i-1]; i-- {
		b.nearest[i] = b.nearest[i-1]
	}
	b.nearest[i] = squared
	// Two float64 sums of the same terms differ by less than this factor, so a
	// word beyond it is also farther than k others by the reference sum.
	b.limit = min(b.limit, b.nearest[k-1]*(1+float64(8*len(query)+64)*0x1p-53))
}

// settle orders the candidates by (embeddings.Euclidean, id).
func (x *Index) settle(s *scratch, dst []Neighbor, queries []float32, k int, excluded []embeddings.WordID) {
	d := x.space.Dimension
	for q := range s.best {
		b := &s.best[q]
		row := dst[q*k : q*k+k]
		query := queries[q*d : q*d+d]
		if b.plain {
			var without []embeddings.WordID
			if excluded != nil {
				without = excluded[q : q+1]
			}
			x.reference(row, query, k, without)
			continue
		}
		kept := b.candidates[:0]
		for _, c := range b.candidates {
			if c.squared <= b.limit {
				kept = append(kept, c)
			}
		}
		// In ascending order of ids, the smaller wins a tie.
		slices.SortFunc(kept, func(a, b candidate) int { return int(a.id) - int(b.id) })
		for i := range row {
			row[i] = Neighbor{embeddings.Unknown, math.Inf(1)}
		}
		for _, c := range kept {
			insert(row, Neighbor{c.id, embeddings.Euclidean(query, x.space.Vector(c.id))})
		}
	}
}

// insert keeps in row the nearest of the inserted neighbours, ascending by
// distance; among equals the first stays first.
func insert(row []Neighbor, n Neighbor) {
	i := len(row) - 1
	if n.Distance >= row[i].Distance {
		return
	}
	for ; i > 0 && n.Distance < row[i-1].Distance; i-- {
		row[i] = row[i-1]
	}
	row[i] = n
}
