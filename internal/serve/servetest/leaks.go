// Package servetest is what the tests of planrun's own servers share: peers for a server, waiting for what must come, and
// seeing that a server leaves nothing behind.
package servetest

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Patience is how long what must come may take, or what was ended to be gone. A test that passes does not wait for it.
const Patience = 30 * time.Second

// CheckLeaks notes how many goroutines and sockets there are, and fails the test if there are more after it and all
// clean-up that the test registers later. Tests that use it cannot run in parallel.
func CheckLeaks(t testing.TB) {
	t.Helper()
	goroutines, sockets := runtime.NumGoroutine(), count(t)
	t.Cleanup(func() {
		t.Helper()
		for end := time.Now().Add(Patience); ; time.Sleep(5 * time.Millisecond) {
			g, d := runtime.NumGoroutine(), count(t)
			if g <= goroutines && d <= sockets {
				return
			}
			if time.Now().After(end) {
				stacks := make([]byte, 1<<20)
				t.Fatalf("%d goroutines and %d sockets, before the test %d and %d:\n%s",
					g, d, goroutines, sockets, stacks[:runtime.Stack(stacks, true)])
			}
		}
	})
}

// count counts the sockets; the runtime keeps other descriptors (its poller, pipes for splicing).
func count(t testing.TB) int {
	const dir = "/proc/self/fd/"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if target, err := os.Readlink(dir + e.Name()); err == nil && strings.HasPrefix(target, "socket:") {
			n++
		}
	}
	return n
}

// Eventually waits until the condition holds, and fails the test if it does not within Patience.
func Eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, Patience)
		}
	}
}
