package plots

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/results/stats"
)

const baseline = results.BaselineMechanism

// study is a set of records with the styles that all its figures share.
type study struct {
	records []results.Record
	curves  []results.Instance // in order of legend
	labels  map[results.Instance]string
	styles  map[results.Instance]Style
	spaces  []results.Space
	tasks   []results.Task
}

// dagger marks a variant that guarantees nothing, wherever it is named.
const dagger = "†"

// rank returns the position of a mechanism in legends: the order of its
// definition; mechanisms without one come last.
func rank(mechanism string) int {
	if d, err := mechanisms.Find(mechanism); err == nil {
		return d.Order
	}
	return math.MaxInt
}

// hue returns the colour of a mechanism, the same in every study. Mechanisms
// whose orders have the same tens are related and share it. unknown are those
// without a definition.
func hue(mechanism string, unknown []string) int {
	if d, err := mechanisms.Find(mechanism); err == nil {
		return d.Order/10 - 1
	}
	return 1000 + slices.Index(unknown, mechanism)
}

// variantRank puts the definition with the proof first.
func variantRank(variant string) int {
	if i := slices.Index([]string{"", "proved", "printed", "released"}, variant); i >= 0 {
		return i
	}
	return 9
}

func newStudy(records []results.Record) *study {
	privatised := results.Where(records, func(r results.Record) bool { return !r.IsBaseline() })
	s := &study{
		records: records, labels: map[results.Instance]string{}, styles: map[results.Instance]Style{},
		spaces: results.Spaces(privatised), tasks: results.Tasks(records),
	}
	labels := results.Labels(records)
	promises, scoped := map[results.Instance]bool{}, map[results.Instance]bool{}
	for _, r := range records {
		if r.Mechanism == baseline {
			continue
		}
		id := r.Instance()
		if _, seen := promises[id]; !seen {
			s.curves = append(s.curves, id)
			promises[id] = true
		}
		// An undefined cell has no instance and so no guarantee to report.
		if r.Status != results.StatusUndefined && r.GuaranteeMetric == "" {
			promises[id] = false
		}
		scoped[id] = scoped[id] || r.GuaranteeScope != ""
	}
	s.sort()
	var unknown []string
	member := map[int]int{}
	for _, id := range s.curves {
		if rank(id.Mechanism) == math.MaxInt && !slices.Contains(unknown, id.Mechanism) {
			unknown = append(unknown, id.Mechanism)
		}
		h := hue(id.Mechanism, unknown)
		style := StyleOf(h)
		k := member[h] // related ones: the same hue, different shade, marker and dash
		member[h]++
		style.Color = shade(style.Color, []float64{0, 0.4, -0.35, 0.6, -0.6}[k%5])
		style.Marker = (style.Marker + k) % len(shapes)
		style.Dash = (style.Dash + k) % len(dashes)
		style.Hollow, style.Scoped = !promises[id], scoped[id]
		s.styles[id] = style
		switch s.labels[id] = labels[id]; {
		case !promises[id]:
			s.labels[id] += dagger
		case scoped[id]:
			s.labels[id] += results.ScopeMark
		}
	}
	return s
}

// sort puts curves in the order of legends.
func (s *study) sort() {
	slices.SortFunc(s.curves, func(a, b results.Instance) int {
		return cmp.Or(cmp.Compare(rank(a.Mechanism), rank(b.Mechanism)), cmp.Compare(a.Mechanism, b.Mechanism),
			cmp.Compare(variantRank(a.Variant), variantRank(b.Variant)), cmp.Compare(a.Variant, b.Variant),
			compareParameters(a.Parameters, b.Parameters))
	})
}

// compareParameters orders t=0.5 before t=0.75 before t=1.
func compareParameters(a, b string) int {
	return cmp.Or(cmp.Compare(len(strings.Fields(a)), len(strings.Fields(b))), cmp.Compare(a, b))
}

// suffix returns a space's part of file names: the dimension, and the embedding
// where two share the dimension.
func (s *study) suffix(sp results.Space) string {
	for _, o := range s.spaces {
		if o.Dimension == sp.Dimension && o.Embedding != sp.Embedding {
			return fmt.Sprintf("d%d-%s", sp.Dimension, slug(sp.Embedding))
		}
	}
	return fmt.Sprintf("d%d", sp.Dimension)
}

// name joins the parts of a file name that distinguish figures of one kind.
func (s *study) name(kind string, sp results.Space, t results.Task) string {
	name := kind + "-" + s.suffix(sp)
	if len(s.tasks) > 1 && t != (results.Task{}) {
		name += "-" + slug(t.Model) + "-" + slug(t.Setting)
	}
	return name
}

