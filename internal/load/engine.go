package load

// An engine moves requests over connections: the hot path. It decides nothing about when requests are due or what their
// outcomes mean to the books, so that another one (io_uring, HTTP/2) can take its place. All times are on the loop's
// clock. Every method is called from the loop's goroutine but wake.
type engine interface {
	// open dials a free connection that is not connected yet, without a request; the sink hears opened. False if there is
	// none.
	open() bool
	// free is how many connections could take a request: idle, or not connected (a request then waits for the dial).
	free() int
	// send takes a free connection for the request. Its outcome comes to the sink, possibly before send returns.
	send(r request)
	// wait handles what happens until a time, returning early after anything happened.
	wait(until int64)
	// idle is when the engine last had nothing to do.
	idle() int64
	// tick is called once a second.
	tick()
	// expire ends every request that is in flight with the outcome.
	expire(o outcome)
	// state counts open connections and requests in flight.
	state() (open, inFlight int)
	// wake makes a wait in progress return.
	wake()
	// close closes all connections and gives everything back.
	close()
}

// A sink hears what became of the requests and connections of an engine.
type sink interface {
	sent(r *request, bytes int)
	received(at int64, bytes int)
	retried(at int64)
	finished(r *request, o outcome)
	freed()                          // a connection became free
	opened(at int64, o outcome)      // the end of a dial without a request; an outcome with a class is a failure
	connected(at, took int64)        // of every connection
	secured(at, took int64, re bool) // of every TLS handshake; re: resumed
	noted(text string)               // something to tell that is no request's outcome
}
