package attack

import (
	"fmt"
	"math"
	"slices"

	"mldpbench/metrics"
)

// smoothings are added to the probabilities of a learned channel. A product of
// learned probabilities is decided by the outputs that were never drawn; the
// larger the addition, the more it resembles a vote. An exact channel needs none.
var smoothings = []float64{0, 1e-4, 1e-3, 1e-2}

// manyPass names, for each list of outputs of one secret word, the input of
// highest posterior after the first releases[r] of them, in one pass over the
// channel, for each addition to its probabilities. Ties go to the smallest input.
type manyPass struct {
	prior    []float64
	releases []int
	added    []float64
	outputs  []int32   // the distinct ones, sorted
	index    [][]int32 // for each list, the indices of its outputs in outputs
	blocks   [][]bestInput
	logs     [][]float64 // scratch per block
}

type bestInput struct {
	score float64
	input int32
}

func newManyPass(channel metrics.Channel, prior []float64, outputs []int32, seen [][]int32, releases []int,
	added []float64) (*manyPass, error) {
	index := make([][]int32, len(seen))
	for i, list := range seen {
		for _, y := range list {
			at, known := slices.BinarySearch(outputs, y)
			if !known {
				return nil, fmt.Errorf("an output is no word of the mechanism")
			}
			index[i] = append(index[i], int32(at))
		}
	}
	return &manyPass{prior, releases, added, outputs, index, make([][]bestInput, channel.Blocks()),
		make([][]float64, channel.Blocks())}, nil
}

func (m *manyPass) take(b, x int, row []float64) {
	each := len(m.index) * len(m.releases)
	if m.blocks[b] == nil {
		m.blocks[b] = slices.Repeat([]bestInput{{math.Inf(-1), -1}}, each*len(m.added))
		m.logs[b] = make([]float64, len(m.outputs))
	}
	if m.prior[x] == 0 {
		return
	}
	logs, start := m.logs[b], math.Log(m.prior[x])
	for k, add := range m.added {
		for j, y := range m.outputs {
			logs[j] = math.Log(row[y] + add)
		}
		best := m.blocks[b][k*each : (k+1)*each]
		for i, list := range m.index {
			score, at := start, 0
			for r, n := range m.releases {
				for ; at < n; at++ {
					score += logs[list[at]]
				}
				if math.IsInf(score, -1) {
					break
				}
				if to := &best[i*len(m.releases)+r]; score > to.score {
					*to = bestInput{score, int32(x)}
				}
			}
		}
	}
}

// guesses are those by addition, list and number of releases.
func (m *manyPass) guesses() [][][]int32 {
	out := make([][][]int32, len(m.added))
	for k := range out {
		out[k] = make([][]int32, len(m.index))
		for i := range out[k] {
			for r := range m.releases {
				top := bestInput{math.Inf(-1), -1}
				for _, block := range m.blocks {
					if block == nil {
						continue
					}
					if b := block[(k*len(m.index)+i)*len(m.releases)+r]; b.score > top.score {
						top = b
					}
				}
				out[k][i] = append(out[k][i], top.input)
			}
		}
	}
	return out
}
