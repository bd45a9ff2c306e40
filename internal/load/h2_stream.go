package load

// A stream is a request's part of an HTTP/2 connection.
type stream struct {
	id       uint32
	headed   bool  // the final status has come
	bodyless bool  // the answer has no body, whatever it says of its length
	interim  int   // 1xx answers before the final one
	left     int64 // of the answer's body by its content-length; -1 if it has none
	taken    int   // bytes of DATA since the last WINDOW_UPDATE

	uploaded int   // bytes of the request's body that were written
	window   int64 // of the server for it; below 0 if the server took some back
}

// streams are the requests in flight on a connection by their ids. Ids follow each other, so a table of twice their number in
// which a place that is taken is passed over hardly ever has one.
type streams struct {
	slots []*request // the length is a power of two
	n     int
}

// find gives nil if no request has the id.
func (t *streams) find(id uint32) *request {
	if t.n == 0 {
		return nil
	}
	mask := len(t.slots) - 1
	for i := int(id >> 1); ; i++ {
		if r := t.slots[i&mask]; r == nil || r.h2.id == id {
			return r
		}
	}
}

func (t *streams) add(r *request) {
	if 2*(t.n+1) > len(t.slots) {
		old := t.slots
		t.slots = make([]*request, max(8, 2*len(old)))
		for _, o := range old {
			if o != nil {
				t.put(o)
			}
		}
	}
	t.put(r)
	t.n++
}

func (t *streams) put(r *request) {
	mask := len(t.slots) - 1
	i := int(r.h2.id>>1) & mask
	for t.slots[i] != nil {
		i = (i + 1) & mask
	}
	t.slots[i] = r
}

// remove takes out a request that is in the table, and moves those that were put behind it because of it.
func (t *streams) remove(r *request) {
	mask := len(t.slots) - 1
	i := int(r.h2.id>>1) & mask
	for t.slots[i] != r {
		i = (i + 1) & mask
	}
	t.slots[i] = nil
	t.n--
	for j := (i + 1) & mask; t.slots[j] != nil; j = (j + 1) & mask {
		home := int(t.slots[j].h2.id>>1) & mask
		if (j-home)&mask >= (j-i)&mask {
			t.slots[i], t.slots[j] = t.slots[j], nil
			i = j
		}
	}
}
