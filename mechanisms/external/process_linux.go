package external

import "syscall"

func init() {
	endWithUs = func(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
}
