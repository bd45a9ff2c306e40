package load

// A protocol speaks HTTP on one established connection. It writes by conn.send and conn.write, and gives each request back
// once: by conn.answered, conn.failed or conn.refused, all of them by conn.fail, or by orphans.
type protocol interface {
	// open begins to speak; conn.established is to be called once requests may be sent.
	open()
	// limit is how many requests may be in flight.
	limit() int
	// send writes a request.
	send(r *request)
	// feed takes bytes that arrived. It goes on only as long as conn.gen stays the same.
	feed(b []byte)
	// completes tells whether the end of the input completes the answer that is being read, and gives it back if it does.
	completes() bool
	// cancel forgets a request that has got its outcome; false if that leaves the connection unusable.
	cancel(r *request) bool
	// orphans forgets and gives all requests in flight, because the connection has ended. The slice is valid until the next send.
	orphans() []*request
}
