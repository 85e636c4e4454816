package published

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/results"
)

// Protocol is a way of measuring all cells of a metric: by one definition, with
// every mechanism measured in the way that its published row is said to be,
// except for those in Other.
type Protocol struct {
	Definition
	Others []OtherWay
}

// OtherWay is a mechanism measured in a different way than its published row is
// said to be.
type OtherWay struct {
	Mechanism, Way string
	Apart          string // the difference from the way of its published row
}

func (p Protocol) String() string {
	s := p.Title
	for _, o := range p.Others {
		s += fmt.Sprintf("; %s by %s", results.MechanismTitle(o.Mechanism), o.Apart)
	}
	return s
}

// Verdict judges a protocol over all cells of its metric at once. The cells are
// those that every definition of the metric has, so verdicts of one metric are
// about the same numbers.
type Verdict struct {
	Protocol
	Cells, Confirmed int
	RMS              float64 // root mean square of ours − published, in points
	// For accuracies, the same for the differences to the baseline, without
	// SanText, whose level is unexplained. NaN for other metrics.
	LossCells       int
	LossConfirmed   int // within the noise of the cell and of the baseline together
	LossRMS         float64
	SanTextCells    int
	SanTextRMS      float64
	SanTextLossRMS  float64
	SanTextLossSeen int
}

const santext = "santext"

// Verdicts judges every available protocol. It tries each definition of a
// metric with every mechanism measured as its rows are said to be, then with
// one mechanism at a time measured in each other way, and then with all
// mechanisms that have one other way measured in that way; it never chooses by
// cell.
func Verdicts(comparisons []Comparison) []Verdict {
	var all []Verdict
	for _, m := range metricOrder {
		own := comparable(comparisons, m)
		usual := usualWays(own)
		shared := sharedPlaces(own, usual)
		for _, d := range definitions {
			if d.Metric != m || !slices.ContainsFunc(own,
				func(k Comparison) bool { return k.Definition == d && shared[k.Place] }) {
				continue
			}
			protocols := []Protocol{{Definition: d}}
			var others []OtherWay
			ways := map[string]int{}
			for _, k := range own {
				o := OtherWay{k.Place.Mechanism, k.way(), apart(k.way(), usual[k.Place.Mechanism])}
				if k.Definition == d && shared[k.Place] && o.Way != usual[o.Mechanism] && !slices.Contains(others, o) {
					others = append(others, o)
					ways[o.Mechanism]++
					protocols = append(protocols, Protocol{d, []OtherWay{o}})
				}
			}
			together := slices.DeleteFunc(others, func(o OtherWay) bool { return ways[o.Mechanism] > 1 })
			if len(together) > 1 {
				protocols = append(protocols, Protocol{d, together})
			}
			for _, p := range protocols {
				all = append(all, p.judge(own, usual, shared))
			}
		}
	}
	return all
}

// apart returns the parts of a way that another does not have.
func apart(way, usual string) string {
	shared := strings.Fields(usual)
	return strings.Join(slices.DeleteFunc(strings.Fields(way),
		func(s string) bool { return slices.Contains(shared, s) }), " ")
}

// comparable returns the comparisons of a metric that can be made.
func comparable(comparisons []Comparison, m Metric) []Comparison {
	return slices.DeleteFunc(slices.Clone(comparisons),
		func(k Comparison) bool { return k.Metric != m || k.Class == NotComparable })
}

// usualWays returns for each mechanism the way that corresponds to its
// published rows: one that they are said to have measured, the released code
// first; among several, the one with most cells.
func usualWays(own []Comparison) map[string]string {
	type way struct{ mechanism, way string }
	weight := map[way]int{}
	var order []way
	for _, k := range own {
		w := way{k.Place.Mechanism, k.way()}
		if _, seen := weight[w]; !seen {
			order = append(order, w)
			if k.AsPublished {
				weight[w] += 1 << 20
			}
			if k.Variant == "released" {
				weight[w] += 1 << 10
			}
		}
		weight[w]++
	}
	usual := map[string]string{}
	for _, w := range order {
		best, seen := usual[w.mechanism]
		if !seen || weight[w] > weight[way{w.mechanism, best}] {
			usual[w.mechanism] = w.way
		}
	}
	return usual
}

// sharedPlaces returns the cells that every available definition has.
func sharedPlaces(own []Comparison, usual map[string]string) map[Place]bool {
	have := map[Definition]map[Place]bool{}
	for _, k := range own {
		if k.way() != usual[k.Place.Mechanism] || k.Instance.Mechanism == results.BaselineMechanism {
			continue
		}
		if have[k.Definition] == nil {
			have[k.Definition] = map[Place]bool{}
		}
		have[k.Definition][k.Place] = true
	}
	var shared map[Place]bool
	for _, places := range have {
		if shared == nil {
			shared = places
			continue
		}
		both := map[Place]bool{}
		for at := range places {
			both[at] = shared[at]
		}
		shared = both
	}
	return shared
}

