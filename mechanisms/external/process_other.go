//go:build !unix

package external

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup ends the command; its children end by themselves when their input
// closes.
func killGroup(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // gone already: nothing to do
}
