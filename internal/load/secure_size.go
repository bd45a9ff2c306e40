package load

// A shakeSize is how many bytes of TLS a handshake took in each direction: all records from the ClientHello to the Finished
// of both sides. Session tickets of TLS 1.3 follow it and are no part of it.
type shakeSize struct{ in, out int }

// records hands out what arrives in a handshake record by record. crypto/tls takes more than it asked for if it gets more;
// of a record that follows the last one of the handshake it could not be told whether it was read for it.
type records struct {
	header [5]byte
	have   int // bytes of the header that were handed out
	rest   int // bytes of the record that follow
}

// next is how many bytes of in, which is not empty, are handed out to a reader that wants at most n > 0: no more than the
// header, or what is left of the record.
func (r *records) next(in []byte, n int) int {
	if r.rest > 0 {
		n = min(n, len(in), r.rest)
		r.rest -= n
		return n
	}
	n = copy(r.header[r.have:], in[:min(n, len(in))])
	if r.have += n; r.have == len(r.header) {
		r.have, r.rest = 0, int(r.header[3])<<8|int(r.header[4])
	}
	return n
}
