package record

import (
	"bytes"
	"io"
)

// An appender collects whole lines and writes them when it is flushed. Lines that cannot be written are lost and counted;
// after a partial write the next flush begins a new line, so that later lines stay readable.
type appender struct {
	f    io.WriteCloser
	buf  bytes.Buffer
	torn bool
}

func (a *appender) line(b []byte) {
	a.buf.Write(b)
	if len(b) == 0 || b[len(b)-1] != '\n' {
		a.buf.WriteByte('\n')
	}
}

// flush writes what was collected. It returns how many lines were lost, and why.
func (a *appender) flush() (lost int, err error) {
	if a.buf.Len() == 0 {
		return 0, nil
	}
	out := a.buf.Bytes()
	if a.torn {
		out = append([]byte{'\n'}, out...)
	}
	n, err := a.f.Write(out)
	if err == nil && n < len(out) {
		err = io.ErrShortWrite
	}
	if n > 0 {
		a.torn = out[n-1] != '\n'
	}
	lost = bytes.Count(out[n:], []byte{'\n'})
	if a.torn && n == 0 && lost > 0 {
		lost-- // the line break that was to end the torn line
	}
	a.buf.Reset()
	return lost, err
}
