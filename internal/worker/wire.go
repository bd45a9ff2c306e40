package worker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxLine bounds a message, in bytes: a specification may hold a request body, a sample many histograms.
const MaxLine = 64 << 20

// A lineReader reads messages.
type lineReader struct {
	r     *bufio.Reader
	line  []byte
	limit int // of a line, in bytes
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), limit: MaxLine}
}

// next gives the next message. The error is io.EOF at the end of the input, also within a line.
func (l *lineReader) next() (Message, error) {
	l.line = l.line[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.line)+len(part) > l.limit {
			return Message{}, fmt.Errorf("a line is longer than %d bytes", l.limit)
		}
		l.line = append(l.line, part...)
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return Message{}, err
		}
	}
	var m Message
	if err := json.Unmarshal(l.line, &m); err != nil {
		return m, fmt.Errorf("not a message: %q: %w", clip(l.line), err)
	}
	if m.Type == "" {
		return m, fmt.Errorf("a message without a type: %q", clip(l.line))
	}
	return m, nil
}

// clip shortens what a message quotes.
func clip(b []byte) []byte {
	if len(b) > 120 {
		return append(b[:117:117], "..."...)
	}
	return b
}

// encode makes the line of a message; a nil body is left out.
func encode(typ string, id uint64, body any) ([]byte, error) {
	return encodeWithin(MaxLine, typ, id, body)
}

func encodeWithin(limit int, typ string, id uint64, body any) ([]byte, error) {
	m := Message{Type: typ, ID: id}
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encoding a %s message: %w", typ, err)
		}
		m.Body = b
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encoding a %s message: %w", typ, err)
	}
	if len(b) >= limit {
		return nil, fmt.Errorf("encoding a %s message: it has %d bytes, more than %d", typ, len(b), limit)
	}
	return append(b, '\n'), nil
}

// A lineWriter writes lines from a goroutine of its own, so that no caller waits for the other side while the queue has
// room.
type lineWriter struct {
	queue  chan []byte
	ending chan struct{} // closed: write what is queued, then end
	done   chan struct{} // closed: everything was written, or writing ended with err
	err    error
}

func newLineWriter(w io.Writer) *lineWriter {
	l := &lineWriter{queue: make(chan []byte, 256), ending: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for l.err == nil {
			select {
			case b := <-l.queue:
				_, l.err = w.Write(b)
				continue
			default:
			}
			select {
			case b := <-l.queue:
				_, l.err = w.Write(b)
			case <-l.ending:
				if len(l.queue) == 0 {
					return
				}
			}
		}
	}()
	return l
}

// end writes what is queued and ends the goroutine; done tells when. It is called once.
func (l *lineWriter) end() { close(l.ending) }

// put queues a line; it gives up when writing has ended or quit is closed.
func (l *lineWriter) put(b []byte, quit <-chan struct{}) error {
	select {
	case l.queue <- b:
		return nil
	case <-l.done:
		if l.err == nil {
			return errors.New("the session is over")
		}
		return fmt.Errorf("writing to the other side: %w", l.err)
	case <-quit:
		return errors.New("the session is over")
	}
}
