//go:build linux

package load

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestWaitFiltered: where a seccomp filter forbids epoll_pwait2, which older ones do not know, epoll_wait serves.
func TestWaitFiltered(t *testing.T) {
	waited := make(chan time.Duration)
	failed := make(chan error, 1)
	go func() {
		defer close(waited)
		runtime.LockOSThread() // and never unlocked: the thread, which alone has the filter, ends with the goroutine
		w := &epollWire{ep: -1, event: -1, events: make([]unix.EpollEvent, 1)}
		var err error
		if w.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
			defer w.close()
			err = forbid(unix.SYS_EPOLL_PWAIT2)
		}
		if err != nil {
			failed <- err
			return
		}
		began := time.Now()
		w.wait(int64(20 * time.Millisecond))
		waited <- time.Since(began)
	}()
	if took, ok := <-waited; !ok {
		t.Fatal(<-failed)
	} else if took < 20*time.Millisecond {
		t.Errorf("it waited for %v", took)
	}
}

// forbid makes a system call fail with EPERM on this thread.
func forbid(call uint32) error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // its number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: call},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}