// baselines returns the accuracies without privatisation.
func baselines(own []Comparison) map[Place]Comparison {
	found := map[Place]Comparison{}
	for _, k := range own {
		if k.Instance.Mechanism == results.BaselineMechanism {
			found[Place{Dataset: k.Dataset, Dimension: k.Dimension}] = k
		}
	}
	return found
}

// loss returns the difference to the baseline, ours and published, and how much
// the two may differ by noise; ok is false without a baseline of ours.
func (k Comparison) loss(base map[Place]Comparison) (ours, printed, allowed float64, ok bool) {
	b, ok := base[Place{Dataset: k.Dataset, Dimension: k.Dimension}]
	p := Printed().Value(Place{Dataset: k.Dataset, Dimension: k.Dimension, Mechanism: results.BaselineMechanism},
		k.Metric)
	return k.Ours - b.Ours, k.Published - p, math.Hypot(k.Allowed, b.Allowed), ok && !math.IsNaN(b.Ours+p)
}

// judge counts the cells of a protocol.
func (p Protocol) judge(own []Comparison, usual map[string]string, shared map[Place]bool) Verdict {
	v := Verdict{Protocol: p, LossRMS: math.NaN(), SanTextRMS: math.NaN(), SanTextLossRMS: math.NaN()}
	base := baselines(own)
	var all, losses, santexts, santextLosses []float64
	for _, k := range own {
		way := usual[k.Place.Mechanism]
		for _, o := range p.Others {
			if k.Place.Mechanism == o.Mechanism {
				way = o.Way
			}
		}
		if k.Definition != p.Definition || !shared[k.Place] || k.way() != way {
			continue
		}
		v.Cells++
		if k.Class == Agrees {
			v.Confirmed++
		}
		all = append(all, k.Difference)
		if k.Place.Mechanism == santext {
			santexts = append(santexts, k.Difference)
		}
		if ours, printed, allowed, ok := k.loss(base); ok && p.Metric == "accuracy" {
			if k.Place.Mechanism == santext {
				santextLosses = append(santextLosses, ours-printed)
			} else {
				losses = append(losses, ours-printed)
				if math.Abs(ours-printed) <= allowed {
					v.LossConfirmed++
				}
			}
		}
	}
	v.RMS, v.LossRMS, v.SanTextRMS, v.SanTextLossRMS = rms(all), rms(losses), rms(santexts), rms(santextLosses)
	v.LossCells, v.SanTextCells, v.SanTextLossSeen = len(losses), len(santexts), len(santextLosses)
	return v
}

// rms returns the root mean square, NaN without values.
func rms(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum / float64(len(x)))
}

// ProtocolTable returns a table of the verdicts.
func ProtocolTable(comparisons []Comparison) results.Table {
	t := results.Table{
		Name: "compare-protocols", Title: "What the published tables measured: protocols, each over all " +
			"cells of a metric",
		Header: []string{"metric", "protocol", "cells", "confirmed", "RMS difference",
			"losses confirmed, SanText apart", "RMS of the loss, SanText apart", "RMS difference, SanText",
			"RMS of the loss, SanText"},
	}
	verdicts := Verdicts(comparisons)
	number := func(v float64) string {
		if math.IsNaN(v) {
			return results.NotMeasured
		}
		return results.FormatNumber(v, 2)
	}
	for i, v := range verdicts {
		losses := results.NotMeasured
		if v.LossCells > 0 {
			losses = fmt.Sprintf("%d of %d", v.LossConfirmed, v.LossCells)
		}
		t.AddRow(v.Metric, v.Protocol.String(), fmt.Sprint(v.Cells), fmt.Sprint(v.Confirmed), number(v.RMS), losses,
			number(v.LossRMS), number(v.SanTextRMS), number(v.SanTextLossRMS))
		t.Rows[i][0].Separator = i > 0 && verdicts[i-1].Metric != v.Metric
	}
	t.Legend = fmt.Sprintf("%d protocols were tried. ", len(verdicts)) +
		"A protocol is one definition for all cells, with every mechanism measured as its rows are said to be " +
		"(released Vickrey, Gumbel and SynTF, TEM with the threshold of Theorem 3, the others by definition), or " +
		"with one mechanism, or all that have one other way, measured another way. " +
		"The cells of a metric are those that all its definitions have here; a protocol whose mechanism lacks some " +
		"has fewer. RMS: root mean square of ours − published, in points; loss: accuracy minus that without " +
		"privatisation, ours and the published each by its own; one is confirmed within the noise of the cell and " +
		"of the baseline together."
	return t
}

