//go:build unix

package external

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the head of a process group, so that what it
// starts can be ended with it, and so that an interrupt at the terminal reaches
// mldp alone.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the command and its group.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // gone already: nothing to do
}
