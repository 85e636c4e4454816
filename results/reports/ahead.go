package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/views"
)

// standing is how a mechanism does against another one: on how many data sets it was tested, and is significantly
// better or worse; and over all data sets together.
type standing struct {
	own, other            string // names
	tested, better, worse int
	pooled                *analysis.Pair
}

// standingAgainst is how a mechanism does against an instance.
func standingAgainst(all []analysis.Alignment, mechanism string, other results.Place) (s standing) {
	for _, a := range all {
		i := slices.IndexFunc(a.Lines, func(l analysis.Line) bool {
			return l.Instance() == other
		})
		p, ok := a.Pair(lineOf(a, mechanism), i)
		if !ok || math.IsNaN(p.P) {
			continue
		}
		s.own = short(a.Lines[p.A].Name)
		s.other = short(a.Lines[p.B].Name)
		if a.Datasets > 0 {
			s.pooled = &p
			continue
		}
		s.tested++
		if p.Different && p.Difference > 0 {
			s.better++
		}
		if p.Different && p.Difference <= 0 {
			s.worse++
		}
	}
	return s
}

// sentences are names of mechanisms by what is said of them, as in "keeps more than %s".
type sentences map[string][]string

// say joins those of which there are some, in an order.
func (s sentences) say(between string, order ...string) string {
	var said []string
	for _, format := range order {
		if len(s[format]) > 0 {
			said = append(said, fmt.Sprintf(format, views.And(s[format])))
		}
	}
	return strings.Join(said, between)
}

// What is said of a mechanism on single data sets, and over them together.
const (
	onEvery = "keeps more than %s on every data set where both were measured"
	onSome  = "keeps more than %s on some data sets"
	onNone  = "differs significantly from %s on no single one"
	behind  = "keeps less than %s on some"

	different    = "significantly different from %s"
	equivalent   = "equivalent to %s"
	notDifferent = "not significantly different from %s"
)

// group is what is said of a standing on single data sets.
func (s standing) group() string {
	switch {
	case s.better == s.tested:
		return onEvery
	case s.worse > 0:
		return behind
	case s.better > 0:
		return onSome
	}
	return onNone
}

// together is what is said of a standing over the data sets together, and the name with the difference.
func (s standing) together() (group, name string) {
	p := s.pooled
	by := fmt.Sprintf("%+.1f ± %.1f", p.Difference, (p.High-p.Low)/2)
	switch {
	case p.Different:
		return different, s.other + " (" + by + ")"
	case p.Equivalent:
		return equivalent, s.other + " (" + by + ")"
	}
	return notDifferent, fmt.Sprintf("%s (%s; minimum detectable: %.1f)", s.other, by, p.Detectable)
}

// ahead says of which mechanisms one is ahead at a level on each data set, and over all together; which are equivalent
// to it; and which differences would not show.
func (s source) ahead(names, level, mechanism string) (string, error) {
	all, err := s.aligned(names, level)
	if err != nil {
		return "", err
	}
	lines := slices.Concat(list.Map(all, func(a analysis.Alignment) []analysis.Line {
		return a.Lines
	})...)
	own := ""
	alone := sentences{}
	together := sentences{}
	for _, other := range results.Distinct(lines, func(l analysis.Line) results.Place {
		return l.Instance()
	}) {
		standing := standingAgainst(all, mechanism, other)
		own = cmp.Or(standing.own, own)
		if standing.tested == 0 {
			continue
		}
		group := standing.group()
		alone[group] = append(alone[group], standing.other)
		if group != onEvery && standing.pooled != nil {
			pooled, name := standing.together()
			together[pooled] = append(together[pooled], name)
		}
	}
	if own == "" {
		return "", fmt.Errorf("%s: nobody was compared with %s", names, mechanism)
	}
	text := "the " + strings.ToLower(own) + " " + alone.say("; it ", onEvery, behind, onSome, onNone) + "."
	also := together.say("; ", different, equivalent, notDifferent)
	if also != "" {
		text += " Over the data sets together it is " + also + "."
	}
	return text, nil
}

// against is how much more use a mechanism has than each over all data sets together, of records at levels, with a
// title, as "extended em=0.5 E_M = 0.5", and on how many data sets alone it is significantly ahead.
func (s source) against(mechanism string, questions ...string) (string, error) {
	header := []string{"mechanism"}
	var order []string
	found := map[string][]string{} // by mechanism, a text for each question
	for i, question := range questions {
		asked := strings.SplitN(question, " ", 3)
		all, err := s.aligned(asked[0], asked[1])
		if err != nil {
			return "", err
		}
		header = append(header, asked[2])
		names, texts := differencesFrom(all, mechanism)
		for _, name := range names {
			if found[name] == nil {
				order = append(order, name)
				found[name] = slices.Repeat([]string{views.NotMeasured}, len(questions))
			}
			found[name][i] = texts[name]
		}
	}
	rows := list.Map(order, func(name string) []string {
		return append([]string{name}, found[name]...)
	})
	return table(rows, header...)
}

// differencesFrom says of each mechanism how much more use one has over all data sets together, and on how many it is
// significantly ahead; names are in the order of the comparisons.
func differencesFrom(all []analysis.Alignment, mechanism string) (names []string, texts map[string]string) {
	ahead := map[string]int{}
	tested := map[string]int{}
	pooled := map[string]analysis.Pair{}
	for _, a := range all {
		for j, l := range a.Lines {
			p, ok := a.Pair(lineOf(a, mechanism), j)
			if !ok || math.IsNaN(p.P) {
				continue
			}
			name := short(l.Name)
			if a.Datasets > 0 {
				names = append(names, name)
				pooled[name] = p
				continue
			}
			tested[name]++
			if p.Different && p.Difference > 0 {
				ahead[name]++
			}
		}
	}
	texts = map[string]string{}
	for name, p := range pooled {
		texts[name] = fmt.Sprintf("%s %d/%d", differenceText(p), ahead[name], tested[name])
	}
	return names, texts
}

// differenceText is a difference with its interval, * where it is significant, and what would show.
func differenceText(p analysis.Pair) string {
	mark := ""
	if p.Different {
		mark = "*"
	}
	also := ""
	if p.Equivalent {
		also = " level"
	}
	difference := math.Round(10*p.Difference)/10 + 0 // no −0.0
	return fmt.Sprintf("%+.1f ± %.1f%s (%.1f)%s", difference, (p.High-p.Low)/2, mark, p.Detectable, also)
}
