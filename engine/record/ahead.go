package record

import "iter"

// Runs reads the run.json of each run as Kept does, in order, without its samples. The error is of listing them.
func (s *Set) Runs() iter.Seq2[*Run, error] {
	return Ahead(s, func(id string) (*Run, error) { return s.Kept(id), nil })
}

// All reads each run with everything that was recorded of it, in order; only as many as there are CPUs are held at a time.
func (s *Set) All() iter.Seq2[*Data, error] {
	return Ahead(s, s.Data)
}

// Ahead reads each run in its turn, and with the other CPUs those that come next.
func Ahead[T any](s *Set, read func(id string) (*T, error)) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		ids, err := s.RunIDs()
		if err != nil {
			yield(nil, err)
			return
		}
		type result struct {
			v   *T
			err error
		}
		for r := range inOrder(len(ids), func(i int) result { v, err := read(ids[i]); return result{v, err} }) {
			if !yield(r.v, r.err) {
				return
			}
		}
	}
}
