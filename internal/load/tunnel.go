package load

import (
	"bytes"
	"fmt"
)

// tunnelled takes a forward proxy's answer to CONNECT (RFC 9110, section 9.3.6): after a 2xx, which has no body, the
// connection is one to the target.
func (c *conn) tunnelled(b []byte) {
	c.tunnel = append(c.tunnel, b...)
	for {
		i := bytes.Index(c.tunnel, []byte("\r\n\r\n"))
		if i < 0 {
			if len(c.tunnel) > maxHead {
				c.dialFailed(Connect, fmt.Sprintf("the proxy's answer to CONNECT is longer than %d bytes", maxHead))
			}
			return
		}
		i += len("\r\n\r\n")
		p := parser{head: true}
		if err := p.parseHead(c.tunnel[:i]); err != nil {
			c.dialFailed(Connect, fmt.Sprintf("the proxy's answer to CONNECT: %v", err))
			return
		}
		rest := c.tunnel[i:]
		if p.status == 0 { // an interim answer
			c.tunnel = append(c.tunnel[:0], rest...)
			continue
		}
		if p.status > 299 {
			c.dialFailed(Connect, fmt.Sprintf("the proxy answered CONNECT with status %d", p.status))
			return
		}
		c.tunnel = nil
		gen := c.gen
		c.through()
		if c.gen == gen && len(rest) > 0 {
			c.arrived(rest)
		}
		return
	}
}
