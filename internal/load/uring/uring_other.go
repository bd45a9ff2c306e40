//go:build !linux || !(amd64 || arm64)

package uring

import (
	"errors"
	"fmt"
	"runtime"
)

// A Ring cannot be had here.
type Ring struct{}

// An Address cannot be had here.
type Address struct{}

var errNotAvailable = fmt.Errorf("io_uring is not available on %s/%s: %w", runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)

// Open says that io_uring is not available.
func Open(Config) (*Ring, error) { return nil, errNotAvailable }

// Probe says that io_uring is not available.
func Probe() error { return errNotAvailable }

// NewAddress says that io_uring is not available.
func NewAddress(any) (*Address, error) { return nil, errNotAvailable }

// The methods let callers compile; there is no Ring to call them on.

func (r *Ring) Send(fd int, b []byte, ud uint64)       {}
func (r *Ring) SendStatic(fd int, b []byte, ud uint64) {}
func (r *Ring) RecvMultishot(fd int, ud uint64)        {}
func (r *Ring) Recv(fd int, ud uint64)                 {}
func (r *Ring) RecvDiscard(fd, n int, ud uint64)       {}
func (r *Ring) Cancel(target, ud uint64)               {}
func (r *Ring) CancelFD(fd int, ud uint64)             {}
func (r *Ring) CloseFD(fd int, ud uint64)              {}
func (r *Ring) Connect(fd int, a *Address, ud uint64)  {}
func (r *Ring) Wake()                                  {}
func (r *Ring) Queued() int                            { return 0 }
func (r *Ring) Submit() error                          { return errNotAvailable }
func (r *Ring) Close()                                 {}
func (r *Ring) Wait(timeoutNs int64, handle func(ud uint64, res int32, flags uint32, data []byte)) error {
	return errNotAvailable
}
