package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Point is one value with its interval. Low and High are NaN when there is no
// interval (one repetition).
type Point struct {
	X, Y      float64
	Low, High float64
}

// Exactly returns a point without interval.
func Exactly(x, y float64) Point { return Point{x, y, math.NaN(), math.NaN()} }

// Curve is a line through points.
type Curve struct {
	Label  string
	Style  Style
	Points []Point
}

// Level is a horizontal line with its interval: the baseline.
type Level struct {
	Label     string
	Y         float64
	Low, High float64 // NaN when there is no interval
}

// Axis describes one axis of a panel.
type Axis struct {
	Label string
	Log   bool
	// Min and Max fix the range where they differ; the data widen it.
	Min, Max float64
	// Bound, if not nil, is the possible range of values, for example 0 and 100
	// of a percentage.
	Bound *[2]float64
	// Ticks are the values to mark; none leaves the choice to the panel.
	Ticks []Tick
	// Tell formats the value that a coordinate stands for, where the axis shows
	// a different one (its logarithm); nil formats the coordinate.
	Tell func(float64) string
}

// Tick is a marked value.
type Tick struct {
	Value float64
	Label string
}

// Panel is one set of axes with its curves.
type Panel struct {
	Title  string
	X, Y   Axis
	Curves []Curve
	Levels []Level
	// InPlace keeps curves from being shifted sideways by about a point, which
	// otherwise separates curves with the same values of x.
	InPlace bool
}

