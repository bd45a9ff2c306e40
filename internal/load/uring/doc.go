// Package uring does socket operations through Linux's io_uring: many sends, receives and connects for one system call.
//
// It speaks to the kernel by raw system calls, in these steps:
//
//  1. [Open] makes a [Ring]: a submission queue, a completion queue, a ring of receive buffers that the kernel picks from,
//     and an eventfd by which other threads wake it.
//  2. [Ring.SendStatic], [Ring.RecvMultishot] and the other operations only write an entry into the submission queue. If it
//     is full, it is submitted first.
//  3. [Ring.Wait] submits what was queued and waits for completions in the same system call, then calls a function for each
//     completion. The user data given with the operation says which one it was.
//  4. [Ring.Close] cancels what is under way and gives everything back.
//
// # One thread
//
// A ring belongs to the thread that opened it (the kernel is told so, and does all its work inside Wait). Open locks the
// goroutine to its thread and Close unlocks it. Every method but [Ring.Wake] must be called from that goroutine; the function
// that Wait calls may queue operations but not call Wait or Close.
//
// # Memory
//
// The kernel reads the bytes of a send after the method returned: until its completion, or, after [Ring.SendStatic], until
// the socket is closed or the peer has shown that it has them. Until then the caller keeps the bytes reachable by the garbage
// collector, and unchanged. Go does not move what is on the heap, and the operations make what they are given escape to it,
// so bytes on a stack are no trap. The bytes of a receive are the ring's own, outside Go's heap, and are only lent out.
//
// # Receiving
//
// A multishot receive completes once for each piece of data that arrives, without being queued again. It has ended when the
// flag [More] is missing, whatever else the completion says; it then may carry data all the same:
//
//   - result > 0: data, and the completion queue was full, or the kernel wanted to let others go first. Queue it again.
//   - -ENOBUFS: data is waiting and all buffers were in use. Queue it again: the buffers are back when Wait submits next.
//     Each costs a round, and with many sockets waiting for few buffers nearly all of them do: have enough.
//   - 0: the peer ended its side.
//   - -ECANCELED: a Cancel did it.
//   - another error: the connection is broken.
//
// Unix sockets are the exception: kernels from 6.17 on may never report the end of the stream to a multishot receive if data
// came right before it (https://github.com/axboe/liburing/issues/1549; what is said to mend it does not in all cases). [Ring.Recv]
// sees it, and so does everything on TCP.
//
// Completions of one socket come in the order of its bytes as long as one receive of it is under way. The kernel hands out
// buffers in turn, so all of them pass through the processor's cache: not many more of them than receives at a time, and not
// much larger than what arrives.
//
// # Sending
//
// Two sends under way on one socket may be reordered when its buffer is full: the first waits for room while the second is
// tried. Queue the second after the first has completed, or after the peer has answered it.
//
// # Closing a socket
//
// An operation under way keeps its socket open: after only close(2) or [Ring.CloseFD] the peer sees no end. Queue
// [Ring.CancelFD] first, or shut the socket down. The number of the descriptor is used again at once, so a completion of the
// old socket may come after operations on the new one: tell them apart by the user data.
package uring
