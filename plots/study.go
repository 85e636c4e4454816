package plots

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mldpbench/results"
)

const baseline = results.BaselineMechanism

// identity names a curve: a mechanism as it was configured.
type identity struct{ mechanism, variant, parameters string }

// study is a set of records with the looks that all its figures share.
type study struct {
	records []results.Record
	curves  []identity // in order of legend
	labels  map[identity]string
	styles  map[identity]Style
}

// known fixes order and colour of the mechanisms of the comparative study, so
// that they look alike in every study. Others follow by name.
var known = []string{"cmp", "mahalanobis", "vickrey", "tem", "santext", "gumbel", "syntf", "privemb"}

func rank(mechanism string) int {
	if i := slices.Index(known, mechanism); i >= 0 {
		return i
	}
	return len(known)
}

// variantRank puts the definition with the proof first.
func variantRank(variant string) int {
	if i := slices.Index([]string{"", "proved", "printed", "released"}, variant); i >= 0 {
		return i
	}
	return 9
}

func identityOf(r results.Record) identity { return identity{r.Mechanism, r.Variant, r.Parameters} }

func newStudy(records []results.Record) *study {
	s := &study{records: records, labels: map[identity]string{}, styles: map[identity]Style{}}
	promises := map[identity]bool{}
	for _, r := range records {
		if r.Mechanism == baseline {
			continue
		}
		id := identityOf(r)
		if _, seen := promises[id]; !seen {
			s.curves = append(s.curves, id)
			promises[id] = true
		}
		// An undefined cell has no instance and so no guarantee to report.
		if r.Status != results.StatusUndefined && r.GuaranteeMetric == "" {
			promises[id] = false
		}
	}
	s.sort()
	order := slices.Clone(known)
	member := map[string]int{}
	for _, id := range s.curves {
		if !slices.Contains(order, id.mechanism) {
			order = append(order, id.mechanism)
		}
		style := StyleOf(slices.Index(order, id.mechanism))
		k := member[id.mechanism] // siblings: the same hue, another shade, marker and dash
		member[id.mechanism]++
		style.Color = shade(style.Color, []float64{0, 0.4, -0.35, 0.6, -0.6}[k%5])
		style.Marker = (style.Marker + k) % len(shapes)
		style.Dash = (style.Dash + k) % len(dashes)
		style.Hollow = !promises[id]
		s.styles[id] = style
		s.labels[id] = s.label(id, !promises[id])
	}
	return s
}

// sort puts curves in the order of legends.
func (s *study) sort() {
	slices.SortFunc(s.curves, func(a, b identity) int {
		return cmp.Or(cmp.Compare(rank(a.mechanism), rank(b.mechanism)), cmp.Compare(a.mechanism, b.mechanism),
			cmp.Compare(variantRank(a.variant), variantRank(b.variant)), cmp.Compare(a.variant, b.variant), compareParameters(a.parameters, b.parameters))
	})
}

// title is the printed name of a mechanism, short enough for a legend.
func title(mechanism string) string {
	return strings.TrimPrefix(results.MechanismTitle(mechanism), "Truncated ")
}

// label names a curve by as little as tells it from its siblings.
func (s *study) label(id identity, dagger bool) string {
	parts := []string{title(id.mechanism)}
	varies := map[string]map[string]bool{}
	variants := map[string]bool{}
	for _, o := range s.curves {
		if o.mechanism != id.mechanism {
			continue
		}
		variants[o.variant] = true
		if o.variant != id.variant {
			continue
		}
		for name, value := range parameters(o.parameters) {
			if varies[name] == nil {
				varies[name] = map[string]bool{}
			}
			varies[name][value] = true
		}
	}
	if id.variant != "" && (len(variants) > 1 || id.variant != "proved") {
		parts = append(parts, id.variant)
	}
	own := parameters(id.parameters)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if len(varies[name]) > 1 {
			parts = append(parts, symbol(name)+"="+own[name])
		}
	}
	label := strings.Join(parts, " ")
	if dagger {
		label += "†"
	}
	return label
}

// symbol is how the papers print a parameter.
func symbol(name string) string {
	if s, ok := map[string]string{"gamma": "γ", "lambda": "λ", "beta": "β", "delta": "δ"}[name]; ok {
		return s
	}
	return name
}

// parameters reads the canonical form "gamma=theorem3 t=0.5".
func parameters(canonical string) map[string]string {
	out := map[string]string{}
	for _, field := range strings.Fields(canonical) {
		if name, value, ok := strings.Cut(field, "="); ok {
			out[name] = value
		}
	}
	return out
}

// compareParameters orders t=0.5 before t=0.75 before t=1.
func compareParameters(a, b string) int {
	return cmp.Or(cmp.Compare(len(strings.Fields(a)), len(strings.Fields(b))), cmp.Compare(a, b))
}

// space is an embedding at a dimension, one set of figures each.
type space struct {
	embedding string
	dimension int
}

