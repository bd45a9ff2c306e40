package engine_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"os"
	"time"

	"github.com/planrun/planrun/internal/load"
)

// slowWorker is the first argument of workers whose load generator has a fault: it sends everything planted later than it
// says.
const (
	slowWorker = "slow-worker"
	planted    = 2 * time.Millisecond
)

// slowLoad is a load worker within whose own process each request is held up before it leaves: it is told what other
// generators are told, reports what it measures, and only it is slow.
func slowLoad() error {
	in, out := io.Pipe()
	go func() {
		lines := bufio.NewReader(os.Stdin)
		for {
			line, err := lines.ReadBytes('\n')
			if err == nil {
				line, err = heldUp(line)
			}
			if err == nil {
				_, err = out.Write(line)
			}
			if err != nil {
				out.CloseWithError(err)
				return
			}
		}
	}()
	return load.Main(in, os.Stdout)
}

// heldUp is a message of the engine with the address of the configuration replaced by one that holds up what passes.
func heldUp(line []byte) ([]byte, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil || string(m["type"]) != `"configure"` {
		return line, err
	}
	var s load.Spec
	if err := json.Unmarshal(m["body"], &s); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go hold(l, s.Address)
	s.Address = l.Addr().String()
	if m["body"], err = json.Marshal(s); err != nil {
		return nil, err
	}
	b, err := json.Marshal(m)
	return append(b, '\n'), err
}

// hold passes connections on to an address, requests late and answers at once. It ends with the process.
func hold(l net.Listener, to string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			server, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			defer server.Close()
			go func() {
				_, _ = io.Copy(c, server)
				c.Close()
			}()
			buf := make([]byte, 64<<10)
			for {
				n, err := c.Read(buf)
				time.Sleep(planted)
				if n > 0 {
					if _, err := server.Write(buf[:n]); err != nil {
						return
					}
				}
				if err != nil {
					return
				}
			}
		}()
	}
}
