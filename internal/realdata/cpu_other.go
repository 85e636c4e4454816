//go:build !unix

package realdata

// CPU is 0: there is no processor time to be had.
func CPU() float64 { return 0 }