// usable drops what an axis cannot show: missing values, and values ≤ 0 on a
// log axis. dropped counts the latter.
func (p Panel) usable(points []Point) (kept []Point, dropped int) {
	for _, q := range points {
		switch {
		case !finite(q.X) || !finite(q.Y):
		case p.X.Log && q.X <= 0, p.Y.Log && q.Y <= 0:
			dropped++
		default:
			if !finite(q.Low) || !finite(q.High) {
				q.Low, q.High = math.NaN(), math.NaN()
			}
			if p.Y.Log && q.Low <= 0 {
				q.Low = q.Y
			}
			kept = append(kept, q)
		}
	}
	return kept, dropped
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// plot draws the panel, or reports that nothing in it can be shown.
func (p Panel) plot() (_ *plot.Plot, dropped int, cut, ok bool) {
	out := newPlot(p.X.Label, p.Y.Label)
	xs, ys := newRange(p.X), newRange(p.Y)
	var curves []Curve
	var bars []float64
	for _, c := range p.Curves {
		kept, n := p.usable(c.Points)
		dropped += n
		if len(kept) == 0 {
			continue
		}
		c.Points = kept
		curves = append(curves, c)
		for _, q := range kept {
			xs.add(q.X)
			ys.add(q.Y)
			bars = append(bars, q.Low, q.High)
		}
	}
	if len(curves) == 0 {
		return nil, dropped, false, false
	}
	for _, l := range p.Levels {
		if finite(l.Y) && (!p.Y.Log || l.Y > 0) {
			ys.add(l.Y)
			bars = append(bars, l.Low, l.High)
		}
	}
	cut = ys.stretch(bars)
	xs.apply(&out.X, 0.1)
	ys.apply(&out.Y, 0.08)
	out.Add(gridLines{})
	for _, l := range p.Levels {
		if finite(l.Y) && (!p.Y.Log || l.Y > 0) {
			out.Add(levelLine(l))
		}
	}
	for i, c := range curves {
		shift := (float64(i) - float64(len(curves)-1)/2) * min(1.6, 10/float64(len(curves)))
		if p.InPlace {
			shift = 0
		}
		out.Add(curveLine{c, vg.Length(shift), p})
	}
	return out, dropped, cut, true
}

// axisRange collects what an axis must show.
type axisRange struct {
	axis     Axis
	min, max float64
}

func newRange(a Axis) *axisRange {
	r := &axisRange{axis: a, min: math.Inf(1), max: math.Inf(-1)}
	if a.Min != a.Max {
		r.add(a.Min, a.Max)
	}
	return r
}

func (r *axisRange) add(values ...float64) {
	for _, v := range values {
		if finite(v) && (!r.axis.Log || v > 0) {
			r.min, r.max = min(r.min, v), max(r.max, v)
		}
	}
}

// stretch makes room for intervals, but at most half the range of the data to
// either side, so wide intervals do not flatten the data. cut means that some
// need more.
func (r *axisRange) stretch(bars []float64) (cut bool) {
	if r.min > r.max {
		return false
	}
	lo, hi := r.min, r.max
	var least, most float64
	if r.axis.Log {
		f := max(1.5, math.Sqrt(hi/lo))
		least, most = lo/f, hi*f
	} else {
		room := max((hi-lo)/2, 0.02*math.Abs(hi))
		least, most = lo-room, hi+room
	}
	if r.axis.Bound != nil {
		least, most = max(least, r.axis.Bound[0]), min(most, r.axis.Bound[1])
	}
	for _, v := range bars {
		if !finite(v) {
			continue
		}
		r.add(min(most, max(least, v)))
		cut = cut || v < least || v > most
	}
	return cut
}

// apply sets range, scale and ticks of a plot's axis; pad is a share of the range.
func (r *axisRange) apply(a *plot.Axis, pad float64) {
	lo, hi := r.min, r.max
	if r.axis.Log {
		if lo == hi {
			lo, hi = lo/2, hi*2
		}
		f := math.Pow(hi/lo, pad)
		a.Min, a.Max = lo/f, hi*f
		a.Scale = plot.LogScale{}
	} else {
		if lo == hi {
			lo, hi = lo-1, hi+1
		}
		d := (hi - lo) * pad
		a.Min, a.Max = lo-d, hi+d
		if b := r.axis.Bound; b != nil {
			// A marker on the bound still needs half its height.
			a.Min, a.Max = max(a.Min, b[0]-d/2), min(a.Max, b[1]+d/2)
		}
	}
	ticks := r.axis.Ticks
	if ticks == nil {
		ticks = niceTicks(a.Min, a.Max, r.axis.Log)
	}
	var marks []plot.Tick
	for _, t := range ticks {
		if t.Value >= a.Min && t.Value <= a.Max {
			marks = append(marks, plot.Tick{Value: t.Value, Label: t.Label})
		}
	}
	a.Tick.Marker = plot.ConstantTicks(marks)
}

// niceTicks returns at most six round values between lo and hi.
func niceTicks(lo, hi float64, logarithmic bool) []Tick {
	if logarithmic {
		return decadeTicks(lo, hi)
	}
	step := math.Pow(10, math.Floor(math.Log10(hi-lo)))
	for _, f := range []float64{0.1, 0.2, 0.5, 1, 2, 5} {
		if (hi-lo)/(step*f) <= 5.5 {
			step *= f
			break
		}
	}
	var ticks []Tick
	for i := math.Ceil(lo / step); i*step <= hi; i++ {
		v := i * step
		ticks = append(ticks, Tick{v, number(v, step)})
	}
	return ticks
}

func decadeTicks(lo, hi float64) []Tick {
	first, last := math.Floor(math.Log10(lo)), math.Ceil(math.Log10(hi))
	factors := []float64{1}
	if math.Log10(hi/lo) < 2 {
		factors = []float64{1, 2, 5}
	}
	stride := max(1, math.Ceil((last-first)/6))
	var ticks []Tick
	for e := first; e <= last; e += stride {
		for _, f := range factors {
			if v := f * math.Pow(10, e); v >= lo && v <= hi {
				ticks = append(ticks, Tick{v, magnitude(v)})
			}
		}
	}
	return ticks
}

// number formats v with the digits that step needs.
func number(v, step float64) string {
	digits := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	return minus(strconv.FormatFloat(v+0, 'f', digits, 64))
}

// magnitude writes 20000 as 20k.
func magnitude(v float64) string {
	for _, u := range []struct {
		size float64
		unit string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= u.size*(1-1e-9) {
			return short(v/u.size) + u.unit
		}
	}
	return short(v)
}

// short writes at most four significant digits.
func short(v float64) string { return minus(strconv.FormatFloat(v, 'g', 4, 64)) }

func minus(s string) string {
	if s == "-0" {
		return "0"
	}
	return strings.Replace(s, "-", "−", 1)
}

// epsilonAxis marks the privacy parameters that were run, on a log axis if they
// are far apart.
func epsilonAxis(values []float64) Axis {
	values = slices.Clone(values)
	slices.Sort(values)
	values = slices.Compact(values)
	a := Axis{Label: "privacy parameter ε"}
	if len(values) == 0 {
		return a
	}
	lo, hi := values[0], values[len(values)-1]
	a.Log = lo > 0 && hi/lo > 12
	at := func(v float64) float64 {
		if a.Log {
			return math.Log(v/lo) / math.Log(hi/lo)
		}
		return (v - lo) / (hi - lo)
	}
	last := math.Inf(-1)
	for i, v := range values {
		// Labels closer than a tenth of the axis would touch.
		if hi > lo && i > 0 && at(v)-last < 0.1 {
			continue
		}
		last = at(v)
		a.Ticks = append(a.Ticks, Tick{v, short(v)})
	}
	return a
}

// gridLines are the horizontal rules behind the data.
type gridLines struct{}

func (gridLines) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		c.StrokeLine2(draw.LineStyle{Color: Rule, Width: 0.5}, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
	}
}

