//go:build !unix

package mechanisms

func cpuSeconds() float64 { return 0 }
