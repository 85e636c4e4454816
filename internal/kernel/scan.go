package kernel

import "fmt"

// A scan multiplies queries by words without storing the products: it reports
// the few words that may be near. The numbers of both are 8-bit, in groups of
// four axes. Words are stored in panels, queries in tiles, both interleaved so
// that the loop reads memory sequentially:
//
//	panel p, group i, word w:  words[((p·groups + i)·PanelWords + w)·4 + axis mod 4]
//	tile, group i, query q:    queries[(i·TileStride + q)·4 + axis mod 4]
//
// Words are bytes from 0 to 2·Levels+1, so Levels+1 is the zero of numbers from
// −Levels to Levels; queries are signed.
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

// Words holds the panels of words of a scan, as many as there are sets of four bounds.
type Words struct {
	Groups int       // of four axes
	Bytes  []byte    // 4·Groups of each word
	Heads  []float32 // one of each word
	Bounds []float32 // four of each panel
}

// Tile holds the parameters of a scan's queries other than their coordinates.
type Tile struct {
	Tau      [TileStride]float32
	Residual [TileStride]float32
	Norm     [TileStride]float32
	Scale    [TileStride]float32
	Bias     [TileStride]int32 // added to the integer product
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
	Levels     int // of words
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
	case pathAVX512:
		return Geometry{p, 32, 14, levelsDot}
	case pathAVX2:
		return Geometry{p, 16, 6, levelsPair}
	case pathNEON:
		return Geometry{p, 8, 12, levelsDot}
	default:
		return Geometry{p, 16, 1, levelsDot}
	}
}

// Scan scans all panels of words; hits must have room for one hit per panel and
// query. It returns the number of hits.
func (g Geometry) Scan(words Words, queries []byte, tile *Tile, hits []Hit) int {
	panels := len(words.Bounds) / 4
	rightWords := words.Groups >= 1 &&
		len(words.Bounds) == 4*panels &&
		len(words.Heads) == panels*g.PanelWords &&
		len(words.Bytes) == 4*words.Groups*len(words.Heads)
	rightQueries := len(queries) == 4*words.Groups*TileStride
	if !rightWords || !rightQueries || len(hits) < panels*g.TileRows {
		panic(fmt.Sprintf("kernel: scan of %d panels with %d heads, %d bytes of words and %d of queries, %d groups "+
			"and room for %d hits", panels, len(words.Heads), len(words.Bytes), len(queries), words.Groups, len(hits)))
	}
	scan := forms[g.path].scan
	if scan == nil || panels == 0 {
		return g.referenceScan(words, queries, tile, hits)
	}
	written := scan(panels, words.Groups, &words.Bytes[0], &words.Heads[0], &words.Bounds[0], &queries[0],
		&tile.Tau[0], &hits[0].Panel)
	return written / hitBytes
}

const hitBytes = 12

// referenceScan is the specification of Scan.
func (g Geometry) referenceScan(words Words, queries []byte, tile *Tile, hits []Hit) int {
	n := 0
	width := 4 * g.PanelWords
	sums := make([]int32, g.PanelWords)
	for p := range len(words.Bounds) / 4 {
		panel := words.Bytes[p*words.Groups*width : (p+1)*words.Groups*width]
		bound := words.Bounds[4*p : 4*p+4]
		for q := range g.TileRows {
			clear(sums)
			for i := range words.Groups {
				x := queries[(i*TileStride+q)*4:][:4]
				a := int32(int8(x[0]))
				b := int32(int8(x[1]))
				c := int32(int8(x[2]))
				d := int32(int8(x[3]))
				for w := range sums {
					y := panel[i*width+4*w:][:4]
					sums[w] += a*int32(y[0]) + b*int32(y[1]) + c*int32(y[2]) + d*int32(y[3])
				}
			}
			slack := bound[0]*tile.Tau[q] + bound[3] + bound[1]*tile.Residual[q] + bound[2]*tile.Norm[q]
			mask := uint32(0)
			for w, h := range words.Heads[p*g.PanelWords : (p+1)*g.PanelWords] {
				if float32(sums[w]+tile.Bias[q])*tile.Scale[q]+slack >= h {
					mask |= 1 << w
				}
			}
			if mask != 0 {
				hits[n] = Hit{uint32(p), uint32(q), mask}
				n++
			}
		}
	}
	return n
}
