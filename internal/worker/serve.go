package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A Handler is what a worker does. Serve calls its methods one at a time, from one goroutine, in the order of the
// messages: Configure until it succeeds, Start, then Control and Sample, at last Stop and one more Sample. An error that is
// (or wraps) an *Error keeps its class on the way to the engine. A body that is sent is anything that encoding/json
// encodes; nil sends none.
//
//	type origin struct{ ... }
//	func (o *origin) Configure(ctx context.Context, spec json.RawMessage) (ready any, err error)
//	...
//	func Main(in io.Reader, out io.Writer) error { return worker.Serve(in, out, "origin", &origin{}) }
type Handler interface {
	// Configure prepares for work (listens, or connects and verifies) and answers the body of ready. Its context ends when
	// the engine says stop or is gone.
	Configure(ctx context.Context, spec json.RawMessage) (ready any, err error)
	// Start is time zero. It must not wait for the work to end.
	Start() error
	// Control changes what runs and answers the body of the reply. Its context ends as that of Configure.
	Control(ctx context.Context, body json.RawMessage) (reply any, err error)
	// Sample is called once a second from Start on, when the engine asks for a sample, and after Stop. It answers what is
	// to be reported since the previous call, or nil for nothing.
	Sample() any
	// Stop ends the work gracefully and releases everything, also if it was never started or configured. Its context ends
	// when waiting is over: at the second stop, and at once if the engine is gone.
	Stop(ctx context.Context) error
}

// ErrGone is why a worker ended without having been told to stop.
var ErrGone = errors.New("the engine is gone")

// Serve speaks the worker's side of the protocol until the engine has stopped it (nil), or is gone (ErrGone: the input
// ended, or no message arrived for a Lease), or sent something that is no message. It is the whole life of a worker
// process: over the process's own standard input it also ignores interrupts (the terminal sends them to every process;
// only the engine decides) and broken pipes.
func Serve(in io.Reader, out io.Writer, kind string, h Handler) error {
	if in == os.Stdin {
		signal.Ignore(syscall.SIGINT, syscall.SIGPIPE)
	}
	work, endWork := context.WithCancel(context.Background())
	drain, endDrain := context.WithCancel(context.Background())
	defer endWork()
	defer endDrain()
	s := &server{
		h: h, out: newLineWriter(out), work: work, endWork: endWork, drain: drain, endDrain: endDrain,
		todo: make(chan Message), gone: make(chan struct{}), over: make(chan struct{}),
	}
	defer close(s.over)
	if err := s.send(TypeHello, 0, Hello{Version, kind, os.Getpid()}); err != nil {
		return err
	}
	lines := make(chan Message)
	go s.read(newLineReader(in), lines)
	go s.watch(lines)
	err := s.loop()
	s.out.end()
	if err == nil || !errors.Is(err, ErrGone) {
		select { // the engine reads the last lines, or is gone too
		case <-s.out.done:
		case <-time.After(Lease):
		}
	}
	return err
}

type server struct {
	h                 Handler
	out               *lineWriter
	work, drain       context.Context
	endWork, endDrain context.CancelFunc
	readErr           error         // valid after lines is closed
	todo              chan Message  // what is not answered at once
	gone              chan struct{} // closed: goneErr says why
	goneErr           error
	over              chan struct{} // closed when Serve returns
}

// read passes lines on. It is left behind blocked in its read when the session is over: the process ends then.
func (s *server) read(l *lineReader, lines chan<- Message) {
	defer close(lines)
	for {
		m, err := l.next()
		if err != nil {
			s.readErr = err
			return
		}
		select {
		case lines <- m:
		case <-s.over:
			return
		}
	}
}

