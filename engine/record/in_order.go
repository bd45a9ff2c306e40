package record

import (
	"iter"
	"runtime"
	"sync"
)

// inOrder does something for each of n, several at once, and gives what came of it in order. At most as many are begun
// ahead of the one that is taken next as there are CPUs.
func inOrder[T any](n int, do func(i int) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		var begun []chan T // from the next one on
		var wg sync.WaitGroup
		defer wg.Wait()
		for i := range n {
			for next := i + len(begun); len(begun) < runtime.GOMAXPROCS(0) && next < n; next++ {
				c := make(chan T, 1)
				begun = append(begun, c)
				wg.Go(func() { c <- do(next) })
			}
			v := <-begun[0]
			begun = begun[1:]
			if !yield(v) {
				return
			}
		}
	}
}
