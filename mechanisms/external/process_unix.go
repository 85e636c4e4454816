//go:build unix

package external

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a process group. Its children can
// then be ended with it, and an interrupt at the terminal reaches only mldp.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithUs(cmd.SysProcAttr)
}

// endWithUs lets the system end the command when this process is killed, where
// it can; elsewhere the command finds its input closed.
var endWithUs = func(*syscall.SysProcAttr) {}

// killGroup ends the command and its group.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // gone already: nothing to do
}
