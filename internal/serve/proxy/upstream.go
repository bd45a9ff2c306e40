package proxy

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"time"

	"github.com/planrun/planrun/internal/serve/listen"
)

// An upstream is an address that requests go to, with connections of its own.
type upstream struct {
	address   string
	counts    listen.Counts
	requests  atomic.Int64
	errors    atomic.Int64
	transport *http.Transport
	proxy     *httputil.ReverseProxy
}

// asTheyCame are the fields that ReverseProxy takes from a request before it is rewritten.
var asTheyCame = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

func (s *Server) newUpstream(address string) *upstream {
	u := &upstream{address: address}
	dialer := &net.Dialer{Timeout: s.spec.DialTimeout}
	u.transport = &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return u.counts.Track(c), nil
		},
		MaxIdleConnsPerHost:   s.spec.Idle,
		IdleConnTimeout:       90 * time.Second,
		DisableCompression:    true,
		ResponseHeaderTimeout: s.spec.Timeout,
	}
	u.proxy = &httputil.ReverseProxy{
		Transport:  u.transport,
		BufferPool: buffers{},
		ErrorLog:   log.New(io.Discard, "", 0), // counted instead
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme = "http"
			r.Out.URL.Host = address
			r.Out.URL.RawQuery = r.In.URL.RawQuery // also what ReverseProxy finds malformed
			for _, name := range asTheyCame {
				if values, ok := r.In.Header[name]; ok {
					r.Out.Header[name] = values
				}
			}
		},
		ModifyResponse: func(r *http.Response) error {
			s.answeredWith(r.StatusCode)
			if r.StatusCode != http.StatusSwitchingProtocols {
				r.Body = &body{r.Body, r.Request.Context(), s, u}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() != nil {
				panic(http.ErrAbortHandler)
			}
			u.errors.Add(1)
			code := http.StatusBadGateway
			if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
				code = http.StatusGatewayTimeout
			}
			s.answeredWith(code)
			http.Error(w, http.StatusText(code), code)
		},
	}
	return u
}

// A body notices that the upstream broke off its answer.
type body struct {
	io.ReadCloser
	ctx context.Context
	s   *Server
	u   *upstream
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && b.ctx.Err() == nil {
		b.u.errors.Add(1)
		b.s.broken.Add(1)
	}
	return n, err
}

// sample reads the counters.
func (u *upstream) sample() Upstream {
	return Upstream{
		Requests: u.requests.Load(), Errors: u.errors.Load(),
		Opened: u.counts.Opened.Load(), Live: u.counts.Live.Load(),
		BytesIn: u.counts.BytesIn.Load(), BytesOut: u.counts.BytesOut.Load(),
	}
}

// buffers are what bodies are copied through.
type buffers struct{}

const bufferSize = 32 << 10

var bufferPool = sync.Pool{New: func() any { return new([bufferSize]byte) }}

func (buffers) Get() []byte { return bufferPool.Get().(*[bufferSize]byte)[:] }

func (buffers) Put(b []byte) { bufferPool.Put((*[bufferSize]byte)(b)) }
