package e2e

import "syscall"

// processAttributes make a program end with the test that started it, however that dies.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
