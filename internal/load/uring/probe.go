//go:build linux && (amd64 || arm64)

package uring

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Probe tells whether what this package does works here, by doing it with two sockets, in about a millisecond. The error says
// in words why not.
func Probe() error {
	r, err := Open(Config{Entries: 8, Completions: 16, Buffers: 4, BufferSize: 64})
	if err != nil {
		return err
	}
	defer r.Close()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("two sockets to try io_uring with: %w", err)
	}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	if err := try(r, fds); err != nil {
		return fmt.Errorf("trying io_uring: %w", err)
	}
	return nil
}

// try receives two messages with one receive, is woken, and cancels the receive.
func try(r *Ring, fds [2]int) error {
	const recv, send, cancel = 1, 2, 3
	const longest = 5 * time.Second // on a machine that is very busy
	message := []byte("hello")
	defer runtime.KeepAlive(message)
	for _, step := range []struct {
		what    string
		queue   func()
		enough  int
		expects func(ud uint64, res int32, flags uint32, data []byte) bool
	}{
		{"a multishot receive", func() { r.RecvMultishot(fds[0], recv); r.SendStatic(fds[1], message, send) }, 1,
			func(ud uint64, res int32, flags uint32, data []byte) bool {
				return ud == recv && flags&More != 0 && string(data) == string(message)
			}},
		{"a multishot receive's second message", func() { r.SendStatic(fds[1], message, send) }, 1,
			func(ud uint64, res int32, flags uint32, data []byte) bool {
				return ud == recv && flags&More != 0 && string(data) == string(message)
			}},
		{"waking", r.Wake, 1,
			func(ud uint64, res int32, flags uint32, data []byte) bool { return ud == Woken }},
		{"cancelling", func() { r.CancelFD(fds[0], cancel) }, 2,
			func(ud uint64, res int32, flags uint32, data []byte) bool {
				return ud == recv && res == -int32(unix.ECANCELED) || ud == cancel && res >= 0
			}},
	} {
		var problem error
		step.queue()
		for until := time.Now().Add(longest); step.enough > 0; {
			err := r.Wait(int64(longest), func(ud uint64, res int32, flags uint32, data []byte) {
				switch {
				case step.expects(ud, res, flags, data):
					step.enough--
				case res < 0:
					problem = fmt.Errorf("%s: %w", step.what, explain(unix.Errno(-res)))
				default:
					problem = fmt.Errorf("%s: result %d, flags %#x of operation %d", step.what, res, flags, ud)
				}
			})
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", step.what, err)
			case problem != nil:
				return problem
			case step.enough > 0 && time.Now().After(until):
				return fmt.Errorf("%s: nothing happened within %v", step.what, longest)
			}
		}
	}
	return nil
}
