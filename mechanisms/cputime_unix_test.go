//go:build unix

package mechanisms

import "syscall"

// cpuSeconds is the processor time this process has used. A benchmark can still
// measure it, roughly, on a machine with other work.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
