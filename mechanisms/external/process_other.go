//go:build !linux

package external

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup ends the command; its children end by themselves when their input
// closes.
func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
