//go:build linux && (amd64 || arm64)

package uring

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestTimeout(t *testing.T) {
	r := ring(t, Config{})
	unexpected := func(ud uint64, res int32, flags uint32, data []byte) { t.Errorf("completion of %d: %d", ud, res) }
	for _, d := range []time.Duration{1, time.Microsecond, 3 * time.Millisecond, 10 * time.Millisecond, 15 * time.Millisecond} {
		waited := false
		for range 1000 { // a signal may end a wait early
			start := time.Now()
			if err := r.Wait(int64(d), unexpected); err != nil {
				t.Fatal(err)
			}
			if waited = time.Since(start) >= d; waited {
				break
			}
		}
		if !waited {
			t.Errorf("never waited for %v", d)
		}
		if got := time.Duration(r.timeout.sec)*time.Second + time.Duration(r.timeout.nsec); got != d {
			t.Errorf("told the kernel to wait for %v instead of %v", got, d)
		}
	}
	for range 1000 {
		if err := r.Wait(0, unexpected); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWaitingWithoutASystemCallSeesData(t *testing.T) {
	r := ring(t, Config{})
	fd, peer := pair(t)
	r.RecvMultishot(fd, 1)
	var got string
	for i := range 100 {
		want := string(pattern(1, i, 10))
		go func() { _, _ = peer.Write([]byte(want)) }()
		got = ""
		for end := time.Now().Add(longest); got != want; {
			if err := r.Wait(0, func(_ uint64, _ int32, _ uint32, data []byte) { got += string(data) }); err != nil {
				t.Fatal(err)
			}
			if time.Now().After(end) {
				t.Fatalf("got %q of %q", got, want)
			}
		}
	}
}

func TestWake(t *testing.T) {
	r := ring(t, Config{})
	const wakers, times = 4, 2000
	var told, seen atomic.Int64
	var wakes sync.WaitGroup
	for range wakers {
		wakes.Go(func() {
			for range times {
				told.Add(1)
				r.Wake()
			}
		})
	}
	for seen.Load() != wakers*times {
		// For ever: a wake-up that is lost is seen by the test not ending.
		err := r.Wait(-1, func(ud uint64, res int32, flags uint32, data []byte) {
			if ud != Woken || res != 0 || flags != 0 || data != nil {
				t.Errorf("completion of %d: %d, %#x", ud, res, flags)
			}
			seen.Store(told.Load())
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	wakes.Wait()
	r.Close()
	r.Wake()
}

func TestWakeAgain(t *testing.T) {
	// With a full completion queue, the kernel ends the poll with each wake-up.
	for _, c := range []Config{{}, {Entries: 1, Completions: 1}} {
		r := ring(t, c)
		for range 20 {
			const failing = 3
			for range failing {
				r.CloseFD(1<<30, 1)
			}
			r.Wake()
			closes, wakes := 0, 0
			until(t, r, func() bool { return closes == failing && wakes > 0 }, func(c completion) {
				if c.ud == Woken {
					wakes++
				} else {
					closes++
				}
			})
		}
		r.Close()
	}
}

func TestWakeDuringClose(t *testing.T) {
	for range 20 {
		r := ring(t, Config{Entries: 1, Buffers: 1})
		var wakes sync.WaitGroup
		wakes.Go(func() {
			for range 100 {
				r.Wake()
				r.woken.Store(0) // write each time
			}
		})
		r.Close()
		wakes.Wait()
	}
}

// A wait that the scheduler does not know of must not hold up a collection.
func TestCollectionDuringWait(t *testing.T) {
	r := ring(t, Config{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20 {
			runtime.GC()
		}
	}()
	for end := time.Now().Add(longest); ; {
		select {
		case <-done:
			return
		default:
		}
		if time.Now().After(end) {
			t.Fatal("the collections do not end")
		}
		if err := r.Wait(rawWait, func(uint64, int32, uint32, []byte) {}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAllocations(t *testing.T) {
	r := ring(t, Config{})
	fd, peer := pair(t)
	echo(peer)
	message := []byte("hello")
	got := 0
	handle := func(ud uint64, res int32, flags uint32, data []byte) { got += len(data) }
	r.RecvMultishot(fd, 1)
	n := testing.AllocsPerRun(100, func() {
		got = 0
		r.SendStatic(fd, message, 2)
		for got < len(message) {
			if err := r.Wait(int64(time.Millisecond), handle); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for a message", n)
	}
}
