package engine

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// asking is a marker that asks a server.
func asking(t *testing.T, serve http.HandlerFunc) *marker {
	s := httptest.NewServer(serve)
	t.Cleanup(s.Close)
	return &marker{host: "change-1.planrun.test", path: "/", endpoint: s.URL, patience: 10 * time.Millisecond, backend: "web",
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, direct: answer{status: 200}, before: answer{status: 404}}
}

// Connections on which nothing is answered, as of a process that ends, do not hide that others are served.
func TestAsksAgainOnANewConnection(t *testing.T) {
	var asks atomic.Int32
	end := make(chan struct{})
	m := asking(t, func(w http.ResponseWriter, r *http.Request) {
		if n := asks.Add(1); n%2 == 1 && n < 8 {
			select {
			case <-end:
			case <-r.Context().Done():
			}
		}
	})
	defer close(end)
	at, why := m.await(t.Context(), time.Minute, false, nil, nil)
	if why != "" || at.IsZero() || asks.Load() < 6 {
		t.Errorf("not served after %d asks: %s", asks.Load(), why)
	}
}

// A target that gives no answer is not one that answers every host alike.
func TestNoAnswerIsNoAnswer(t *testing.T) {
	end := make(chan struct{})
	m := asking(t, func(http.ResponseWriter, *http.Request) { <-end })
	defer close(end)
	if _, why := m.await(t.Context(), 50*time.Millisecond, false, nil, nil); !strings.HasPrefix(why, "not within 50ms; when last asked it gave no answer within ") {
		t.Errorf("says %q", why)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := m.answered(ctx, m.endpoint); err != errNoAnswer {
		t.Errorf("error %v", err)
	}
	if _, why := m.await(ctx, time.Minute, false, nil, nil); !strings.HasPrefix(why, "its phase ended ") {
		t.Errorf("says %q", why)
	}
}

// A connection that is refused is an answer: a target may treat a host without a route so.
func TestRefusedIsAnAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := asking(t, nil)
	m.patience = mostPatience
	where := "http://" + l.Addr().String()
	l.Close()
	if a, err := m.answered(t.Context(), where); err != nil || a != (answer{}) || !strings.HasPrefix(m.last, "it broke off or refused") {
		t.Errorf("%v, %v, %q", a, err, m.last)
	}
}
