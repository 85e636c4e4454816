package experiments

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"github.com/gocarina/gocsv"

	"mldpbench/datasets"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/list"
	"mldpbench/mechanisms/privatize"
	"mldpbench/results"
	"mldpbench/stream"
)

// rowExposure is a line of the file of Evaluation.Rows: nothing of an original stands in it but its
// number and id.
type rowExposure struct {
	Version    string           `csv:"version"`
	Repetition int              `csv:"repetition"`
	Row        int              `csv:"row"` // from 1, without the header
	ID         string           `csv:"id"`
	Rank       int              `csv:"rank"`
	Candidates int              `csv:"candidates"`
	Confidence string           `csv:"confidence"`
	RareWords  int              `csv:"rare_words"`
	RareBack   results.Optional `csv:"rare_words_share_back"`
	Marked     int              `csv:"names_and_numbers"`
	MarkedBack int              `csv:"names_and_numbers_back"`
	Look       string           `csv:"look_at"` // a sentence, of the worst

	exposure exposure
}

// worstRows have a sentence.
const worstRows = 10

// writeRows writes how far each text of each version is re-identified, and notes how many are.
func (e Evaluation) writeRows(ctx context.Context, s *study.Study, o *Outcome) error {
	l := lab.New(e.Data)
	corpus, err := l.Corpus(ctx, lab.Sample{Dataset: s.Datasets[0], Seed: stream.FromUint64(s.Seed).Derive("dataset")})
	if err != nil {
		return err
	}
	documents := slices.Concat(corpus.Train, corpus.Validation, corpus.Test)
	byRow := func(a, b datasets.Document) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(documents, byRow)
	var all []rowExposure
	for _, m := range s.Mechanisms {
		if m.Text == "" { // brought beside the versions
			continue
		}
		text, ids, err := l.Text(ctx, m.Outside, s.Datasets[0])
		if err != nil {
			return err
		}
		for repetition := range text.Repetitions() {
			pairs := list.Map(documents, func(d datasets.Document) privatize.Pair {
				written, _ := text.Of(d.ID, ids, repetition+1) // evaluated: it is there
				return privatize.Pair{Original: d.Text, Written: written}
			})
			exposures, err := exposuresOf(ctx, pairs, runtime.GOMAXPROCS(0))
			if err != nil {
				return err
			}
			rows := make([]rowExposure, len(documents))
			for i, x := range exposures {
				rows[i] = newRowExposure(m.Name, repetition+1, documents[i].ID, x)
				if ids != nil {
					rows[i].ID = ids[documents[i].ID]
				}
			}
			sayWorst(rows)
			named := list.Count(exposures, exposure.isNamed)
			said := sayNamed(named, len(rows))
			o.note("%s, repetition %d: to look at: %s; %s has them", m.Name, repetition+1, said, e.Rows)
			all = append(all, rows...)
		}
	}
	var out bytes.Buffer
	if err := gocsv.Marshal(all, &out); err != nil {
		return err
	}
	o.Files = append(o.Files, e.Rows)
	return atomicfile.WriteBytes(e.Rows, 0o644, out.Bytes())
}

// newRowExposure is the line of a row of the source, from 0, without its id and its sentence.
func newRowExposure(version string, repetition, row int, x exposure) rowExposure {
	return rowExposure{
		Version:    version,
		Repetition: repetition,
		Row:        row + 1,
		Rank:       x.Rank,
		Candidates: x.Candidates,
		Confidence: strconv.FormatFloat(x.Confidence, 'g', 3, 64),
		RareWords:  x.Rare.Words,
		RareBack:   results.Float(x.Rare.share()),
		Marked:     x.Marked.Words,
		MarkedBack: x.Marked.Back,
		exposure:   x,
	}
}

// sayNamed says how many texts are to be looked at, and why.
func sayNamed(named, texts int) string {
	return fmt.Sprintf("%d of %d texts, whose originals an adversary that has all names first, with a confidence of "+
		"0.5 at least", named, texts)
}

// sayWorst gives the rows that are re-identified most a sentence.
func sayWorst(rows []rowExposure) {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	worse := func(i, j int) int { return slices.Compare(rows[i].exposure.badness(), rows[j].exposure.badness()) }
	slices.SortStableFunc(order, worse)
	for n, i := range order[:min(worstRows, len(order))] {
		rows[i].Look = fmt.Sprintf("%d of the worst: %s", n+1, rows[i].exposure.sentence())
	}
}

// badness orders exposures, the worst first: by confidence, rank, and what came back.
func (x exposure) badness() []float64 {
	return []float64{-x.Confidence, float64(x.Rank), -float64(x.Marked.Back), -float64(x.Rare.Back)}
}

// sentence says what an adversary has of a text.
func (x exposure) sentence() string {
	return fmt.Sprintf("its original is number %d of %d to an adversary that compares words, with a confidence of "+
		"%.3g; of %d rare words %d came back, of %d names and numbers %d", x.Rank, x.Candidates, x.Confidence,
		x.Rare.Words, x.Rare.Back, x.Marked.Words, x.Marked.Back)
}
