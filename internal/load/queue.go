package load

// A queue is a list of connections in the order of their deadlines, which is the order of pushing, because all entries of
// one queue have the same time limit.
type queue struct{ first, last *conn }

func (q *queue) push(c *conn, deadline int64) {
	c.deadline, c.in, c.prev, c.next = deadline, q, q.last, nil
	if q.last == nil {
		q.first = c
	} else {
		q.last.next = c
	}
	q.last = c
}

func (q *queue) remove(c *conn) {
	if c.prev == nil {
		q.first = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		q.last = c.prev
	} else {
		c.next.prev = c.prev
	}
	c.in, c.prev, c.next = nil, nil, nil
}

// A ring is a first-in-first-out queue that reuses its memory.
type ring[T any] struct {
	items       []T // the length is a power of two
	first, size int
}

func (r *ring[T]) push(v T) {
	if r.size == len(r.items) {
		items := make([]T, max(16, 2*len(r.items)))
		n := copy(items, r.items[r.first:])
		copy(items[n:], r.items[:r.first])
		r.items, r.first = items, 0
	}
	r.items[(r.first+r.size)&(len(r.items)-1)] = v
	r.size++
}

// pop takes the oldest; the ring must not be empty.
func (r *ring[T]) pop() T {
	v := r.items[r.first]
	var zero T
	r.items[r.first] = zero
	r.first = (r.first + 1) & (len(r.items) - 1)
	r.size--
	return v
}