type levelLine Level

func (l levelLine) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	if finite(l.Low) && finite(l.High) {
		band := color.NRGBA{Faint.R, Faint.G, Faint.B, 0x38}
		c.FillPolygon(band, rectangle(c.Min.X, max(y(l.Low), c.Min.Y), c.Max.X, min(y(l.High), c.Max.Y)))
	}
	c.StrokeLine2(levelStyle, c.Min.X, y(l.Y), c.Max.X, y(l.Y))
}

var levelStyle = draw.LineStyle{Color: Faint, Width: 1, Dashes: []vg.Length{3, 2}}

// curveLine draws a curve with error bars, shifted sideways by some points.
type curveLine struct {
	Curve
	shift vg.Length
	panel Panel
}

func (l curveLine) Plot(c draw.Canvas, p *plot.Plot) {
	group(c, "series", func() { l.draw(c, p) }, "series", l.Label)
}

func (l curveLine) draw(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	var line []vg.Point
	for _, q := range l.Points {
		line = append(line, vg.Point{X: tx(q.X) + l.shift, Y: ty(q.Y)})
	}
	switch {
	case l.Style.NoLine:
	case l.Style.Step:
		var steps []vg.Point
		for i, at := range line {
			at.X -= l.shift
			if i > 0 {
				steps = append(steps, vg.Point{X: at.X, Y: line[i-1].Y})
			}
			steps = append(steps, at)
		}
		c.StrokeLines(draw.LineStyle{Color: Rule, Width: 3}, steps)
	case l.Style.Stairs:
		stairs := []vg.Point{{X: line[0].X, Y: ty(max(0, p.Y.Min))}}
		for i, at := range line {
			if i > 0 {
				stairs = append(stairs, vg.Point{X: at.X, Y: line[i-1].Y})
			}
			stairs = append(stairs, at)
		}
		c.StrokeLines(l.Style.line(), c.ClipLinesXY(stairs)...)
	default:
		c.StrokeLines(l.Style.line(), c.ClipLinesXY(line)...)
	}
	bar := draw.LineStyle{Color: shade(l.Style.Color, 0.35), Width: 0.7}
	for i, q := range l.Points {
		if finite(q.Low) && q.High > q.Low {
			x, lo, hi := line[i].X, ty(q.Low), ty(q.High)
			c.StrokeLine2(bar, x, max(lo, c.Min.Y), x, min(hi, c.Max.Y))
			if lo >= c.Min.Y {
				c.StrokeLine2(bar, x-1.5, lo, x+1.5, lo)
			}
			if hi <= c.Max.Y {
				c.StrokeLine2(bar, x-1.5, hi, x+1.5, hi)
			}
		}
	}
	if l.Style.Marker >= 0 {
		for i, at := range line {
			q := l.Points[i]
			d := datum{l.panel.Title, l.Label, l.panel.X.name(q.X), q.Y, q.Low, q.High, l.panel.Y.tell}
			d.point(c, func() { drawMarker(c, l.Style, at) })
		}
	}
}