// spaces lists those of privatised cells.
func (s *study) spaces() []space {
	seen := map[space]bool{}
	for _, r := range s.records {
		if r.Mechanism != baseline {
			seen[space{r.Embedding, r.Dimension}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b space) int {
		return cmp.Or(cmp.Compare(a.dimension, b.dimension), cmp.Compare(a.embedding, b.embedding))
	})
}

// suffix names a space in file names: the dimension, and the embedding where
// two share it.
func (s *study) suffix(sp space) string {
	for _, o := range s.spaces() {
		if o.dimension == sp.dimension && o.embedding != sp.embedding {
			return fmt.Sprintf("d%d-%s", sp.dimension, slug(sp.embedding))
		}
	}
	return fmt.Sprintf("d%d", sp.dimension)
}

// task is a classifier in a setting, one set of figures each where accuracy matters.
type task struct{ model, setting string }

func (s *study) tasks() []task {
	seen := map[task]bool{}
	for _, r := range s.records {
		if r.Mechanism != baseline && r.Model != "" {
			seen[task{r.Model, r.Setting}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b task) int {
		return cmp.Or(cmp.Compare(a.model, b.model), cmp.Compare(a.setting, b.setting))
	})
}

// name joins the parts of a file name that tell figures of one kind apart.
func (s *study) name(kind string, sp space, t task) string {
	name := kind + "-" + s.suffix(sp)
	if len(s.tasks()) > 1 && t != (task{}) {
		name += "-" + slug(t.model) + "-" + slug(t.setting)
	}
	return name
}

// title is the heading of a figure of some records.
func (s *study) title(what string, sp space, t task, shown []results.Record) string {
	title := fmt.Sprintf("%s, %s, dimension %d", what, sp.embedding, sp.dimension)
	if t != (task{}) {
		title += ", " + t.model
		if t.setting != "" && t.setting != "local" {
			title += " (" + t.setting + ")"
		}
	}
	return title + generatedMark(shown)
}

// generatedMark says when numbers are not about real text.
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

// datasetTitle heads a panel.
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

// slug makes a name fit for a file.
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

// where selects records.
func where(records []results.Record, keep func(results.Record) bool) []results.Record {
	var out []results.Record
	for _, r := range records {
		if keep(r) {
			out = append(out, r)
		}
	}
	return out
}

func (s *study) in(sp space) []results.Record {
	return where(s.records, func(r results.Record) bool {
		return r.Mechanism != baseline && r.Embedding == sp.embedding && r.Dimension == sp.dimension
	})
}

// metric reads one number of a record.
type metric func(results.Record) results.Float

// byRepetition returns the metric's value in each repetition: the mean over
// the records of one repetition (a text metric is the same for all models).
func byRepetition(records []results.Record, m metric) []float64 {
	sum, n := map[int]float64{}, map[int]int{}
	for _, r := range records {
		if v := m(r); v.Known() && r.Status != results.StatusUndefined {
			sum[r.Repetition] += float64(v)
			n[r.Repetition]++
		}
	}
	var out []float64
	for _, rep := range slices.Sorted(maps.Keys(n)) {
		out = append(out, sum[rep]/float64(n[rep]))
	}
	return out
}

// curvesOf draws one curve per mechanism through its means at each ε.
func (s *study) curvesOf(records []results.Record, m metric) []Curve {
	var out []Curve
	for _, id := range s.curves {
		byEpsilon := map[float64][]results.Record{}
		for _, r := range records {
			if identityOf(r) == id && r.Epsilon.Known() {
				byEpsilon[float64(r.Epsilon)] = append(byEpsilon[float64(r.Epsilon)], r)
			}
		}
		c := Curve{Label: s.labels[id], Style: s.styles[id]}
		for _, e := range slices.Sorted(maps.Keys(byEpsilon)) {
			if values := byRepetition(byEpsilon[e], m); len(values) > 0 {
				c.Points = append(c.Points, meanPoint(e, values))
			}
		}
		if len(c.Points) > 0 {
			out = append(out, c)
		}
	}
	return out
}

func epsilons(records []results.Record) []float64 {
	seen := map[float64]bool{}
	for _, r := range records {
		if r.Epsilon.Known() {
			seen[float64(r.Epsilon)] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// notes are the footnotes that records call for.
func (s *study) notes(shown []results.Record, bars string) []string {
	var out []string
	repetitions := map[int]bool{}
	for _, r := range shown {
		repetitions[r.Repetition] = true
	}
	n := len(repetitions)
	switch {
	case n > 1 && n < results.FewRepetitions:
		out = append(out, fmt.Sprintf("%s 95%% t interval over only %d repetitions: wide.", bars, n))
	case n > 1:
		out = append(out, fmt.Sprintf("%s 95%% t interval over %d repetitions.", bars, n))
	default:
		out = append(out, "One repetition: no interval.")
	}
	return append(out, s.warnings(shown)...)
}

// warnings are the footnotes about promises and undefined cells.
func (s *study) warnings(shown []results.Record) []string {
	var out []string
	undefined := map[identity]map[float64]bool{}
	dagger := false
	for _, r := range shown {
		if r.Mechanism == baseline {
			continue
		}
		id := identityOf(r)
		dagger = dagger || s.styles[id].Hollow
		if r.Status == results.StatusUndefined && r.Epsilon.Known() {
			if undefined[id] == nil {
				undefined[id] = map[float64]bool{}
			}
			undefined[id][float64(r.Epsilon)] = true
		}
	}
	if dagger {
		out = append(out, "† This variant guarantees nothing.")
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
