package results

import (
	"fmt"
	"slices"
	"strings"

	"mldpbench/results/stats"
)

// rankLevel is the probability of any wrong separation in one block of a rank
// table.
const rankLevel = 0.05

// condition is the condition under which mechanisms are compared.
type condition struct {
	Dataset string
	Space
	Epsilon float64
}

func (r Record) condition() condition {
	return condition{r.Dataset, Space{r.Embedding, r.Dimension}, float64(r.Epsilon)}
}

// field holds the records of competitors by condition.
type field struct {
	at        map[condition]map[Instance][]Record
	order     []condition
	instances []Instance
}

func newField(records []Record) field {
	// without an epsilon there is no condition
	records = Where(records, func(r Record) bool { return r.Epsilon.Known() })
	f := field{at: map[condition]map[Instance][]Record{}, instances: Instances(records),
		order: Distinct(records, Record.condition)}
	for _, r := range records {
		c := r.condition()
		if f.at[c] == nil {
			f.at[c] = map[Instance][]Record{}
		}
		f.at[c][r.Instance()] = append(f.at[c][r.Instance()], r)
	}
	return f
}

// contest is a quantity by which mechanisms are ranked in each condition.
type contest struct {
	name, title string // of tables
	unit        string // heading of the mean
	column      func(Record) Float
	digits      int
	test        func(a, b []Record) (stats.Test, error)
	legend      string
}

// ranks returns tables of which mechanism keeps more accuracy: overall, pair by
// pair over conditions, and within each condition.
func (s sheet) ranks(model, setting string) []Table {
	task := s.task(model, setting)
	f := newField(Where(task, func(r Record) bool { return !r.IsBaseline() && r.Accuracy.Known() }))
	within, duels := s.contest(f, contest{
		name: slug("ranks-accuracy", model, setting), title: fmt.Sprintf(
			"Which mechanism keeps most accuracy, condition by condition, %s, %s", model, setting),
		unit: "accuracy", column: column("accuracy").Get, digits: 2,
		test: func(a, b []Record) (stats.Test, error) {
			return stats.Blocked([]stats.Sample{SampleOf(a)}, []stats.Sample{SampleOf(b)})
		},
		legend: "by Welch's test over repetitions (noise, training) on these documents; where there is one " +
			"repetition, by the size of its test set alone",
	})
	if len(within.Rows) == 0 {
		return nil
	}
	return []Table{s.overall(f, task, model, setting), s.duels(duels, f, model, setting), within}
}

// adversaryRanks returns tables of which mechanism leaves the adversary the
// largest error. All mechanisms of a repetition are probed on the same words:
// they are paired.
func (s sheet) adversaryRanks() (Table, bool) {
	f := newField(Where(TextRecords(s.records), func(r Record) bool { return !r.IsBaseline() && r.EMMap.Known() }))
	t, _ := s.contest(f, contest{
		name: "ranks-adversary", title: "Which mechanism leaves the adversary most in error, condition by condition",
		unit: "E_M MAP", column: column("e_m_map").Get, digits: 3,
		test: func(a, b []Record) (stats.Test, error) {
			var x, y []float64
			for _, r := range a {
				if i := slices.IndexFunc(b, func(o Record) bool { return o.Repetition == r.Repetition }); i >= 0 {
					x, y = append(x, float64(r.EMMap)), append(y, float64(b[i].EMMap))
				}
			}
			return stats.PairedT(x, y)
		},
		legend: "by the paired t test over repetitions, each with its own words, the same for all mechanisms",
	})
	return t, len(t.Rows) > 0
}

