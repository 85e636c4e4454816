package main

import (
	"context"
	"fmt"
	"strings"

	"mldpbench/datasets/table"
	"mldpbench/experiments"
	"mldpbench/mechanisms/privatize"
	"mldpbench/metrics"
	"mldpbench/results/views"
)

// bought says what is still found, what is promised, and the command that measures more.
func (p *privatizing) bought(ctx context.Context, s *privatize.Stream, name string) error {
	if p.target != nil {
		p.say("bought: %s", p.target.Found())
	}
	if g := p.options.Mechanism.Guarantee(); g.Holds() && p.space != nil {
		p.say("promised: %s", p.target.NearWords(g, p.space, p.perDocument != 0))
	}
	p.cameAgain(p.report.Summary.Marked)
	p.say("still found by layout alone: %s", byLayout(&s.Layouts, p.options))
	words, err := byWords(ctx, s)
	if err != nil {
		return err
	}
	p.say("still found by the words that stay: %s", words)
	if p.out != "" && !p.parts.several && p.input.Format != table.Lines && !p.input.NoHeader {
		p.say("measure it: mldp evaluate --original %q --privatised %q --text %s", name, p.out,
			strings.Join(p.input.Columns, ","))
	}
	return nil
}

// columnsNamed are the columns that are named at most.
const columnsNamed = 50

// left says which columns are copied, and where they may have addresses.
func (p *privatizing) left(columns []table.Copied) {
	if len(columns) == 0 {
		return
	}
	var names []string
	for _, c := range columns[:min(columnsNamed, len(columns))] {
		name := c.Column
		switch {
		case c.Unread:
			name += " (not looked at)"
		case c.At > 0:
			name += fmt.Sprintf(" (%s values with @)", views.Thousands(int(c.At)))
		}
		names = append(names, name)
	}
	if more := len(columns) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	p.say("copied unchanged: %s", strings.Join(names, ", "))
}

// cameAgain says how many of the words that may be names, numbers or addresses are written
// as they were.
func (p *privatizing) cameAgain(m privatize.Marked) {
	var shares []string
	for _, kind := range []struct {
		with  string
		count privatize.Again
	}{{"a capital letter", m.Capitals}, {"a digit", m.Digits}, {"@", m.At}} {
		if n := kind.count.Words; n > 0 {
			shares = append(shares, fmt.Sprintf("%.3g%% of %s words with %s", 100*float64(kind.count.Again)/float64(n),
				views.Thousands(int(n)), kind.with))
		}
	}
	if len(shares) > 0 {
		p.say("came out again: %s", strings.Join(shares, ", "))
	}
}

// byLayout says how many texts are found again by what they kept besides their words, and
// what stops it.
func byLayout(l *metrics.Layouts, o privatize.Options) string {
	switch {
	case o.Texts:
		return "not measured: the command writes texts of its own"
	case o.Layout > 0:
		return fmt.Sprintf("none: every text has %d words and one space between them", o.Layout)
	case l.Texts < 2:
		return "not measured: there are not two texts"
	}
	share, length := l.Alone()
	shown := "spaces and signs"
	hides := fmt.Sprintf("--layout fixed=%d hides it and cuts a tenth of the texts", l.Length(0.9))
	if o.KeepCase {
		shown = "spaces, signs and capitals"
	}
	if o.Layout != privatize.Written {
		share = length
		shown = "a number of words"
	} else {
		hides = fmt.Sprintf("--layout plain leaves the number of words (%.3g%%), %s", 100*length, hides)
	}
	return fmt.Sprintf("%.3g%% of %s texts have %s as no other has, and are found again among the originals; %s",
		100*share, views.Thousands(l.Texts), shown, hides)
}

// byWords says how many texts of a sample are found again by their words.
func byWords(ctx context.Context, s *privatize.Stream) (string, error) {
	sample := s.Sample()
	if len(sample) < 2 {
		return "not measured: there are not two texts with words of at most 32 KiB", nil
	}
	found, err := experiments.FoundByWords(ctx, sample, s.WordsOf)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return fmt.Sprintf("not measured: %v", err), nil
	}
	return fmt.Sprintf("%.3g%% (%.3g to %.3g) of %d texts drawn from them are nearest to their own original by "+
		"tf-idf; by "+
		"chance %.2g%%", 100*found.Estimate, 100*found.Low, 100*found.High, len(sample), 100/float64(len(sample))), nil
}
