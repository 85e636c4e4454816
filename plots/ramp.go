package plots

import (
	"image/color"
	"math"
)

// blues is a sequential scale from light to dark (after ColorBrewer's Blues,
// whose single hue survives colour blindness and grey paper).
var blues = []color.RGBA{
	{0xc6, 0xdb, 0xef, 0xff}, {0x9e, 0xca, 0xe1, 0xff}, {0x6b, 0xae, 0xd6, 0xff},
	{0x42, 0x92, 0xc6, 0xff}, {0x21, 0x71, 0xb5, 0xff}, {0x08, 0x45, 0x94, 0xff},
}

// sequential maps 0–1 to the scale.
func sequential(x float64) color.RGBA {
	x = math.Min(1, math.Max(0, x)) * float64(len(blues)-1)
	i := min(int(x), len(blues)-2)
	f := x - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-f) + float64(b)*f)) }
	a, b := blues[i], blues[i+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}

// ramp returns n steps of the scale.
func ramp(n int) []color.RGBA {
	out := make([]color.RGBA, n)
	for i := range out {
		x := 0.6
		if n > 1 {
			x = float64(i) / float64(n-1)
		}
		out[i] = sequential(x)
	}
	return out
}
