package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mldpbench/results/stats"
)

// UtilityPanel is the panel of a study of attacks whose rows measure the
// utility of the released text; every other panel is an attacker.
const UtilityPanel = "utility"

// PanelsApart adds the name of the data set to panels that have several, such
// as an attacker's: their rows do not belong to one curve.
func PanelsApart(records []Record) []Record {
	datasets := map[string][]string{}
	for _, r := range records {
		if !slices.Contains(datasets[r.Panel], r.Dataset) {
			datasets[r.Panel] = append(datasets[r.Panel], r.Dataset)
		}
	}
	out := slices.Clone(records)
	for i, r := range out {
		if len(datasets[r.Panel]) > 1 {
			out[i].Panel = fmt.Sprintf("%s, %s", DatasetTitle(r.Dataset), r.Panel)
		}
	}
	return out
}

// isUtility reports whether a row is the accuracy at which attackers are
// compared; other rows of its panel are not.
func isUtility(r Record) bool { return r.Panel == UtilityPanel && r.Quantity == "accuracy" }

// OfQuantities leaves out what attackers achieved other than these quantities.
// Where records have none of them, all are kept.
func OfQuantities(records []Record, quantities []string) []Record {
	chosen := func(r Record) bool { return isAttack(r) && slices.Contains(quantities, r.Quantity) }
	if !slices.ContainsFunc(records, chosen) {
		return records
	}
	return Where(records, func(r Record) bool { return !isAttack(r) || chosen(r) })
}

// Release is one mechanism at one ε under attack: means over repetitions.
type Release struct {
	Epsilon Float
	Utility Float            // accuracy in %, missing where the data set has no utility label
	Attacks map[string]Float // by quantity
	Halves  map[string]Float // of a repetition's own 95% interval, by quantity; none where it is exact
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
	records = Where(records, func(r Record) bool { return isAttack(r) || isUtility(r) })
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
	out := Release{Epsilon: rows[0].X, Utility: Missing, Attacks: map[string]Float{}, Halves: map[string]Float{}}
	out.Utility, _ = meanAndHalf(rows, isUtility)
	for _, q := range Distinct(rows, func(r Record) string { return r.Quantity }) {
		v, half := meanAndHalf(rows, func(r Record) bool { return r.Panel != UtilityPanel && r.Quantity == q })
		if v.Known() {
			out.Attacks[q] = v
		}
		if half > 0 {
			out.Halves[q] = half
		}
	}
	return out
}

// meanAndHalf returns the mean of the values of some rows and of half the widths
// of their intervals; missing without a value.
func meanAndHalf(rows []Record, of func(Record) bool) (value, half Float) {
	var values, halves []float64
	for _, r := range rows {
		if of(r) && r.Value.Known() {
			values = append(values, float64(r.Value))
			halves = append(halves, float64(r.ValueHigh-r.ValueLow)/2)
		}
	}
	if len(values) == 0 {
		return Missing, Missing
	}
	return Float(stats.Summarize(values).Mean), Float(stats.Summarize(halves).Mean)
}

// At returns the release with the given utility, interpolated linearly in
// utility between the two measured ones on either side, and so are the widths of
// intervals, whatever the correlation of the two; ok is false where all are on
// one side.
func (m AttackedMechanism) At(utility float64) (Release, bool) {
	for i := 1; i < len(m.Releases); i++ {
		a, b := m.Releases[i-1], m.Releases[i]
		low, high := float64(a.Utility), float64(b.Utility)
		if !(min(low, high) <= utility && utility <= max(low, high)) || low == high {
			continue
		}
		t := Float((utility - low) / (high - low))
		between := func(x, y Float) Float { return x + t*(y-x) }
		values := func(of func(Release) map[string]Float) map[string]Float {
			all := map[string]Float{}
			for q, x := range of(a) {
				if y, both := of(b)[q]; both {
					all[q] = between(x, y)
				}
			}
			return all
		}
		return Release{
			Epsilon: between(a.Epsilon, b.Epsilon), Utility: Float(utility),
			Attacks: values(func(r Release) map[string]Float { return r.Attacks }),
			Halves:  values(func(r Release) map[string]Float { return r.Halves }),
		}, true
	}
	return Release{}, false
}

