//go:build unix

package realdata

import "syscall"

// CPU is the processor time of this process, which means something on a machine with other work too.
func CPU() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of this process it cannot fail
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
