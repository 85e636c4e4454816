package experiments

import (
	"context"
	"fmt"
	"strings"

	"mldpbench/datasets/table"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/privatize"
	"mldpbench/metrics"
	"mldpbench/results/views"
)

// noteFound says what is still found, what is promised, and the command that measures more.
func (p *privatizing) noteFound(ctx context.Context, s *privatize.Stream, name string) error {
	if p.target != nil {
		p.note("bought: %s", p.target.Found())
	}
	g := p.options.Mechanism.Guarantee()
	switch {
	case g.Metric == mechanisms.AnyDocuments:
		p.note("guaranteed: between any two texts, odds change by a factor of %s at most", mechanisms.Factor(g.Epsilon))
	case !g.Holds() || p.space == nil:
	case p.DocumentEpsilon == 0:
		p.note("guaranteed: %s", p.target.NearWords(g, p.space))
	default:
		p.note("guaranteed: %s", p.target.NearTexts(g, p.space))
	}
	p.noteAgain(p.report.Summary.Marked)
	p.note("re-identified by layout alone: %s", byLayout(&s.Layouts, p.options))
	words, err := byWords(ctx, s)
	if err != nil {
		return err
	}
	p.note("re-identified by the words that stay: %s", words)
	if err := p.noteLookAt(ctx, s.Sample()); err != nil {
		return err
	}
	if p.Out != "" && !p.parts.several && p.Input.Format != table.Lines && !p.Input.NoHeader {
		p.note("measure it: mldp evaluate --original %q --privatised %q --text %s", name, p.Out,
			strings.Join(p.Input.Columns, ","))
	}
	return nil
}

// noteLookAt says how many texts of a sample are to be looked at.
func (p *privatizing) noteLookAt(ctx context.Context, sample []privatize.Pair) error {
	if len(sample) < 2 {
		return nil
	}
	exposures, err := exposuresOf(ctx, sample, p.Workers)
	if err != nil {
		return err
	}
	p.report.LookAt = &lookAt{Texts: len(sample), Named: list.Count(exposures, exposure.isNamed)}
	p.note("to look at: %s; mldp evaluate --rows has each", sayNamed(p.report.LookAt.Named, len(sample)))
	return nil
}

// columnsNamed are the columns that are named at most.
const columnsNamed = 50

// noteCopied says which columns are copied, and where they may have addresses.
func (p *privatizing) noteCopied(columns []table.Copied) {
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
	p.note("columns copied unchanged: %s", strings.Join(names, ", "))
}

// noteAgain says how many of the words that may be names, numbers or addresses are written
// as they were.
func (p *privatizing) noteAgain(m privatize.Marked) {
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
		p.note("names and numbers that came back: %s", strings.Join(shares, ", "))
	}
}

// byLayout says how many texts are found again by what they kept besides their words, and
// what stops it.
func byLayout(l *metrics.Layouts, o privatize.Options) string {
	switch {
	case o.Mechanism.Documents() != nil:
		return "nothing: every text is replaced as a whole, with its layout"
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
	return fmt.Sprintf("%.3g%% of %s texts have %s as no other has; %s",
		100*share, views.Thousands(l.Texts), shown, hides)
}

// byWords says how many texts of a sample are found again by their words.
func byWords(ctx context.Context, s *privatize.Stream) (string, error) {
	sample := s.Sample()
	if len(sample) < 2 {
		return "not measured: there are not two texts with words of at most 32 KiB", nil
	}
	found, err := foundByWords(ctx, sample, s.WordsOf)
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

// notePromise says what is promised, before anything is read.
func (p *privatizing) notePromise() {
	m := p.options.Mechanism
	g := m.Guarantee()
	what := instanceName(m.Settings())
	if s := p.space; s != nil {
		p.report.Vectors = p.options.Vectors
		what += fmt.Sprintf("; vectors %s, %d dimensions, %d words", s.Name, s.Dimension, s.Len())
	}
	unknown := "; unknown words: " + p.Words.Policy
	if m.Outside() {
		unknown = "; unknown words: left to the command"
	}
	unit := "word"
	promise := g.String()
	switch {
	case m.Documents() != nil:
		unit = "text"
		what += "; public texts: " + views.Thousands(len(m.Documents().Outputs))
	case p.options.Texts: // what its epsilon means is known to the command
		unit = "text"
	case p.DocumentEpsilon != 0:
		unit = "document"
		promise = mechanisms.DocumentGuarantee(g, p.DocumentEpsilon)
		fallthrough
	default:
		what += unknown
	}
	p.note("%s", what)
	p.note("guarantee per %s: %s", unit, promise)
	said := mechanisms.TextOptions{Policy: p.options.Policy}
	if m.Documents() != nil {
		said.Policy = "" // no word is left
	}
	for _, w := range said.Warnings(g) {
		p.note("warning: %s", w)
	}
	if p.report.Seeded {
		p.note("warning: --seed is for tests: anyone who knows or guesses it can undo the protection; leave it out " +
			"unless the text is public")
	}
}

// noteSum says what was done.
func (p *privatizing) noteSum(sum privatize.Summary) {
	unit := "words"
	documents := p.options.Mechanism.Documents() != nil
	if p.options.Texts || documents {
		unit = "texts"
	}
	p.note("%d %s: %d changed, %d unchanged, %d unknown", sum.Words, unit, sum.Changed,
		sum.Words-sum.Changed-sum.Unknown-sum.Cut, sum.Unknown)
	if n := p.options.Layout; n > 0 {
		p.note("layout: every text has %d words: %d were cut, %d filled in", n, sum.Cut, sum.Filled)
	}
	if sum.Rewritten == 0 && sum.Wordless > 0 {
		p.note("warning: no row has a word: there was nothing to change")
	}
	share := func(n, of uint64) float64 { return 100 * float64(n) / max(1, float64(of)) }
	unchanged := share(sum.Known-sum.Changed, sum.Known)
	switch {
	case unchanged > 50 && documents:
		p.note("warning: %.0f%% of the texts came back unchanged", unchanged)
	case unchanged > 50:
		p.note("warning: %.0f%% of the %s came back unchanged: this publishes most of the text; --target em=0.5 finds "+
			"the epsilon at which half of the words are not found", unchanged, unit)
	}
	unknown := share(sum.Unknown, sum.Words)
	switch {
	case p.options.Policy == mechanisms.Keep && unknown > 0:
		p.note("warning: policy keep published %.0f%% of the words, those outside the vocabulary: names, numbers, "+
			"addresses", unknown)
	case unknown > 25:
		p.note("warning: %.0f%% of the words are not in the vocabulary: are these the right vectors for the text?",
			unknown)
	}
	if documents && p.options.Mechanism.Guarantee().Holds() {
		p.note("epsilon spent: at most %.6g on a row; in total %.6g", sum.EpsilonMost, sum.EpsilonTotal)
		return
	}
	if p.options.Mechanism.Guarantee().Holds() && !p.options.Texts {
		p.note("epsilon spent, per unit of distance: at most %.6g on a line; in total %.6g", sum.EpsilonMost,
			sum.EpsilonTotal)
	}
}
