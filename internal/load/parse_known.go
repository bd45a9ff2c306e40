package load

// A knownHead is the head of a response as it was last read on any connection of a pool, and what it said. A server's
// answers to the same request begin with the same bytes for as long as its clock shows the same second, and what they say
// follows from these bytes and the method alone.
type knownHead struct {
	bytes   []byte
	head    bool // the method was HEAD
	state   int
	left    int64
	status  int
	keep    bool
	by      []byte
	byGiven bool
}

// maxKnown bounds the length of a head that is remembered.
const maxKnown = 2 << 10

// recall does what parseHead would do if b begins with the known head, and gives what follows it.
func (p *parser) recall(b []byte) (rest []byte, ok bool) {
	k := p.known
	if k == nil || len(p.part) > 0 || len(k.bytes) == 0 || len(b) < len(k.bytes) || k.head != p.head || string(b[:len(k.bytes)]) != string(k.bytes) {
		return b, false
	}
	p.state, p.left, p.status, p.keep = k.state, k.left, k.status, k.keep
	if k.byGiven {
		p.req.answeredBy(k.by)
	}
	return b[len(k.bytes):], true
}

// remember keeps a head that was read.
func (p *parser) remember(head []byte) {
	k := p.known
	if k == nil || len(head) > maxKnown || p.state == inHead {
		return
	}
	k.bytes = append(k.bytes[:0], head...)
	k.head, k.state, k.left, k.status, k.keep = p.head, p.state, p.left, p.status, p.keep
	k.by, k.byGiven = append(k.by[:0], p.req.by...), p.req.byGiven
}