// watch keeps the lease, sees stop messages while the handler is busy, and queues all others for the loop. Its queue is
// bounded by what an engine leaves unanswered.
func (s *server) watch(lines <-chan Message) {
	lease := time.NewTimer(Lease)
	defer lease.Stop()
	lose := func(err error) {
		s.goneErr = err
		s.endWork()
		s.endDrain()
		close(s.gone)
	}
	var queue []Message
	stops := 0
	for {
		var todo chan<- Message
		var first Message
		if len(queue) > 0 {
			todo, first = s.todo, queue[0]
		}
		select {
		case m, ok := <-lines:
			switch {
			case !ok && errors.Is(s.readErr, io.EOF):
				lose(fmt.Errorf("%w: end of input", ErrGone))
				return
			case !ok:
				lose(fmt.Errorf("reading the engine's messages: %w", s.readErr))
				return
			}
			lease.Reset(Lease)
			if m.Type == TypeStop {
				s.endWork()
				if stops++; stops > 1 {
					s.endDrain()
					continue
				}
			}
			if m.Type != TypePing {
				queue = append(queue, m)
			}
		case todo <- first:
			queue = queue[1:]
		case <-lease.C:
			lose(fmt.Errorf("%w: no message for %v", ErrGone, Lease))
			return
		case <-s.over:
			return
		}
	}
}

// loop calls the handler.
func (s *server) loop() error {
	var tick <-chan time.Time
	configured, started := false, false
	for {
		select {
		case m := <-s.todo:
			switch m.Type {
			case TypeConfigure:
				if started {
					s.fail(m.ID, &Error{"spec", "configure after start"})
					break
				}
				ready, err := s.h.Configure(s.work, m.Body)
				configured = configured || err == nil
				s.answer(TypeReady, m.ID, ready, err)
			case TypeStart:
				if !configured || started {
					s.fail(m.ID, &Error{"spec", "start needs one successful configure before it, and comes once"})
					break
				}
				err := s.h.Start()
				if started = err == nil; started {
					t := time.NewTicker(time.Second)
					defer t.Stop()
					tick = t.C
				}
				s.answer(TypeReply, m.ID, nil, err)
			case TypeControl:
				if !configured {
					s.fail(m.ID, &Error{"spec", "control before configure"})
					break
				}
				reply, err := s.h.Control(s.work, m.Body)
				s.answer(TypeReply, m.ID, reply, err)
			case TypeSample:
				s.answer(TypeSample, m.ID, s.h.Sample(), nil)
			case TypeStop:
				return s.stop(m.ID)
			default:
				s.fail(m.ID, &Error{"spec", fmt.Sprintf("unknown message type %q", m.Type)})
			}
		case <-tick:
			s.sample()
		case <-s.gone:
			return errors.Join(s.goneErr, s.h.Stop(s.drain))
		case <-s.out.done:
			s.endDrain()
			return errors.Join(fmt.Errorf("%w: writing to it: %w", ErrGone, s.out.err), s.h.Stop(s.drain))
		}
	}
}

func (s *server) stop(id uint64) error {
	err := s.h.Stop(s.drain)
	s.sample()
	if err != nil {
		s.fail(id, err)
	}
	select {
	case <-s.gone:
		return errors.Join(s.goneErr, err)
	default:
	}
	return errors.Join(err, s.send(TypeDone, id, nil))
}

func (s *server) sample() {
	if v := s.h.Sample(); v != nil {
		s.answer(TypeSample, 0, v, nil)
	}
}

// answer sends a message of type typ, or the error. A write that does not succeed is seen by the loop.
func (s *server) answer(typ string, id uint64, body any, err error) {
	if err == nil {
		var line []byte
		if line, err = encode(typ, id, body); err == nil {
			_ = s.out.put(line, s.gone)
			return
		}
	}
	s.fail(id, err)
}

func (s *server) fail(id uint64, err error) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{Message: err.Error()}
	} else if text := err.Error(); text != e.Message {
		e = &Error{e.Class, text}
	}
	_ = s.send(TypeError, id, e)
}

func (s *server) send(typ string, id uint64, body any) error {
	line, err := encode(typ, id, body)
	if err != nil {
		return err
	}
	return s.out.put(line, s.gone)
}
