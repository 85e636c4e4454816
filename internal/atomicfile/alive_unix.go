//go:build unix

package atomicfile

import (
	"errors"
	"syscall"
)

// alive reports whether a process with that number exists.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
