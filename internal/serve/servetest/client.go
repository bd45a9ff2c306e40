package servetest

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
)

// A Client speaks one protocol and knows how many connections it made: net/http makes another one where it had no CPU for a
// moment when an answer came.
type Client struct {
	http.Client
	Dialled atomic.Int64
}

// NewClient makes a client of h1, h2 or h2c that takes any certificate; its connections end with the test.
func NewClient(t testing.TB, protocol string) *Client {
	c, p := &Client{}, new(http.Protocols)
	p.SetHTTP1(protocol == "h1")
	p.SetHTTP2(protocol == "h2")
	p.SetUnencryptedHTTP2(protocol == "h2c")
	transport := &http.Transport{
		Protocols: p, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableCompression: true, ExpectContinueTimeout: Patience,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c.Dialled.Add(1)
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	c.Transport, c.Timeout = transport, 2*Patience
	return c
}