// title returns the heading of a figure of some records.
func (s *study) title(what string, sp results.Space, t results.Task, shown []results.Record) string {
	title := fmt.Sprintf("%s, %s, dimension %d", what, sp.Embedding, sp.Dimension)
	if t != (results.Task{}) {
		title += ", " + t.Model
		if t.Setting != "" && t.Setting != "local" {
			title += " (" + t.Setting + ")"
		}
	}
	return title + generatedMark(shown)
}

// generatedMark returns the mark of numbers that are not about real text.
func generatedMark(shown []results.Record) string {
	generated := 0
	for _, r := range shown {
		if r.Generated {
			generated++
		}
	}
	switch generated {
	case 0:
		return ""
	case len(shown):
		return " — generated data"
	}
	return " — partly generated data"
}

// datasets lists the data sets of some records by name, generated ones last.
func datasets(records []results.Record) []string {
	generated := map[string]bool{}
	for _, r := range records {
		generated[r.Dataset] = r.Generated
	}
	return slices.SortedFunc(maps.Keys(generated), func(a, b string) int {
		if generated[a] != generated[b] {
			if generated[b] {
				return -1
			}
			return 1
		}
		return cmp.Compare(a, b)
	})
}

// datasetTitle returns the title of a panel.
func datasetTitle(name string, shown []results.Record) string {
	title := results.DatasetTitle(name)
	all, own := true, false
	for _, r := range shown {
		all = all && r.Generated
		own = own || r.Dataset == name && r.Generated
	}
	if own && !all && !strings.Contains(title, "generated") {
		title += " (generated)"
	}
	return title
}

// slug makes a name usable as a file name.
func slug(s string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, s)
	return strings.Trim(out, "-.")
}

func (s *study) in(sp results.Space) []results.Record {
	return results.Where(s.records, func(r results.Record) bool {
		return r.Mechanism != baseline && r.Embedding == sp.Embedding && r.Dimension == sp.Dimension
	})
}

// metric reads one number of a record.
type metric = func(results.Record) results.Float

// curvesOf draws one curve per mechanism through its means at each ε.
func (s *study) curvesOf(records []results.Record, m metric) []Curve {
	var out []Curve
	for _, id := range s.curves {
		byEpsilon := map[float64][]results.Record{}
		for _, r := range records {
			if r.Instance() == id && r.Epsilon.Known() {
				byEpsilon[float64(r.Epsilon)] = append(byEpsilon[float64(r.Epsilon)], r)
			}
		}
		c := Curve{Label: s.labels[id], Style: s.styles[id]}
		for _, e := range slices.Sorted(maps.Keys(byEpsilon)) {
			if values := results.ByRepetition(byEpsilon[e], m); len(values) > 0 {
				c.Points = append(c.Points, meanPoint(e, values))
			}
		}
		if len(c.Points) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// notes returns the footnotes that records need.
func (s *study) notes(shown []results.Record, bars string) []string {
	var out []string
	few, most := math.MaxInt, 0 // repetitions of a cell
	for _, c := range results.GroupCells(results.TextRecords(results.Where(shown,
		func(r results.Record) bool { return r.Status != results.StatusUndefined }))) {
		few, most = min(few, len(c.Records)), max(most, len(c.Records))
	}
	count := fmt.Sprint(most)
	if few < most {
		count = fmt.Sprintf("%d to %d", few, most)
	}
	switch {
	case most > 1 && few < stats.FewRepetitions:
		out = append(out, fmt.Sprintf("%s 95%% t interval over only %s repetitions: wide; none of one.", bars, count))
	case most > 1:
		out = append(out, fmt.Sprintf("%s 95%% t interval over %s repetitions.", bars, count))
	default:
		out = append(out, "One repetition: no interval.")
	}
	return append(out, s.warnings(shown)...)
}

// warnings returns the footnotes about guarantees and undefined cells.
func (s *study) warnings(shown []results.Record) []string {
	var out []string
	undefined := map[results.Instance]map[float64]bool{}
	unproved := false
	for _, r := range shown {
		if r.Mechanism == baseline {
			continue
		}
		id := r.Instance()
		unproved = unproved || s.styles[id].Hollow
		if r.Status == results.StatusUndefined && r.Epsilon.Known() {
			if undefined[id] == nil {
				undefined[id] = map[float64]bool{}
			}
			undefined[id][float64(r.Epsilon)] = true
		}
	}
	if unproved {
		out = append(out, "† This variant guarantees nothing.")
	}
	if note := strings.TrimSpace(results.ScopeNote(shown)); note != "" {
		out = append(out, note)
	}
	for _, id := range s.curves {
		if at := undefined[id]; len(at) > 0 {
			var values []string
			for _, e := range slices.Sorted(maps.Keys(at)) {
				values = append(values, short(e))
			}
			out = append(out, fmt.Sprintf("%s is undefined at ε = %s.", s.labels[id], strings.Join(values, ", ")))
		}
	}
	return out
}