// PrimaryQuantities returns the first quantity of each attacker in the records,
// in the order of the registry. An attacker's quantities have no separate
// columns.
func PrimaryQuantities(records []Record) []Column {
	var columns []Column
	for _, c := range Measured(Where(records, isAttack)) {
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

// isAttack reports whether a row is an attacker's.
func isAttack(r Record) bool { return r.Chance.Known() && r.Panel != UtilityPanel }

// releaseTables returns two tables for each attacked data set, with a row for
// every release: the utility of its text, and what attackers find in it.
func (s sheet) releaseTables(records []Record) []Table {
	var tables []Table
	for _, dataset := range Distinct(Where(records, isAttack), func(r Record) string { return r.Dataset }) {
		own := Where(records, func(r Record) bool { return r.Dataset == dataset })
		found := PrimaryQuantities(own)
		if len(found) == 1 { // a single attacker: all its quantities
			found = Measured(Where(own, isAttack))
			found = slices.DeleteFunc(found, func(c Column) bool { return c.field >= 0 })
		}
		var uses []Column
		attackers := Distinct(Where(own, isAttack), func(r Record) string { return r.Panel })
		for _, name := range Distinct(Where(own, func(r Record) bool { return !slices.Contains(attackers, r.Panel) }),
			func(r Record) string { return r.Quantity }) {
			if c, err := FindColumn(name); err == nil {
				uses = append(uses, c)
			}
		}
		for _, t := range []struct {
			name, title string
			columns     []Column
		}{{"use", "What the released text is worth", uses}, {"attackers", "What attackers find", found}} {
			if len(t.columns) > 0 {
				tables = append(tables, s.releases(slug(t.name, dataset), t.title+", "+DatasetTitle(dataset), own,
					t.columns))
			}
		}
	}
	return tables
}

// releases returns a table with a row for every release and a column for every
// quantity.
func (s sheet) releases(name, title string, records []Record, columns []Column) Table {
	t := s.named(name, title)
	t.Header = []string{"mechanism", "ε"}
	for _, c := range columns {
		t.Header = append(t.Header, c.Heading())
	}
	type place struct{ series, x string }
	at := func(r Record) place { return place{r.Series, formatFloat(r.X)} }
	for _, p := range Distinct(records, at) {
		own := Where(records, func(r Record) bool { return at(r) == p })
		row := []TableCell{promiseCell(&t, p.series, own), {Text: p.x}}
		for _, c := range columns {
			text := NotMeasured
			value, half := meanAndHalf(own, func(r Record) bool { return r.Quantity == c.Name })
			if value.Known() {
				text = withHalf(float64(value), float64(half), c.Digits)
			}
			row = append(row, TableCell{Text: text})
		}
		t.Rows = append(t.Rows, row)
	}
	t.Legend = "Means over repetitions ± half the width of one repetition's own 95% interval (over test documents, " +
		"words or users), which the mean over repetitions does not make narrower; none where the number is exact."
	return t
}

// withHalf writes a value ± half the width of its interval, if it has one.
func withHalf(value, half float64, digits int) string {
	text := FormatNumber(value, digits)
	if half > 0 && !math.IsInf(half, 0) {
		text += " ± " + FormatNumber(half, digits)
	}
	return text
}

// attackTables returns, for each data set with a utility label, what each
// attacker still learns where a mechanism costs pointsLost points of accuracy.
func (s sheet) attackTables(records []Record) []Table {
	var tables []Table
	attacked, columns := Attacked(records), PrimaryQuantities(records)
	for _, dataset := range Distinct(records, func(r Record) string { return r.Dataset }) {
		plain := math.NaN()
		for _, r := range records {
			if r.Dataset == dataset && isUtility(r) && r.Ceiling.Known() {
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
		row := func(m AttackedMechanism, epsilon string, r Release) {
			cells := []TableCell{promiseCell(&t, m.Series, m.Records), {Text: epsilon},
				{Text: FormatNumber(float64(r.Utility), 1)}}
			for _, c := range columns {
				text := NotMeasured
				if v, ok := r.Attacks[c.Name]; ok {
					text = withHalf(float64(v), float64(r.Halves[c.Name]), c.Digits)
				}
				cells = append(cells, TableCell{Text: text})
			}
			t.Rows = append(t.Rows, cells)
		}
		for _, m := range attacked {
			if m.Dataset != dataset {
				continue
			}
			if len(m.Releases) == 1 && !m.Releases[0].Epsilon.Known() { // plain text and random words
				row(m, "", m.Releases[0])
				continue
			}
			if r, ok := m.At(plain - pointsLost); ok {
				row(m, fmt.Sprintf("%.3g", float64(r.Epsilon)), r)
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
			row(m, side+formatFloat(last.Epsilon), last)
		}
		t.Legend = fmt.Sprintf("Plain text: %s%%. Between the two measured ε on either side, linear in accuracy. "+
			"≤, ≥: the loss lies beyond the ε that were measured; the row is the nearest of them. "+
			"± is half a 95%% interval over test documents, words or users at that accuracy; "+
			"which ε costs so much is uncertain too.",
			FormatNumber(plain, 1))
		tables = append(tables, t)
	}
	return tables
}
