package origin

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

// web is the net/http server of a listener: for TLS, or for connections that speak HTTP/2 from their first byte.
func (s *Server) web(l *listener, secure *tls.Config) *http.Server {
	protocols := new(http.Protocols)
	if l.name == "https" {
		protocols.SetHTTP1(true)
		protocols.SetHTTP2(true)
	} else {
		secure = nil
		protocols.SetUnencryptedHTTP2(true)
	}
	return &http.Server{
		Handler:        &handler{s, l},
		Protocols:      protocols,
		TLSConfig:      secure,
		HTTP2:          &http.HTTP2Config{MaxConcurrentStreams: 1000},
		MaxHeaderBytes: MaxHead,
		IdleTimeout:    s.spec.IdleTimeout,
		ConnState:      s.fresh.Watch,
		ErrorLog:       log.New(io.Discard, "", 0), // clients that leave are no news; samples count what matters
	}
}

type handler struct {
	s *Server
	l *listener
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	count := &h.l.counters.shard[0]
	length, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	route := routeOf([]byte(r.URL.EscapedPath()))
	count.got(route.class)
	header := w.Header()
	header["Content-Type"] = []string{"text/plain"}
	if h.s.servedBy.Load() {
		header["X-Served-By"] = []string{h.s.spec.Name}
	}
	code := 200
	switch route.class {
	case small:
		err = answerWith(w, code, Small)
	case upload:
		err = answerWith(w, code, strconv.FormatInt(length, 10)+"\n")
	case other:
		code = 404
		err = answerWith(w, code, text(code))
	case status:
		code = int(route.n)
		err = answerWith(w, code, text(code))
	case delayed:
		if !h.s.sleep(time.Duration(route.n)) {
			panic(http.ErrAbortHandler)
		}
		err = answerWith(w, code, Small)
	case hundred:
		err = stream(w, r, 100<<10, 100<<10)
	case sized:
		err = stream(w, r, route.n, route.n)
	case pieces:
		err = stream(w, r, route.n, inChunks)
	case resets:
		stream(w, r, route.n, route.n+chunk)
		resetStream(w, r)
		return
	case stalled:
		select {
		case <-r.Context().Done():
		case <-h.s.drain:
		}
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	count.sent(route.class, code)
}

func answerWith(w http.ResponseWriter, code int, body string) error {
	if body == "" {
		w.Header().Del("Content-Type")
	} else {
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	w.WriteHeader(code)
	_, err := io.WriteString(w, body)
	return ignoreNoBody(err)
}

// stream writes n bytes of an answer that announces length.
func stream(w http.ResponseWriter, r *http.Request, n, length int64) error {
	if length >= 0 {
		w.Header()["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	w.WriteHeader(200)
	size := int64(len(block))
	if length == inChunks {
		if err := http.NewResponseController(w).Flush(); err != nil {
			return err
		}
		size = chunk
	}
	for n > 0 && r.Method != http.MethodHead {
		part := min(n, size)
		if _, err := w.Write(block[:part]); err != nil {
			return ignoreNoBody(err)
		}
		n -= part
	}
	return nil
}

// ignoreNoBody passes over what net/http says of a body where none may be.
func ignoreNoBody(err error) error {
	if errors.Is(err, http.ErrBodyNotAllowed) {
		return nil
	}
	return err
}

// resetStream ends the stream in HTTP/2, and else the connection, with a reset.
func resetStream(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	control.Flush()
	if r.ProtoMajor == 1 {
		if c, _, err := control.Hijack(); err == nil {
			if secure, ok := c.(*tls.Conn); ok {
				if t, ok := secure.NetConn().(*tracked); ok {
					reset(t.Conn.(*net.TCPConn))
					t.Close()
					return
				}
			}
			c.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}
