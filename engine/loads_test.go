package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planrun/planrun/internal/load"
)

// What the workers of a load said together is what the record keeps.
func TestReadyOfSeveralWorkers(t *testing.T) {
	var sum load.Ready
	for _, r := range []load.Ready{
		{Connections: 3, Verified: 1, Wire: "io_uring", StreamLimit: 128},
		{Connections: 2, Verified: 1, Wire: "epoll", WireNote: "io_uring is not allowed", StreamLimit: 8, Problem: "status 500", Shortage: "ports"},
		{Connections: 2, Wire: "io_uring", Problem: "status 404", Refused: "refused"},
	} {
		addReady(&sum, r)
	}
	want := load.Ready{Connections: 7, Verified: 2, Problem: "status 500", Shortage: "ports", Refused: "refused", Wire: "epoll", WireNote: "io_uring is not allowed", StreamLimit: 8}
	if diff := cmp.Diff(want, sum); diff != "" {
		t.Error(diff)
	}
}

func TestReadyWithin(t *testing.T) {
	for _, c := range []struct {
		spec load.Spec
		want time.Duration
	}{
		{load.Spec{Connections: 1000, Timeout: 10 * time.Second}, 40 * time.Second},
		{load.Spec{Connections: 1000, Timeout: 10 * time.Second, ConnectRate: 5}, 240 * time.Second},
		{load.Spec{Connections: 1, Timeout: time.Second, ConnectRate: 0.5}, 33 * time.Second},
	} {
		if got := readyWithin(c.spec); got != c.want {
			t.Errorf("%+v: %v, want %v", c.spec, got, c.want)
		}
	}
}