// CellTables returns tables of each published cell under every available
// definition of its metric, where there are several; accuracies as losses too.
func CellTables(comparisons []Comparison) []results.Table {
	var tables []results.Table
	for _, m := range metricOrder {
		own := comparable(comparisons, m)
		var columns []Definition
		for _, k := range own {
			if k.Place.Mechanism != results.BaselineMechanism && !slices.Contains(columns, k.Definition) {
				columns = append(columns, k.Definition)
			}
		}
		if len(columns) < 2 {
			continue
		}
		t := results.Table{Name: "protocols-" + strings.ReplaceAll(m, "_", "-"),
			Title: "Published and ours under each definition: " + m}
		t.Header = []string{"data set", "d", "mechanism", "measured as", "ε", "published"}
		for _, d := range columns {
			t.Header = append(t.Header, cmp.Or(d.Setting, d.Column))
		}
		base := baselines(own)
		if m == "accuracy" {
			t.Header = append(t.Header, "published loss")
			for _, d := range columns {
				t.Header = append(t.Header, "loss, "+d.Setting)
			}
		}
		type line struct {
			Place
			way string
		}
		at := map[line]map[Definition]Comparison{}
		var order []line
		for _, k := range own {
			l := line{k.Place, k.way()}
			if at[l] == nil {
				at[l] = map[Definition]Comparison{}
				order = append(order, l)
			}
			at[l][k.Definition] = k
		}
		slices.SortStableFunc(order, func(a, b line) int {
			return cmp.Or(cmp.Compare(slices.Index(Datasets, a.Dataset), slices.Index(Datasets, b.Dataset)),
				cmp.Compare(a.Dimension, b.Dimension),
				cmp.Compare(slices.Index(Mechanisms, a.Mechanism), slices.Index(Mechanisms, b.Mechanism)),
				cmp.Compare(a.way, b.way), cmp.Compare(a.Epsilon, b.Epsilon))
		})
		for i, l := range order {
			var some Comparison // all have the same published value
			for _, d := range columns {
				if k, ok := at[l][d]; ok {
					some = k
				}
			}
			epsilon := ""
			if l.Epsilon > 0 {
				epsilon = fmt.Sprintf("%g", l.Epsilon)
			}
			row := []string{results.DatasetTitle(l.Dataset), fmt.Sprint(l.Dimension),
				results.MechanismTitle(l.Mechanism), l.way, epsilon, results.FormatNumber(some.Published, 2)}
			for _, d := range columns {
				k, ok := at[l][d]
				if !ok {
					k.Ours = math.NaN()
				}
				row = append(row, k.interval())
			}
			if m == "accuracy" {
				_, printed, _, ok := some.loss(base)
				row = append(row, signed(printed, ok))
				for _, d := range columns {
					k, measured := at[l][d]
					ours, _, _, ok := k.loss(base)
					row = append(row, signed(ours, ok && measured))
				}
			}
			t.AddRow(row...)
			t.Rows[i][0].Separator = i > 0 && (order[i-1].Mechanism != l.Mechanism || order[i-1].Dataset != l.Dataset)
		}
		t.Legend = "Ours: mean ± half-width of the 95% t interval over repetitions."
		if m == "accuracy" {
			t.Legend += " Loss: difference to the accuracy without privatisation, ours to ours and the published to " +
				"the published."
		}
		for _, d := range columns {
			t.Legend += fmt.Sprintf(" %s: %s.", cmp.Or(d.Setting, d.Column), d.Title)
		}
		tables = append(tables, t)
	}
	return tables
}

func signed(v float64, ok bool) string {
	if !ok || math.IsNaN(v) {
		return results.NotMeasured
	}
	return fmt.Sprintf("%+.2f", v)
}

// Sentence summarises the verdicts, "" where nothing can be compared.
func Sentence(comparisons []Comparison) string {
	verdicts := Verdicts(comparisons)
	var parts []string
	for _, m := range metricOrder {
		var own []Verdict
		for _, v := range verdicts {
			if v.Metric == m && len(v.Others) == 0 {
				own = append(own, v)
			}
		}
		if len(own) < 2 {
			continue
		}
		var texts []string
		for _, v := range own {
			text := fmt.Sprintf("%d of %d (RMS %.1f points", v.Confirmed, v.Cells, v.RMS)
			if !math.IsNaN(v.LossRMS) {
				text += fmt.Sprintf("; of the loss to the baseline, SanText apart, %d of %d, RMS %.1f", v.LossConfirmed,
					v.LossCells, v.LossRMS)
			}
			texts = append(texts, fmt.Sprintf("%s) with “%s”", text, v.Title))
		}
		column, _ := results.FindColumn(m)
		parts = append(parts, fmt.Sprintf("%s: %s", column.Title, strings.Join(texts, ", ")))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("Published numbers confirmed, by protocol: %s. %d protocols were tried.",
		strings.Join(parts, "; "), len(verdicts))
}
