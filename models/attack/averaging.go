package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/metrics"
)

// averagingReleases are the available columns; Options.Releases chooses among
// them. Columns start with the most releases, which reveal most.
var averagingReleases = []int{1, 2, 5, 10, 50}

func init() {
	d := Definition{
		Name: "averaging", Title: "averaging over releases",
		Doc: "names the most probable word given several independent releases of one text, corpus prior: how " +
			"the budget adds up",
		Needs:   []Need{NeedsChannel},
		prepare: prepareAveraging,
	}
	for _, r := range slices.Backward(averagingReleases) {
		title := fmt.Sprintf("words found from %d releases", r)
		if r == 1 {
			title = "words found from one release"
		}
		d.Columns = append(d.Columns, Column{Name: fmt.Sprintf("average-%d", r), Title: title,
			Unit: "share", Doc: "share of words of the text that the attacker names correctly"})
	}
	Register(d)
}

func prepareAveraging(ctx context.Context, s *Situation, channel metrics.Channel, draws int) (channelAttack, error) {
	var none channelAttack
	releases := s.Options.Releases
	for _, r := range releases {
		if !slices.Contains(averagingReleases, r) {
			return none, fmt.Errorf("releases = %d: must be among %d", r, averagingReleases)
		}
	}
	most := releases[len(releases)-1]
	test := wordsOf(s.Test)
	places := s.places(test, s.Options.Words, "averaging")
	if len(places) == 0 {
		return none, fmt.Errorf("no word of the mechanism in the test split")
	}
	copies := make([][]int32, len(places))
	for i, p := range places {
		copies[i] = slices.Repeat([]int32{test[p.document][p.position]}, most)
	}
	seen, err := s.aligned(ctx, copies, s.Seed.Derive("releases"))
	if err != nil {
		return none, err
	}
	prior, err := s.prior()
	if err != nil {
		return none, err
	}
	pass, err := newManyPass(channel, prior, seen, releases)
	if err != nil {
		return none, err
	}
	return channelAttack{pass.take, func(context.Context) ([]Outcome, error) {
		return averagingOutcomes(s, pass.guesses(), places, prior, draws)
	}}, nil
}

// averagingOutcomes evaluates the guesses at each position after each number of
// releases.
func averagingOutcomes(s *Situation, guesses [][]int32, places []place, prior []float64, draws int) ([]Outcome,
	error) {
	releases, test := s.Options.Releases, wordsOf(s.Test)
	var out []Outcome
	for r, n := range slices.Backward(releases) {
		// Equal words have the same guess distribution, but their noise is
		// independent, so each word is a trial.
		hits := 0
		for i, p := range places {
			if guesses[i][r] == test[p.document][p.position] {
				hits++
			}
		}
		v, err := proportion(hits, len(places), s.Options.Level)
		if err != nil {
			return nil, err
		}
		top, blind := slices.Index(prior, slices.Max(prior)), 0
		for _, p := range places {
			if int(test[p.document][p.position]) == top {
				blind++
			}
		}
		out = append(out, Outcome{Column: fmt.Sprintf("average-%d", n), Value: v,
			Floor: float64(blind) / float64(len(places)), Ceiling: 1, Count: len(places), Draws: draws})
	}
	return out, nil
}

// manyPass names, for each list of outputs of one secret word, the input of
// highest posterior after the first releases[r] of them, in one pass over the
// channel. Ties go to the smallest input.
type manyPass struct {
	prior    []float64
	releases []int
	outputs  []int32   // the distinct ones, sorted
	index    [][]int32 // for each list, the indices of its outputs in outputs
	blocks   [][]bestInput
	logs     [][]float64 // scratch per block
}

type bestInput struct {
	score float64
	input int32
}

func newManyPass(channel metrics.Channel, prior []float64, seen [][]int32, releases []int) (*manyPass, error) {
	var outputs []int32
	for _, list := range seen {
		outputs = append(outputs, list...)
	}
	slices.Sort(outputs)
	outputs = slices.Compact(outputs)
	if len(outputs) > 0 && (outputs[0] < 0 || int(outputs[len(outputs)-1]) >= channel.Outputs) {
		return nil, fmt.Errorf("an output is no word of the mechanism")
	}
	index := make([][]int32, len(seen)) // indices of the outputs in the list of distinct ones
	for i, list := range seen {
		for _, y := range list {
			at, _ := slices.BinarySearch(outputs, y)
			index[i] = append(index[i], int32(at))
		}
	}
	return &manyPass{prior, releases, outputs, index, make([][]bestInput, channel.Blocks()), make([][]float64,
		channel.Blocks())}, nil
}

func (m *manyPass) take(b, x int, row []float64) {
	blocks, logs, outputs, index, releases, prior := m.blocks, m.logs, m.outputs, m.index, m.releases, m.prior
	if blocks[b] == nil {
		blocks[b] = slices.Repeat([]bestInput{{math.Inf(-1), -1}}, len(index)*len(releases))
		logs[b] = make([]float64, len(outputs))
	}
	if prior[x] == 0 {
		return
	}
	for j, y := range outputs {
		logs[b][j] = math.Log(row[y])
	}
	start := math.Log(prior[x])
	for i, list := range index {
		score, at := start, 0
		for r, n := range releases {
			for ; at < n; at++ {
				score += logs[b][list[at]]
			}
			if math.IsInf(score, -1) {
				break
			}
			if to := &blocks[b][i*len(releases)+r]; score > to.score {
				*to = bestInput{score, int32(x)}
			}
		}
	}
}

func (m *manyPass) guesses() [][]int32 {
	blocks, releases := m.blocks, m.releases
	out := make([][]int32, len(m.index))
	for i := range out {
		out[i] = make([]int32, len(releases))
		for r := range releases {
			top := bestInput{math.Inf(-1), -1}
			for _, block := range blocks {
				if block != nil && block[i*len(releases)+r].score > top.score {
					top = block[i*len(releases)+r]
				}
			}
			out[i][r] = top.input
		}
	}
	return out
}
