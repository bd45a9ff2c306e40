//go:build linux && (amd64 || arm64)

package uring

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// explain says what an error of setting up a ring means.
func explain(errno unix.Errno) error {
	disabled, err := os.ReadFile("/proc/sys/kernel/io_uring_disabled")
	if err != nil {
		disabled = nil // older than 6.6, or no /proc
	}
	return explainWith(errno, strings.TrimSpace(string(disabled)), release())
}

// explainWith is explain, given the value of the sysctl ("" if it has none) and the kernel's release.
func explainWith(errno unix.Errno, disabled, release string) error {
	switch {
	case errno == unix.ENOSYS:
		return fmt.Errorf("the kernel (%s) has no io_uring, or a sandbox hides it: %w", release, errno)
	case (errno == unix.EPERM || errno == unix.EACCES) && disabled == "2":
		return fmt.Errorf("it is switched off for everybody (sysctl kernel.io_uring_disabled=2): %w", errno)
	case (errno == unix.EPERM || errno == unix.EACCES) && disabled == "1":
		return fmt.Errorf("it is switched off for processes that have neither CAP_SYS_ADMIN nor the group of kernel.io_uring_group"+
			" (sysctl kernel.io_uring_disabled=1): %w", errno)
	case errno == unix.EPERM || errno == unix.EACCES:
		return fmt.Errorf("it is forbidden by a seccomp filter (as containers have by default) or a security module: %w", errno)
	case errno == unix.EINVAL:
		return fmt.Errorf("the kernel (%s) is older than 6.1, whose io_uring is the first with all that is needed: %w", release, errno)
	case errno == unix.ENOMEM:
		return fmt.Errorf("not enough memory, or not enough that may be locked (ulimit -l): %w", errno)
	case errors.Is(errno, unix.EMFILE), errors.Is(errno, unix.ENFILE):
		return fmt.Errorf("no more files can be opened (ulimit -n): %w", errno)
	}
	return errno
}

func release() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "of unknown release"
	}
	b, _, _ := bytes.Cut(u.Release[:], []byte{0})
	return string(b)
}
