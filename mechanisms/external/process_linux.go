package external

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a process group: its children are
// killed with it, and an interrupt at the terminal reaches only mldp. The command
// is killed when mldp ends, however that happens.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup ends the command and its children.
func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
