package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// UtilityPanel is the panel of a study of attacks whose rows measure the
// utility of the released text; every other panel is an attacker.
const UtilityPanel = "utility"

// Release is one mechanism at one ε under attack: means over repetitions.
type Release struct {
	Epsilon Float
	Utility Float            // accuracy in %, missing where the data set has no utility label
	Attacks map[string]Float // by quantity
}

// AttackedMechanism is a mechanism on a data set, with its releases by
// ascending ε.
type AttackedMechanism struct {
	Dataset, Series string
	Records         []Record // of all its releases
	Releases        []Release
}

// Attacked gathers the rows of studies of attacks by data set and mechanism, in
// the order of their first rows.
func Attacked(records []Record) []AttackedMechanism {
	records = Where(records, func(r Record) bool { return r.Chance.Known() || r.Panel == UtilityPanel })
	type place struct{ dataset, series string }
	var all []AttackedMechanism
	for _, at := range Distinct(records, func(r Record) place { return place{r.Dataset, r.Series} }) {
		m := AttackedMechanism{Dataset: at.dataset, Series: at.series}
		m.Records = Where(records, func(r Record) bool { return r.Dataset == at.dataset && r.Series == at.series })
		values := map[string][]Record{}
		for _, r := range m.Records {
			x, _ := r.X.MarshalCSV()
			values[x] = append(values[x], r)
		}
		for _, rows := range values {
			m.Releases = append(m.Releases, release(rows))
		}
		slices.SortFunc(m.Releases, func(a, b Release) int { return cmp.Compare(a.Epsilon, b.Epsilon) })
		all = append(all, m)
	}
	return all
}

func release(rows []Record) Release {
	out := Release{Epsilon: rows[0].X, Utility: Missing, Attacks: map[string]Float{}}
	mean := func(of func(Record) bool) Float {
		sum, n := 0.0, 0
		for _, r := range rows {
			if of(r) && r.Value.Known() {
				sum, n = sum+float64(r.Value), n+1
			}
		}
		if n == 0 {
			return Missing
		}
		return Float(sum / float64(n))
	}
	out.Utility = mean(func(r Record) bool { return r.Panel == UtilityPanel })
	for _, q := range Distinct(rows, func(r Record) string { return r.Quantity }) {
		if v := mean(func(r Record) bool { return r.Panel != UtilityPanel && r.Quantity == q }); v.Known() {
			out.Attacks[q] = v
		}
	}
	return out
}

// At returns the release with the given utility, interpolated linearly in
// utility between the two measured ones on either side; ok is false where all
// are on one side.
func (m AttackedMechanism) At(utility float64) (Release, bool) {
	for i := 1; i < len(m.Releases); i++ {
		a, b := m.Releases[i-1], m.Releases[i]
		low, high := float64(a.Utility), float64(b.Utility)
		if !(min(low, high) <= utility && utility <= max(low, high)) || low == high {
			continue
		}
		t := Float((utility - low) / (high - low))
		between := func(x, y Float) Float { return x + t*(y-x) }
		out := Release{Epsilon: between(a.Epsilon, b.Epsilon), Utility: Float(utility), Attacks: map[string]Float{}}
		for q, x := range a.Attacks {
			if y, both := b.Attacks[q]; both {
				out.Attacks[q] = between(x, y)
			}
		}
		return out, true
	}
	return Release{}, false
}

// PrimaryQuantities returns the first quantity of each attacker in the records,
// in the order of the registry. An attacker's quantities have no separate
// columns.
func PrimaryQuantities(records []Record) []Column {
	var columns []Column
	for _, c := range Measured(Where(records, func(r Record) bool {
		return r.Chance.Known() && r.Panel != UtilityPanel
	})) {
		if c.field < 0 && c.Table != "" && !slices.ContainsFunc(columns,
			func(o Column) bool { return o.Table == c.Table }) {
			columns = append(columns, c)
		}
	}
	return columns
}

// pointsLost is the loss of utility at which attackers are compared.
const pointsLost = 5

// AttackTables returns tables of what attackers still learn where a mechanism
// costs a given number of points of accuracy, one table per data set; those of
// real data come first.
func AttackTables(records []Record) []Table {
	var tables []Table
	for _, generated := range []bool{false, true} {
		own := Where(records, func(r Record) bool { return r.Quantity != "" && r.Generated == generated })
		tables = append(tables, sheet{generated: generated}.attackTables(own)...)
	}
	return tables
}

// attackTables returns, for each data set with a utility label, what each
// attacker still learns where a mechanism costs pointsLost points of accuracy.
func (s sheet) attackTables(records []Record) []Table {
	var tables []Table
	attacked, columns := Attacked(records), PrimaryQuantities(records)
	for _, dataset := range Distinct(records, func(r Record) string { return r.Dataset }) {
		plain := math.NaN()
		for _, r := range records {
			if r.Dataset == dataset && r.Panel == UtilityPanel && r.Ceiling.Known() {
				plain = float64(r.Ceiling)
			}
		}
		if math.IsNaN(plain) || len(columns) == 0 {
			continue
		}
		t := s.named(slug("attacks", dataset), fmt.Sprintf(
			"What attackers still learn at %d points of accuracy lost, %s",
			pointsLost, DatasetTitle(dataset)))
		t.Header = []string{"mechanism", "ε", "accuracy in %"}
		for _, c := range columns {
			t.Header = append(t.Header, c.Heading())
		}
		row := func(name, epsilon string, r Release) {
			cells := []string{name, epsilon, FormatNumber(float64(r.Utility), 1)}
			for _, c := range columns {
				text := NotMeasured
				if v, ok := r.Attacks[c.Name]; ok {
					text = FormatNumber(float64(v), c.Digits)
				}
				cells = append(cells, text)
			}
			t.AddRow(cells...)
		}
		for _, m := range attacked {
			if m.Dataset != dataset {
				continue
			}
			if len(m.Releases) == 1 && !m.Releases[0].Epsilon.Known() { // plain text and random words
				row(m.Series, "", m.Releases[0])
				continue
			}
			if r, ok := m.At(plain - pointsLost); ok {
				row(m.Series, fmt.Sprintf("%.3g", float64(r.Epsilon)), r)
				continue
			}
			last, side := m.Releases[0], "≤ "
			for _, r := range m.Releases {
				if r.Utility.Known() && math.Abs(float64(r.Utility)-plain+pointsLost) < math.Abs(
					float64(last.Utility)-plain+pointsLost) {
					last = r
				}
			}
			if float64(last.Utility) < plain-pointsLost {
				side = "≥ "
			}
			row(m.Series, side+formatFloat(last.Epsilon), last)
		}
		t.Legend = fmt.Sprintf("Plain text: %s%%. Between the two measured ε on either side, linear in accuracy. "+
			"≤, ≥: the loss lies beyond the ε that were measured; the row is the nearest of them.",
			FormatNumber(plain, 1))
		tables = append(tables, t)
	}
	return tables
}
