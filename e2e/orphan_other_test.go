//go:build !linux

package e2e

import "syscall"

// processAttributes: elsewhere nothing ends a program with the test that started it.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
