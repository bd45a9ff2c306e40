package load

// maxKeys bounds the number of texts that are counted apart.
const maxKeys = 256

// count counts a text; beyond maxKeys of them as "(other)".
func count(m *map[string]int64, key string) {
	if *m == nil {
		*m = map[string]int64{}
	}
	if _, known := (*m)[key]; !known && len(*m) >= maxKeys {
		key = "(other)"
	}
	(*m)[key]++
}

// A tally counts answers by the value of a header, as Counts.By has it. Counting a value that is known allocates nothing.
type tally struct {
	values      map[string]*int64
	none, other int64
}

func (t *tally) count(value []byte, given bool) {
	if !given {
		t.none++
		return
	}
	if n := t.values[string(value)]; n != nil {
		*n++
		return
	}
	if len(t.values) >= maxKeys {
		t.other++
		return
	}
	if t.values == nil {
		t.values = map[string]*int64{}
	}
	n := int64(1)
	t.values[string(value)] = &n
}

// take gives what was counted and begins anew; nil if nothing was.
func (t *tally) take() map[string]int64 {
	if t.none == 0 && t.other == 0 && len(t.values) == 0 {
		return nil
	}
	by := make(map[string]int64, len(t.values)+2)
	for value, n := range t.values {
		by[value] = *n
	}
	if t.none > 0 {
		by["(none)"] += t.none
	}
	if t.other > 0 {
		by["(other)"] += t.other
	}
	*t = tally{}
	return by
}
