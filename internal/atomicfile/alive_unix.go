//go:build unix

package atomicfile

import (
	"errors"
	"syscall"
)

// alive says whether there is a process of that number.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
