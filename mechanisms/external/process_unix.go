//go:build unix

package external

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a process group. Its children can
// then be ended with it, and an interrupt at the terminal reaches only mldp.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the command and its group.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // gone already: nothing to do
}
