package load

// A link makes something an entry of a queue of deadlines.
type link[T any] struct {
	deadline   int64
	in         *queue[T]
	prev, next *link[T]
	of         T
}

// A queue is a list in the order of deadlines. That is nearly the order of pushing, because all entries of one queue have the
// same time limit.
type queue[T any] struct{ first, last *link[T] }

func (q *queue[T]) push(l *link[T], deadline int64) {
	before := q.last
	for before != nil && before.deadline > deadline {
		before = before.prev
	}
	l.deadline, l.in, l.prev = deadline, q, before
	if before == nil {
		l.next, q.first = q.first, l
	} else {
		l.next, before.next = before.next, l
	}
	if l.next == nil {
		q.last = l
	} else {
		l.next.prev = l
	}
}

// next is the deadline of the first entry; never if there is none.
func (q *queue[T]) next() int64 {
	if q.first == nil {
		return never
	}
	return q.first.deadline
}

// leave takes the entry out of the queue in which it is, if it is in one.
func (l *link[T]) leave() {
	q := l.in
	if q == nil {
		return
	}
	if l.prev == nil {
		q.first = l.next
	} else {
		l.prev.next = l.next
	}
	if l.next == nil {
		q.last = l.prev
	} else {
		l.next.prev = l.prev
	}
	l.in, l.prev, l.next = nil, nil, nil
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