// contest ranks within each condition that can be tested, and counts by pair
// the conditions won, left open and lost.
func (s sheet) contest(f field, c contest) (Table, map[[2]string]*[3]int) {
	t := s.named(c.name, c.title)
	t.Header = []string{"data set", "space", "ε", "place", "95% bounds", "mechanism", c.unit, "not told apart from"}
	t.Legend = "Place by mean. Bounds: 1 + the number of mechanisms that are better, to the number that are not worse, " + c.legend +
		"; Holm-corrected over all pairs of a block at 5%, so that all bounds of a block hold together with " +
		"probability 95%. A noisy mechanism has wide bounds, not a good place."
	duels := map[[2]string]*[3]int{}
	for _, at := range f.order {
		var own []Instance
		var labels []string
		var centres []float64
		for _, i := range f.instances {
			if x := (Cells{Records: f.at[at][i]}).Values(c.column); len(x) > 0 {
				own, labels, centres = append(own, i), append(labels, s.labels[i]), append(centres, stats.Mean(x))
			}
		}
		tested := false
		ranked, err := stats.Rank(labels, centres, func(a, b int) (stats.Test, error) {
			r, err := c.test(f.at[at][own[a]], f.at[at][own[b]])
			tested = tested || err == nil
			return r, err
		}, true, rankLevel)
		if err != nil || !tested {
			continue // nothing to compare
		}
		for k, r := range ranked {
			ranked := own[slices.Index(labels, r.Name)]
			x := Cells{Records: f.at[at][ranked]}.Values(c.column)
			t.AddRow(DatasetTitle(at.Dataset), at.Space.String(), fmt.Sprintf("%g", at.Epsilon), fmt.Sprint(r.Place),
				r.Places(), r.Name,
				WithInterval(stats.Summarize(x), c.digits), r.OpenTo())
			row := t.Rows[len(t.Rows)-1]
			row[0].Separator = k == 0
			row[5] = s.instanceCell(&t, f.at[at][ranked], ranked)
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
	return t, duels
}

// duels counts, for each pair, the conditions that the row won, left open and
// lost beyond chance.
func (s sheet) duels(duels map[[2]string]*[3]int, f field, model, setting string) Table {
	t := s.named(slug("duels-accuracy", model, setting),
		fmt.Sprintf("Accuracy pair by pair: conditions won / open / lost, %s, %s", model, setting))
	t.Header = []string{"mechanism"}
	for _, i := range f.instances {
		t.Header = append(t.Header, s.labels[i])
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
		"won somewhere, lost nowhere."
	if len(alike) > 0 {
		t.Legend += " Indistinguishable in every condition: " + strings.Join(alike, "; ") + "."
	} else {
		t.Legend += " No pair is indistinguishable in every condition."
	}
	return t
}

// overall ranks by the mean over conditions, each of which is a block.
func (s sheet) overall(f field, task []Record, model, setting string) Table {
	// Means are compared over the conditions that all have, if there are any.
	shared := slices.DeleteFunc(slices.Clone(f.order), func(c condition) bool {
		return len(f.at[c]) < len(f.instances)
	})
	if len(shared) > 0 {
		f.order = shared
	}
	samples := make([]map[condition]stats.Sample, len(f.instances))
	lost := make([][]float64, len(f.instances))
	centres, names := make([]float64, len(f.instances)), make([]string, len(f.instances))
	for k, i := range f.instances {
		names[k] = s.labels[i]
		samples[k] = map[condition]stats.Sample{}
		var means []float64
		for _, c := range f.order {
			if len(f.at[c][i]) == 0 {
				continue
			}
			own := SampleOf(f.at[c][i])
			samples[k][c], means = own, append(means, own.Mean)
			base := Where(task, func(r Record) bool {
				return r.IsBaseline() && r.Dataset == c.Dataset && r.Embedding == c.Embedding &&
					r.Dimension == c.Dimension
			})
			if b := SampleOf(base); b.Mean == b.Mean { // there is a baseline
				lost[k] = append(lost[k], b.Mean-own.Mean)
			}
		}
		centres[k] = stats.Mean(means)
	}
	ranked, err := stats.Rank(names, centres, func(a, b int) (stats.Test, error) {
		var x, y []stats.Sample
		for _, c := range f.order {
			va, ok := samples[a][c]
			if vb, both := samples[b][c]; ok && both {
				x, y = append(x, va), append(y, vb)
			}
		}
		return stats.Blocked(x, y)
	}, true, rankLevel)
	t := s.named(slug("ranks-accuracy-overall", model, setting),
		fmt.Sprintf("Which mechanism keeps most accuracy over all conditions, %s, %s", model, setting))
	if err != nil {
		return t // lengths are equal by construction
	}
	t.Header = []string{"mechanism", "place", "95% bounds", "conditions", "mean accuracy",
		"points lost to the baseline", "not told apart from"}
	for _, r := range ranked {
		k := slices.Index(names, r.Name)
		row := []TableCell{s.instanceCell(&t, task, f.instances[k])}
		for _, text := range []string{fmt.Sprint(r.Place), r.Places(), fmt.Sprint(len(samples[k])),
			FormatNumber(r.Mean, 2), FormatNumber(stats.Mean(lost[k]), 2), r.OpenTo()} {
			row = append(row, TableCell{Text: text})
		}
		t.Rows = append(t.Rows, row)
	}
	t.Legend = "Means over the data sets, spaces and ε here, each with equal weight. Bounds: differences within " +
		"each condition, averaged over those that two mechanisms share; their variance is that of repetitions (of " +
		"one repetition: of its test set); Holm-corrected over all pairs at 5%. " +
		"They are about these conditions and their average, which hides who wins where: see the pairs. Conditions " +
		"are those that all mechanisms here have; where there is none, means over different conditions are " +
		"not comparable."
	return t
}
