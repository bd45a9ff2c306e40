package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// read passes on what the worker says, first whether its hello is right, until the session is over.
func (c *Client) read(l *lineReader, hello chan<- error) {
	err := c.readHello(l)
	hello <- err
	if err != nil {
		c.end(err)
		return
	}
	for {
		m, err := l.next()
		if err != nil {
			c.end(c.readError(err, "it ended without being told to, or before it was done"))
			return
		}
		over, err := c.dispatch(m)
		if over || err != nil {
			c.end(err)
			return
		}
	}
}

func (c *Client) readHello(l *lineReader) error {
	m, err := l.next()
	if err != nil {
		return c.readError(err, "it ended before it said hello")
	}
	if m.Type != TypeHello {
		return fmt.Errorf("%s: its first message is %s, not hello", c.opts.Name, m.Type)
	}
	if err := json.Unmarshal(m.Body, &c.Hello); err != nil {
		return fmt.Errorf("%s: decoding its hello: %w", c.opts.Name, err)
	}
	if c.Hello.Protocol != Version {
		return fmt.Errorf("%s: it speaks version %d of the worker protocol, this engine version %d; use the same build of both",
			c.opts.Name, c.Hello.Protocol, Version)
	}
	if c.opts.Kind != "" && c.Hello.Kind != c.opts.Kind {
		return fmt.Errorf("%s: it is a %q worker, not %q", c.opts.Name, c.Hello.Kind, c.opts.Kind)
	}
	return nil
}

// readError says what became of reading; eof tells what the end of the output means.
func (c *Client) readError(err error, eof string) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %s", c.opts.Name, eof)
	}
	return fmt.Errorf("%s: reading its output: %w", c.opts.Name, err)
}

// dispatch handles one message; over means that it was the last one.
func (c *Client) dispatch(m Message) (over bool, err error) {
	if m.Type == TypeSample && c.opts.OnSample != nil {
		c.opts.OnSample(m.Body)
	}
	if m.ID == 0 {
		switch m.Type {
		case TypeSample:
			return false, nil
		case TypeError:
			return true, c.failure(m)
		}
		return true, fmt.Errorf("%s: an unasked %s message", c.opts.Name, m.Type)
	}
	c.mu.Lock()
	k, known := c.waiting[m.ID], m.ID <= c.ids
	stop := m.ID == c.stopID
	c.mu.Unlock()
	switch {
	case !known:
		return true, fmt.Errorf("%s: a %s message that answers nothing (id %d)", c.opts.Name, m.Type, m.ID)
	case k == nil: // nobody waits any more
		return false, nil
	case m.Type != k.want && m.Type != TypeError:
		return true, fmt.Errorf("%s: it answered with %s, not %s", c.opts.Name, m.Type, k.want)
	}
	select {
	case k.got <- m:
	default: // answered already; done follows the error of a stop
	}
	return stop && m.Type == TypeDone, nil
}

// end closes the session for the reason err, and the worker's standard input, so that it does not wait for more.
func (c *Client) end(err error) {
	c.err = err
	close(c.ended)
	c.Close()
}
