package plots

import (
	"image/color"
	"math"
	"testing"

	"mldpbench/mechanisms"
	"mldpbench/results"
)

// lab returns CIE L*a*b* (D65) of a colour as seen with a matrix on linear RGB.
func lab(c color.RGBA, sight [3][3]float64) [3]float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	times := func(m [3][3]float64, v [3]float64) (out [3]float64) {
		for i := range m {
			for j := range v {
				out[i] += m[i][j] * v[j]
			}
		}
		return out
	}
	seen := times(sight, [3]float64{linear(c.R), linear(c.G), linear(c.B)})
	for i := range seen {
		seen[i] = min(1, max(0, seen[i]))
	}
	xyz := times([3][3]float64{{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750},
		{0.0193339, 0.1191920, 0.9503041}}, seen)
	var f [3]float64
	for i, white := range []float64{0.95047, 1, 1.08883} {
		t := xyz[i] / white
		if f[i] = math.Cbrt(t); t <= 216.0/24389 {
			f[i] = (24389.0/27*t + 16) / 116
		}
	}
	return [3]float64{116*f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])}
}

// difference is CIEDE2000 (Sharma, Wu & Dalal 2005).
func difference(p, q [3]float64) float64 {
	chroma := func(v [3]float64) float64 { return math.Hypot(v[1], v[2]) }
	mean := math.Pow((chroma(p)+chroma(q))/2, 7)
	g := 0.5 * (1 - math.Sqrt(mean/(mean+math.Pow(25, 7))))
	p[1], q[1] = p[1]*(1+g), q[1]*(1+g)
	c1, c2 := chroma(p), chroma(q)
	hue := func(v [3]float64) float64 { return math.Mod(math.Atan2(v[2], v[1])+2*math.Pi, 2*math.Pi) }
	h1, h2 := hue(p), hue(q)
	dh := math.Mod(h2-h1+3*math.Pi, 2*math.Pi) - math.Pi
	hm := (h1 + h2) / 2
	if math.Abs(h1-h2) > math.Pi {
		hm += math.Pi
	}
	if c1*c2 == 0 {
		dh, hm = 0, h1+h2
	}
	dl, dc, dH := q[0]-p[0], c2-c1, 2*math.Sqrt(c1*c2)*math.Sin(dh/2)
	lm, cm := (p[0]+q[0])/2, (c1+c2)/2
	t := 1 - 0.17*math.Cos(hm-math.Pi/6) + 0.24*math.Cos(2*hm) + 0.32*math.Cos(3*hm+math.Pi/30) -
		0.2*math.Cos(4*hm-63*math.Pi/180)
	sl := 1 + 0.015*(lm-50)*(lm-50)/math.Sqrt(20+(lm-50)*(lm-50))
	sc, sh := 1+0.045*cm, 1+0.015*cm*t
	c7 := math.Pow(cm, 7)
	turn := (hm*180/math.Pi - 275) / 25
	rt := -2 * math.Sqrt(c7/(c7+math.Pow(25, 7))) * math.Sin(math.Pi/3*math.Exp(-turn*turn))
	return math.Sqrt(dl/sl*dl/sl + dc/sc*dc/sc + dH/sh*dH/sh + rt*dc/sc*dH/sh)
}

// sights are normal vision, deuteranopia and protanopia (Machado, Oliveira &
// Fernandes 2009, severity 1). In grey, marker and dash tell curves apart.
var sights = map[string][3][3]float64{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
}

// Pair 1 and 17 of the test data of Sharma, Wu & Dalal 2005.
func TestColourDifference(t *testing.T) {
	for _, c := range []struct {
		p, q [3]float64
		want float64
	}{
		{[3]float64{50, 2.6772, -79.7751}, [3]float64{50, 0, -82.7485}, 2.0425},
		{[3]float64{50, 2.5, 0}, [3]float64{73, 25, -18}, 27.1492},
	} {
		if got := difference(c.p, c.q); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%v and %v: %.4f, want %.4f", c.p, c.q, got, c.want)
		}
	}
}

// leastDifference is three times what is just noticed side by side.
const leastDifference = 7

// Any two mechanisms differ in marker or dash, and in colour unless they are
// variants of one or references.
func TestLooksApart(t *testing.T) {
	type seen struct {
		name string
		look Look
	}
	var all []seen
	for _, d := range mechanisms.Definitions() {
		for _, v := range d.Variants {
			look := LookOf(d.Name)
			look.Dash = (look.Dash + 3*variantRank(results.Place{Mechanism: d.Name, Variant: string(v)})) % len(dashes)
			all = append(all, seen{d.Name + ", " + string(v), look})
		}
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if a.look.Marker == b.look.Marker && a.look.Dash == b.look.Dash {
				t.Errorf("%s and %s share marker %d and dash %d", a.name, b.name, a.look.Marker, a.look.Dash)
			}
			if a.look.Color == b.look.Color {
				continue
			}
			for name, sight := range sights {
				d := difference(lab(a.look.Color, sight), lab(b.look.Color, sight))
				if d < leastDifference {
					t.Errorf("%s: %s and %s differ by %.1f", name, a.name, b.name, d)
				}
			}
		}
	}
}