// Curves draws panels of curves that need not come from records. The
// legend holds each label once; notes go below. Nothing to draw is an error.
func Curves(name, title string, panels []Panel, notes ...string) (Figure, error) {
	l := layout{title: title, notes: notes, panelHeight: 1.42 * vg.Inch}
	var described []string
	dropped, anyCut := 0, false
	for _, p := range panels {
		drawn, n, cut, ok := p.plot()
		dropped += n
		anyCut = anyCut || cut
		if !ok {
			continue
		}
		l.add(p.Title, drawn)
		described = append(described, p.describe())
		for _, c := range p.Curves {
			if len(c.Points) > 0 && c.Label != "" {
				l.explain(legendEntry{label: c.Label, style: c.Style})
			}
		}
		for _, v := range p.Levels {
			if v.Label != "" {
				l.explain(legendEntry{label: v.Label, level: true})
			}
		}
	}
	if len(l.panels) == 0 {
		return Figure{}, fmt.Errorf("%s: %w", name, errNoData)
	}
	if dropped > 0 {
		l.notes = append(l.notes, fmt.Sprintf("%d points at or below 0 do not fit a logarithmic axis and are left out.",
			dropped))
	}
	if anyCut {
		l.notes = append(l.notes, "Bars without an end go on beyond the panel.")
	}
	l.columns = min(2, len(l.panels))
	trimLabels(l.panels, l.columns)
	f := l.figure()
	f.Name = name
	f.Description = title + ". " + strings.Join(described, " ")
	f.Caption = strings.Join(l.notes, " ")
	return f, nil
}

// explain adds an entry to the legend once.
func (l *layout) explain(e legendEntry) {
	if !slices.ContainsFunc(l.legend, func(old legendEntry) bool { return old.label == e.label }) {
		l.legend = append(l.legend, e)
	}
}

// trimLabels keeps the axis labels of the left column and of the lowest row,
// where they are the same for all.
func trimLabels(panels []*plot.Plot, columns int) {
	same := func(label func(*plot.Plot) string) bool {
		for _, p := range panels {
			if label(p) != label(panels[0]) {
				return false
			}
		}
		return true
	}
	if same(func(p *plot.Plot) string { return p.Y.Label.Text }) {
		for i, p := range panels {
			if i%columns != 0 {
				p.Y.Label.Text = ""
			}
		}
	}
	// Only with full rows: a label on some panels of a row would shift them.
	if len(panels)%columns == 0 && same(func(p *plot.Plot) string { return p.X.Label.Text }) {
		for i, p := range panels {
			if i+columns < len(panels) {
				p.X.Label.Text = ""
			}
		}
	}
}

// tell returns the value that a coordinate stands for.
func (a Axis) tell(v float64) string {
	if a.Tell != nil {
		return a.Tell(v)
	}
	return short(v)
}

// name returns the axis's name for a value.
func (a Axis) name(v float64) string {
	for _, t := range a.Ticks {
		if t.Value == v && t.Label != "" {
			return t.Label
		}
	}
	return a.tell(v)
}

// describe returns a text description of the panel.
func (p Panel) describe() string {
	var b strings.Builder
	if p.Title != "" {
		fmt.Fprintf(&b, "%s: ", p.Title)
	}
	fmt.Fprintf(&b, "%s against %s.", p.Y.Label, p.X.Label)
	for _, l := range p.Levels {
		fmt.Fprintf(&b, " %s %s.", l.Label, p.Y.tell(l.Y))
	}
	for _, c := range p.Curves {
		kept, _ := p.usable(c.Points)
		if len(kept) == 0 {
			continue
		}
		fmt.Fprintf(&b, " %s:", c.Label)
		for i, q := range kept {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, " %s at %s", p.Y.tell(q.Y), p.X.name(q.X))
		}
		b.WriteString(".")
	}
	return b.String()
}
