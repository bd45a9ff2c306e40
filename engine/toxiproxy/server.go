package toxiproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	client "github.com/Shopify/toxiproxy/v2/client"
)

// Within is how long a request may take.
const Within = 10 * time.Second

// A Server is a Toxiproxy server that runs.
type Server struct {
	address string // host:port of its API
	api     *client.Client
}

// At is the server whose API is at an address, host:port. Nothing is asked of it yet.
func At(address string) *Server { return &Server{address, client.NewClient(address)} }

// ask does a request, for as long as it may take. One that is still not answered then goes on by itself and is forgotten.
func ask[T any](ctx context.Context, s *Server, what string, request func() (T, error)) (out T, err error) {
	type answer struct {
		value T
		err   error
	}
	ctx, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	got := make(chan answer, 1)
	go func() {
		v, err := request()
		got <- answer{v, err}
	}()
	select {
	case a := <-got:
		if a.err != nil {
			return out, fmt.Errorf("the Toxiproxy server at %s: %s: %w", s.address, what, a.err)
		}
		return a.value, nil
	case <-ctx.Done():
		return out, fmt.Errorf("the Toxiproxy server at %s: %s: no answer: %w", s.address, what, ctx.Err())
	}
}

// Version is what the server calls itself.
func (s *Server) Version(ctx context.Context) (string, error) {
	b, err := ask(ctx, s, "asking its version", s.api.Version)
	if err != nil {
		return "", err
	}
	var v struct{ Version string }
	if err := json.Unmarshal(b, &v); err != nil || v.Version == "" {
		return "", fmt.Errorf("at %s is no Toxiproxy server: it does not tell its version", s.address)
	}
	return v.Version, nil
}

// Make makes a proxy that listens on any port of the address at which the server itself was reached, and says which. An
// upstream that cannot be reached is found out by the first connection.
func (s *Server) Make(ctx context.Context, name, upstream string) (listen string, err error) {
	host, _, err := net.SplitHostPort(s.address)
	if err != nil {
		return "", err
	}
	p, err := ask(ctx, s, "making the proxy "+name, func() (*client.Proxy, error) { return s.api.CreateProxy(name, net.JoinHostPort(host, "0"), upstream) })
	if err != nil {
		return "", err
	}
	return p.Listen, nil
}

// Delete takes a proxy away, with its toxics and connections. It is no error if there is none.
func (s *Server) Delete(ctx context.Context, name string) error {
	_, err := ask(ctx, s, "deleting the proxy "+name, func() (struct{}, error) {
		p := s.api.NewProxy()
		p.Name = name
		return struct{}{}, p.Delete()
	})
	if isNone(err) {
		return nil
	}
	return err
}

// Add puts a toxic in force on a proxy.
func (s *Server) Add(ctx context.Context, proxy string, t Toxic) error {
	_, err := ask(ctx, s, "adding the toxic "+t.Name, func() (*client.Toxic, error) {
		p := s.api.NewProxy()
		p.Name = proxy
		return p.AddToxic(t.Name, t.Type, t.Stream, float32(t.Share), t.Attributes)
	})
	return err
}

// Remove takes a toxic from a proxy. It reports whether the proxy still had it.
func (s *Server) Remove(ctx context.Context, proxy, toxic string) (had bool, err error) {
	_, err = ask(ctx, s, "removing the toxic "+toxic, func() (struct{}, error) {
		p := s.api.NewProxy()
		p.Name = proxy
		return struct{}{}, p.RemoveToxic(toxic)
	})
	if isNone(err) {
		return false, nil
	}
	return err == nil, err
}

// isNone reports whether an error says that there is no such proxy or toxic.
func isNone(err error) bool {
	var api *client.ApiError
	return errors.As(err, &api) && api.Status == http.StatusNotFound
}

// isGone reports whether an error says that nobody listens: what a server had is gone with it.
func isGone(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
