//go:build linux && (amd64 || arm64)

package uring

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// denyEnv makes the test's binary probe under a seccomp filter that answers io_uring_setup with that error number.
const denyEnv = "URING_TEST_DENY"

func TestMain(m *testing.M) {
	if v := os.Getenv(denyEnv); v != "" {
		errno, _ := strconv.Atoi(v)
		runtime.LockOSThread()
		if err := deny(uint32(errno)); err != nil {
			fmt.Println("installing the filter:", err)
			os.Exit(1)
		}
		fmt.Println(Probe())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// deny answers io_uring_setup in this thread with an error.
func deny(errno uint32) error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: sysSetup, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | errno},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

func TestProbe(t *testing.T) {
	if err := Probe(); err != nil { // what it opened once for all
		t.Fatalf("these tests need io_uring: %v", err)
	}
	before := descriptors(t)
	for range 20 {
		if err := Probe(); err != nil {
			t.Fatal(err)
		}
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

func TestProbeWhereForbidden(t *testing.T) {
	for errno, want := range map[unix.Errno]string{
		unix.EPERM:  "seccomp",
		unix.ENOSYS: "has no io_uring",
		unix.EINVAL: "older than 6.1",
	} {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", denyEnv, errno))
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), errno.Error()) {
			t.Errorf("%v: got %v: %s", errno, err, out)
		}
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		errno    unix.Errno
		disabled string
		want     string
	}{
		{unix.EPERM, "2", "for everybody (sysctl kernel.io_uring_disabled=2)"},
		{unix.EPERM, "1", "(sysctl kernel.io_uring_disabled=1)"},
		{unix.EPERM, "0", "seccomp"},
		{unix.EACCES, "", "security module"},
		{unix.ENOSYS, "0", "(5.4.0) has no io_uring"},
		{unix.EINVAL, "0", "(5.4.0) is older than 6.1"},
		{unix.ENOMEM, "0", "ulimit -l"},
		{unix.EMFILE, "0", "ulimit -n"},
		{unix.EIO, "0", "input/output error"},
	} {
		err := explainWith(c.errno, c.disabled, "5.4.0")
		if !errors.Is(err, c.errno) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %q: %v", c.errno, c.disabled, err)
		}
	}
}
