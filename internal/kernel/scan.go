package kernel

import (
	"fmt"
	"math"
)

// A scan multiplies queries by words without storing the products: it reports
// the few words that may be near. Words are stored in panels, queries in tiles,
// both interleaved so that the loop reads memory sequentially:
//
//	panel p, axis i, word w:  words[(p·d + i)·PanelWords + w]
//	tile, axis i, query q:    queries[i·TileStride + q]
//
// ScanInt8 does the same with groups of four axes in place of one: element
// i mod 4 of group i/4. Words are bytes from 0 to 2·Levels+1, so Levels+1 is the
// zero of numbers from −Levels to Levels.
//
// A word is a hit for a query where
//
//	heads[w] ≤ product·Scale + a·Tau + b·Residual + c·Norm + d
//
// with a, b, c, d = bounds of the word's panel. That is the form of a lower
// bound on ½‖word−query‖²−½‖query‖², which package nearest fills in. Both sides
// are float32 with errors of a few units in the last place, fused or not; the
// bounds must allow for them.

// TileStride is the number of query slots in a tile; only the first TileRows
// are used.
const TileStride = 16

// Tile holds the parameters of a scan's queries other than their coordinates.
type Tile struct {
	Tau      [TileStride]float32
	Residual [TileStride]float32
	Norm     [TileStride]float32
	Scale    [TileStride]float32 // ScanInt8 only
	Bias     [TileStride]int32   // ScanInt8 only: added to the integer product
}

// Hit is the set of words of a panel that pass for one query of the tile.
type Hit struct {
	Panel uint32 // counted from the first panel of the scan
	Query uint32
	Words uint32 // bit w is word w of the panel
}

// Geometry is the data layout of one path's scans. An index built for one path
// must be scanned by that path.
type Geometry struct {
	path       path
	PanelWords int
	TileRows   int
	Levels     int // of words in ScanInt8; 0 where it has no fast implementation
}

// Levels of 8-bit words. Where no instruction adds four 8-bit products in 32
// bits, two are added in 16, and words must stay below 128: 2·127·127 < 2¹⁵.
const (
	levelsDot  = 127
	levelsPair = 63
)

// ScanGeometry returns the layout for the path in use.
func ScanGeometry() Geometry {
	switch p := active(); p {
	case pathVNNI:
		return Geometry{p, 32, 14, levelsDot}
	case pathAVX512:
		return Geometry{p, 32, 14, 0}
	case pathAVX2:
		return Geometry{p, 16, 6, levelsPair}
	case pathNEONDot:
		return Geometry{p, 8, 12, levelsDot}
	case pathNEON:
		return Geometry{p, 8, 12, 0}
	default:
		return Geometry{p, 16, 1, 0}
	}
}

// ScanFloat scans len(bounds)/4 panels of d axes; hits must have room for one
// hit per panel and query. It returns the number of hits.
func (g Geometry) ScanFloat(d int, words, heads, bounds, queries []float32, tile *Tile, hits []Hit) int {
	panels := g.checkScan(d, len(words), heads, bounds, len(queries), hits)
	if panels == 0 {
		return 0
	}
	if g.path == pathGo {
		return g.referenceScan(d, words, heads, bounds, queries, tile, hits)
	}
	return forms[g.path].scanFloat(panels, d, &words[0], &heads[0], &bounds[0], &queries[0], &tile.Tau[0],
		&hits[0].Panel) / hitBytes
}

// ScanInt8 is ScanFloat for groups of four axes, words as unsigned and queries
// as signed bytes (two's complement).
func (g Geometry) ScanInt8(groups int, words []byte, heads, bounds []float32, queries []byte, tile *Tile,
	hits []Hit) int {
	panels := g.checkScan(groups, len(words)/4, heads, bounds, len(queries)/4, hits)
	if panels == 0 {
		return 0
	}
	if g.Levels == 0 {
		return g.referenceScanInt8(groups, words, heads, bounds, queries, tile, hits)
	}
	return forms[g.path].scanInt8(panels, groups, &words[0], &heads[0], &bounds[0], &queries[0], &tile.Tau[0],
		&hits[0].Panel) / hitBytes
}

const hitBytes = 12

func (g Geometry) checkScan(depth, words int, heads, bounds []float32, queries int, hits []Hit) int {
	panels := len(bounds) / 4
	if len(bounds) != 4*panels || len(heads) != panels*g.PanelWords || depth < 1 || words != depth*len(heads) ||
		queries != depth*TileStride || len(hits) < panels*g.TileRows {
		panic(fmt.Sprintf("kernel: scan of %d panels with %d heads, %d words, %d queries, depth %d and room for %d hits",
			panels, len(heads), words, queries, depth, len(hits)))
	}
	return panels
}

// referenceScan is the specification of ScanFloat.
func (g Geometry) referenceScan(d int, words, heads, bounds, queries []float32, tile *Tile, hits []Hit) int {
	n := 0
	product := make([]float32, g.PanelWords)
	for p := range len(bounds) / 4 {
		panel := words[p*d*g.PanelWords : (p+1)*d*g.PanelWords]
		for q := range g.TileRows {
			clear(product)
			for i := range d {
				x := queries[i*TileStride+q]
				for w, y := range panel[i*g.PanelWords : (i+1)*g.PanelWords] {
					product[w] += x * y
				}
			}
			n += g.passing(hits[n:], p, q, product, 1, heads, bounds, tile)
		}
	}
	return n
}

// referenceScanInt8 is the specification of ScanInt8.
func (g Geometry) referenceScanInt8(groups int, words []byte, heads, bounds []float32, queries []byte, tile *Tile,
	hits []Hit) int {
	n := 0
	product := make([]float32, g.PanelWords)
	for p := range len(bounds) / 4 {
		for q := range g.TileRows {
			for w := range product {
				sum := tile.Bias[q]
				for i := range groups {
					for j := range 4 {
						sum += int32(words[((p*groups+i)*g.PanelWords+w)*4+j]) *
							int32(int8(queries[(i*TileStride+q)*4+j]))
					}
				}
				product[w] = float32(sum)
			}
			n += g.passing(hits[n:], p, q, product, tile.Scale[q], heads, bounds, tile)
		}
	}
	return n
}

func (g Geometry) passing(hits []Hit, panel, query int, product []float32, scale float32, heads, bounds []float32,
	tile *Tile) int {
	b := bounds[4*panel : 4*panel+4]
	slack := b[0]*tile.Tau[query] + b[3] + b[1]*tile.Residual[query] + b[2]*tile.Norm[query]
	mask := uint32(0)
	for w, h := range heads[panel*g.PanelWords : (panel+1)*g.PanelWords] {
		if product[w]*scale+slack >= h {
			mask |= 1 << w
		}
	}
	if mask == 0 {
		return 0
	}
	hits[0] = Hit{uint32(panel), uint32(query), mask}
	return 1
}

// SquaredDistance returns ‖a−b‖² accumulated in float64, in any order: its
// relative error is at most (len(a)+2)·2⁻⁵³.
func SquaredDistance(a, b []float32) float64 {
	if len(a) != len(b) {
		panic(fmt.Sprintf("kernel: distance of %d and %d numbers", len(a), len(b)))
	}
	n, sum := 0, 0.0
	if s := simd(); s.lanes > 0 && len(a) >= 8 {
		n = len(a) &^ 7
		sum = s.squaredDistance(n, &a[0], &b[0])
	}
	for i := n; i < len(a); i++ {
		x := float64(a[i]) - float64(b[i])
		sum = math.FMA(x, x, sum)
	}
	return sum
}
