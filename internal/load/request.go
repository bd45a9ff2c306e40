package load

import "hash"

// A request is one request from its due time to its outcome. Times are on the clock of the loop, in ns.
type request struct {
	due     int64
	ready   int64   // when both it and a connection were there: what it was sent later than that is the generator's own lag
	sent    int64   // when its writing began for the first time; 0 before that
	retried int     // how often it was sent again
	in      *bucket // in which it was due; nil for the verification
	form    *form

	conn    *conn // that has it; nil while it waits for one
	timeout link[*request]
	began   bool      // a byte of the answer has arrived
	status  int       // of the final answer so far
	bytes   int64     // of the body so far
	hash    hash.Hash // of the body; nil if nothing is expected of it; kept for the next request
	sum     []byte    // the hash's result; kept for the next request
	by      []byte    // value of the response header Spec.By; kept for the next request
	byGiven bool
	h2      stream
}

// An outcome is what became of a request.
type outcome struct {
	at     int64  // on the clock of the loop, in ns
	class  string // of the failure; "" is an answer with status
	status int
	reason string // of the failure
}

// generatorClass is the outcome of what the generator itself could not do.
const generatorClass = "generator"

// clear prepares r for an answer from its beginning.
func (r *request) clear() {
	r.began, r.status, r.bytes, r.by, r.byGiven = false, 0, 0, r.by[:0], false
	if r.hash != nil {
		r.hash.Reset()
	}
}

// body takes a part of the answer's body.
func (r *request) body(b []byte) {
	r.bytes += int64(len(b))
	if r.hash != nil {
		r.hash.Write(b)
	}
}

// answeredBy takes the value of the header Spec.By.
func (r *request) answeredBy(value []byte) {
	r.by, r.byGiven = append(r.by[:0], value...), true
}
