package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Options of a Client.
type Options struct {
	Name     string                // of the worker in errors; its kind if empty
	Kind     string                // what the worker must say that it is; anything if empty
	OnSample func(json.RawMessage) // gets the body of every sample, one at a time; it must not call the Client's methods
	Hello    time.Duration         // how long to wait for hello; 0 means 10 s
}

// A Client is the engine's side of a session with one worker. Its methods may be called from any goroutine. Once the
// session is over (the worker ended, or sent what is no message), all of them answer why.
type Client struct {
	Hello Hello // what the worker said

	opts Options
	in   io.WriteCloser
	out  *lineWriter
	ids  uint64

	mu      sync.Mutex
	waiting map[uint64]*call
	stopID  uint64        // of the first stop; 0 before it
	ended   chan struct{} // closed when the session is over
	err     error         // why; nil after done
	close   sync.Once
}

// A call waits for the answer to one request.
type call struct {
	want string // type
	got  chan Message
}

// Dial begins a session over the pipes of a worker process: it waits for hello and checks kind and version. It then reads
// stdout until its end and sends a ping every third of a Lease until Close. After an error it has closed stdin.
func Dial(stdin io.WriteCloser, stdout io.Reader, opts Options) (*Client, error) {
	if opts.Hello == 0 {
		opts.Hello = 10 * time.Second
	}
	if opts.Name == "" {
		opts.Name = opts.Kind
	}
	if opts.Name == "" {
		opts.Name = "worker"
	}
	c := &Client{opts: opts, in: stdin, waiting: map[uint64]*call{}, ended: make(chan struct{})}
	hello := make(chan error, 1)
	go c.read(newLineReader(stdout), hello)
	timer := time.NewTimer(opts.Hello)
	defer timer.Stop()
	var err error
	select {
	case err = <-hello:
	case <-timer.C:
		err = fmt.Errorf("%s: no hello within %v", opts.Name, opts.Hello)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	c.out = newLineWriter(stdin)
	go c.ping()
	return c, nil
}

// Configure sends a specification and waits for ready, whose body it decodes into ready unless that is nil. An error of
// the worker is an *Error.
func (c *Client) Configure(ctx context.Context, spec, ready any) error {
	return c.call(ctx, TypeConfigure, spec, TypeReady, ready)
}

// Start sends time zero and waits until the worker has begun.
func (c *Client) Start(ctx context.Context) error {
	return c.call(ctx, TypeStart, nil, TypeReply, nil)
}

// Control changes what the worker does; reply as in Configure.
func (c *Client) Control(ctx context.Context, body, reply any) error {
	return c.call(ctx, TypeControl, body, TypeReply, reply)
}

// Sample asks for a sample now. Its body also goes to OnSample, before it is decoded into sample unless that is nil.
func (c *Client) Sample(ctx context.Context, sample any) error {
	return c.call(ctx, TypeSample, nil, TypeSample, sample)
}

// Stop tells the worker to end gracefully and waits until it has: all samples have then gone to OnSample. If ctx ends
// first the worker still drains; calling Stop again tells it not to wait. The session is over after it.
func (c *Client) Stop(ctx context.Context) error {
	id, stop := c.stopCall()
	if err := c.send(TypeStop, id, nil); err != nil && !c.over() {
		return err
	}
	select {
	case m := <-stop.got:
		stop.got <- m // for another Stop
		if m.Type == TypeError {
			return c.failure(m)
		}
		return nil
	case <-c.ended:
		return c.Err()
	case <-ctx.Done():
		return fmt.Errorf("%s: waiting for it to stop: %w", c.opts.Name, ctx.Err())
	}
}

func (c *Client) over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

func (c *Client) stopCall() (uint64, *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopID == 0 {
		c.ids++
		c.stopID = c.ids
		c.waiting[c.stopID] = &call{TypeDone, make(chan Message, 2)}
	}
	return c.stopID, c.waiting[c.stopID]
}

// Done is closed when the session is over.
func (c *Client) Done() <-chan struct{} { return c.ended }

// Err is why the session is over: nil before that and after a graceful end.
func (c *Client) Err() error {
	if c.over() {
		return c.err
	}
	return nil
}

// Close closes the worker's standard input, by which a worker that still runs ends at once, without a drain. It does not
// wait for it. Close may be called more than once.
func (c *Client) Close() error {
	var err error
	c.close.Do(func() { err = c.in.Close() })
	return err
}

func (c *Client) call(ctx context.Context, typ string, body any, want string, into any) error {
	k := &call{want, make(chan Message, 1)}
	c.mu.Lock()
	c.ids++
	id := c.ids
	c.waiting[id] = k
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	if err := c.send(typ, id, body); err != nil {
		return err
	}
	var m Message
	select {
	case m = <-k.got:
	case <-c.ended:
		select { // answered, and over since
		case m = <-k.got:
		default:
			if c.err == nil {
				return fmt.Errorf("%s: it has ended", c.opts.Name)
			}
			return c.err
		}
	case <-ctx.Done():
		return fmt.Errorf("%s: waiting for the answer to %s: %w", c.opts.Name, typ, ctx.Err())
	}
	if m.Type == TypeError {
		return c.failure(m)
	}
	if into == nil || m.Body == nil {
		return nil
	}
	if err := json.Unmarshal(m.Body, into); err != nil {
		return fmt.Errorf("%s: decoding its %s message: %w", c.opts.Name, m.Type, err)
	}
	return nil
}

// failure is the worker's error with its name before the message.
func (c *Client) failure(m Message) error {
	var e Error
	if err := json.Unmarshal(m.Body, &e); err != nil {
		return fmt.Errorf("%s: decoding its error: %w", c.opts.Name, err)
	}
	return fmt.Errorf("%s: %w", c.opts.Name, &e)
}

func (c *Client) send(typ string, id uint64, body any) error {
	line, err := encode(typ, id, body)
	if err != nil {
		return fmt.Errorf("%s: %w", c.opts.Name, err)
	}
	if err := c.out.put(line, c.ended); err != nil {
		// What it last wrote tells more than a broken pipe.
		select {
		case <-c.ended:
			if c.err != nil {
				return c.err
			}
		case <-time.After(time.Second):
		}
		return fmt.Errorf("%s: %w", c.opts.Name, err)
	}
	return nil
}

func (c *Client) ping() {
	t := time.NewTicker(Lease / 3)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			_ = c.send(TypePing, 0, nil) // its end is seen by the reader
		case <-c.ended:
			c.out.end()
			return
		}
	}
}
