//go:build linux && (amd64 || arm64)

package uring

import "golang.org/x/sys/unix"

// RecvDiscard receives up to n bytes, 1 to 1 GiB, and throws them away in the kernel, without copying them (MSG_TRUNC,
// tcp(7)). It completes like Recv, with how many arrived. (With MSG_WAITALL the kernel would begin anew with all n bytes
// after a part of them, because nothing was copied.)
func (r *Ring) RecvDiscard(fd int, n int, ud uint64) {
	r.simple(head(opRecv, 0, 0, fd), 0, uint64(uint32(n))|unix.MSG_TRUNC<<32, ud)
}
