package kernel

import "time"

// PeakGFLOPS measures how many 10⁹ float32 operations a second this core does
// in fused multiply-adds on registers, of the width of the path in use: the
// ceiling of every product here. It takes about 30 ms and returns 0 where there
// is no assembly.
func PeakGFLOPS() float64 {
	p := active()
	if p == pathGo {
		return 0
	}
	const rounds = 20_000
	best := 0.0
	for start := time.Now(); time.Since(start) < 30*time.Millisecond; {
		t := time.Now()
		p.peak(rounds)
		best = max(best, 2*rounds*peakRound*float64(p.lanes())/time.Since(t).Seconds()/1e9)
	}
	return best
}
