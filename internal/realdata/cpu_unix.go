//go:build unix

package realdata

import "syscall"

// CPU is the processor time this process has used. A benchmark can still
// measure it, roughly, on a machine with other work.
func CPU() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
