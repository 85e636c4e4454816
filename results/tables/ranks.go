package tables

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/stats"
	"mldpbench/results"
)

// rankLevel is the probability of any wrong separation in one block.
const rankLevel = 0.05

// condition is what mechanisms are compared under at equal ε.
type condition struct {
	dataset string
	results.Space
	epsilon float64
}

// ranks returns tables of which mechanism keeps more accuracy at equal ε: pair
// by pair over conditions, and within each condition. Equal ε is not equal
// privacy: see alignment.
func (s sheet) ranks(task results.Task) []Table {
	cells := results.Where(s.task(task), func(c results.Cell) bool {
		return !c.IsBaseline() && c.Epsilon.Known() && c.Has("accuracy")
	})
	digits := results.MustColumn("accuracy").Digits
	t := s.named(slug("ranks-accuracy", task.Model, task.Setting), fmt.Sprintf(
		"Which mechanism keeps most accuracy, condition by condition, %s, %s", task.Model, task.Setting))
	t.Header = []string{"data set", "space", "ε", "place", "95% bounds", "mechanism", "accuracy", "not told apart from"}
	t.Legend = "Place by mean. Bounds: 1 + the number of mechanisms that are better, to the number that are not " +
		"worse, by Welch's test over repetitions (noise, training) on these documents; where there is one repetition, " +
		"by the size of its test set alone; Holm-corrected over all pairs of a block at 5%, so that all bounds of a " +
		"block hold together with probability 95%. Equal ε is not equal privacy."
	duels := map[[2]string]*[3]int{}
	for _, at := range results.Distinct(cells, func(c results.Cell) condition {
		return condition{c.Dataset, c.Space(), float64(c.Epsilon)}
	}) {
		own := results.Where(cells, func(c results.Cell) bool {
			return condition{c.Dataset, c.Space(), float64(c.Epsilon)} == at
		})
		instances := results.Instances(own)
		var names []string
		var means []float64
		var groups [][]results.Cell
		for _, i := range instances {
			group := results.Where(own, func(c results.Cell) bool { return c.Instance() == i })
			groups, names = append(groups, group), append(names, s.Labels[i])
			means = append(means, stats.Mean(results.Cells{Cells: group}.Values("accuracy")))
		}
		ranked, err := stats.Rank(names, means, func(a, b int) (stats.Test, error) {
			return stats.Blocked([]stats.Sample{sampleOf(groups[a])}, []stats.Sample{sampleOf(groups[b])})
		}, true, rankLevel)
		if err != nil || len(names) < 2 {
			continue
		}
		for k, r := range ranked {
			group := groups[slices.Index(names, r.Name)]
			t.AddRow(results.DatasetTitle(at.dataset), at.Space.String(), fmt.Sprintf("%g", at.epsilon),
				fmt.Sprint(r.Place), r.Places(), "",
				WithInterval(stats.Summarize(results.Cells{Cells: group}.Values("accuracy")), digits), r.OpenTo())
			row := t.Rows[len(t.Rows)-1]
			row[0].Separator, row[5] = k == 0, promiseCell(&t, r.Name, group)
			for outcome, others := range [3][]string{r.Worse, r.Open, r.Better} {
				for _, o := range others {
					key := [2]string{r.Name, o}
					if duels[key] == nil {
						duels[key] = new([3]int)
					}
					duels[key][outcome]++
				}
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []Table{s.duels(duels, results.Instances(cells), task), t}
}

// sampleOf returns the sample of the accuracies of one cell in %. A single
// repetition has the binomial variance of its test set, which does not include
// noise and training.
func sampleOf(cells []results.Cell) stats.Sample {
	x := results.Cells{Cells: cells}.Values("accuracy")
	if len(x) > 1 {
		m := stats.Summarize(x)
		return stats.Sample{Mean: m.Mean, Variance: m.StdDev * m.StdDev / float64(len(x)), DF: float64(len(x) - 1)}
	}
	s := stats.Sample{Mean: stats.Mean(x), Variance: math.NaN(), DF: math.Inf(1)}
	for _, c := range cells {
		if m, ok := c.At("accuracy"); ok && m.Value.Known() && m.Whole > 0 {
			s.Variance = float64(m.Value) * (100 - float64(m.Value)) / float64(m.Whole)
		}
	}
	return s
}

// duels counts, for each pair, the conditions that the row won, left open and
// lost beyond chance.
func (s sheet) duels(duels map[[2]string]*[3]int, instances []results.Instance, task results.Task) Table {
	t := s.named(slug("duels-accuracy", task.Model, task.Setting),
		fmt.Sprintf("Accuracy pair by pair: conditions won / open / lost, %s, %s", task.Model, task.Setting))
	t.Header = []string{"mechanism"}
	for _, i := range instances {
		t.Header = append(t.Header, s.Labels[i])
	}
	var alike []string
	for i, a := range t.Header[1:] {
		row := []TableCell{{Text: a}}
		for j, b := range t.Header[1:] {
			d := duels[[2]string{a, b}]
			if d == nil {
				row = append(row, TableCell{Text: NotMeasured})
				continue
			}
			row = append(row, TableCell{Text: fmt.Sprintf("%d/%d/%d", d[0], d[1], d[2]), Best: d[2] == 0 && d[0] > 0})
			if i < j && d[0] == 0 && d[2] == 0 {
				alike = append(alike, a+" and "+b)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	t.Legend = "Data sets × spaces × ε in which the row's mechanism has more accuracy than the column's beyond " +
		"chance, in which nothing separates them, in which it has less (tests as in the table of conditions). Bold: " +
		"won somewhere, lost nowhere. Equal ε is not equal privacy."
	if len(alike) > 0 {
		t.Legend += " Indistinguishable in every condition: " + strings.Join(alike, "; ") + "."
	} else {
		t.Legend += " No pair is indistinguishable in every condition."
	}
	return t
}
