package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/quantity"
	"mldpbench/results/views"
)

// release is one of a mechanism, with what it keeps of the topic in %.
type release struct {
	own         []results.Cell
	topic, away float64 // away: from the place that was asked for
}

// textOf is the release of a cell, whatever the classifier and the repetition.
func textOf(c results.Cell) results.Place { return c.Text().Group() }

// topics are the accuracies on a data set in some records, of each release and of plain text.
func (s source) topics(records []string, dataset string) (accuracy map[results.Place]float64, plain float64,
	err error) {
	accuracy = map[results.Place]float64{}
	plain = math.NaN()
	for _, record := range records {
		p, err := s.frame(record)
		if err != nil {
			return nil, plain, err
		}
		here := results.Where(p.Cells, func(c results.Cell) bool {
			return c.Dataset == dataset
		})
		for _, own := range list.Group(here, textOf) {
			v, _ := mean(own, quantity.UsualUtility())
			accuracy[textOf(own[0])] = v
			if own[0].IsBaseline() {
				plain = v
			}
		}
	}
	return accuracy, plain, nil
}

// released is of each mechanism the release that is nearest to five points of accuracy lost in another record, or
// nearest to half of the words where none is named.
func (s source) released(name, dataset string, use ...string) (p *results.Prepared, all []release, err error) {
	p, err = s.frame(name)
	if err != nil {
		return nil, nil, err
	}
	accuracy, plain, err := s.topics(use, dataset)
	if err != nil {
		return nil, nil, err
	}
	here := results.Where(p.Private(), func(c results.Cell) bool {
		return c.Dataset == dataset
	})
	for _, mechanism := range list.Group(here, results.Cell.Instance) {
		best := release{away: math.Inf(1)}
		for _, own := range list.Group(mechanism, textOf) {
			topic, measured := accuracy[textOf(own[0])]
			away := math.Abs(plain - 5 - topic)
			if len(use) == 0 {
				words, _ := mean(own, "strongest-words")
				away = math.Abs(words - 0.5)
			}
			if away < best.away && (measured || len(use) == 0) {
				best = release{own, topic, away}
			}
		}
		if best.own != nil {
			all = append(all, best)
		}
	}
	return p, all, nil
}

// strongest is what the strongest attackers find of each mechanism's release.
func (s source) strongest(name, dataset string, use ...string) (string, error) {
	p, all, err := s.released(name, dataset, use...)
	if err != nil {
		return "", err
	}
	header := []string{"mechanism", "ε", "word", "label", "document", "word, 10 releases"}
	if len(use) > 0 {
		header = slices.Insert(header, 2, "topic, %")
	}
	var rows [][]string
	for _, r := range all {
		row := []string{short(p.Name(r.own[0].Place)), r.own[0].Epsilon.String()}
		if len(use) > 0 {
			row = append(row, views.Number(r.topic, 1))
		}
		for _, q := range []string{"strongest-words", "strongest-label", "strongest-documents", "average-10"} {
			v, half := mean(r.own, q)
			row = append(row, fmt.Sprintf("%s ± %s", views.Number(100*v, 0), views.Number(100*half, 0)))
		}
		rows = append(rows, row)
	}
	return table(rows, header...)
}

// between are the ends of what the best of some attackers finds, over some mechanisms or all, where these lose five
// points of the topic, or half of that more or less.
func (s source) between(attackers, name, dataset, use string, mechanisms ...string) (string, error) {
	_, all, err := s.released(name, dataset, use)
	if err != nil {
		return "", err
	}
	var found []float64
	for _, r := range all {
		isAsked := len(mechanisms) == 0 || slices.Contains(mechanisms, r.own[0].Mechanism)
		if !isAsked || r.away > 2.5 {
			continue
		}
		best := bestOf(strings.Fields(attackers), r)
		if !math.IsNaN(best) {
			found = append(found, best)
		}
	}
	if len(found) < max(1, len(mechanisms)) {
		return "", fmt.Errorf("%s: no %s at five points lost on %s", name, attackers, dataset)
	}
	return fmt.Sprintf("%.0f to %.0f%%", 100*slices.Min(found), 100*slices.Max(found)), nil
}

// bestOf is what the best of some attackers finds in a release, NaN where none was measured.
func bestOf(attackers []string, r release) float64 {
	best := math.NaN()
	for _, q := range attackers {
		v, _ := mean(r.own, q)
		if math.IsNaN(best) || v > best {
			best = v
		}
	}
	return best
}
