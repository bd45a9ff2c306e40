package worker

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const hello = `{"type":"hello","body":{"protocol":1,"kind":"load","pid":1}}` + "\n"

// TestLiars: whatever comes from a worker, the engine gets an error that says what is wrong, and soon.
func TestLiars(t *testing.T) {
	for _, tt := range []struct {
		name, hello, after string // after is written once configure has arrived
		want               string
	}{
		{"silent end", "", "", "ended before it said hello"},
		{"panic on stdout", "panic: boom\n", "", `not a message: "panic: boom`},
		{"version", strings.Replace(hello, ":1,", ":99,", 1), "", "speaks version 99 of the worker protocol, this engine version 1"},
		{"kind", strings.Replace(hello, "load", "relay", 1), "", `it is a "relay" worker, not "load"`},
		{"no hello", `{"type":"ready"}` + "\n", "", "first message is ready, not hello"},
		{"no type", "{}\n", "", "message without a type"},
		{"dies", hello, "", "ended without being told to"},
		{"dies in a line", hello, `{"type":"rea`, "ended without being told to"},
		{"garbage", hello, "\x00\xff\n", "not a message"},
		{"other answer", hello, `{"type":"done","id":1}` + "\n", "answered with done, not ready"},
		{"wrong id", hello, `{"type":"ready","id":7}` + "\n", "answers nothing (id 7)"},
		{"unasked", hello, `{"type":"ready"}` + "\n", "unasked ready"},
		{"error", hello, `{"type":"error","id":1,"body":{"class":"spec","message":"no such thing"}}` + "\n", "load: no such thing"},
		{"error that is none", hello, `{"type":"error","id":1,"body":[]}` + "\n", "decoding its error"},
		{"body of another shape", hello, `{"type":"ready","id":1,"body":"x"}` + "\n", "decoding its ready message"},
		{"general error", hello, `{"type":"error","body":{"message":"out of luck"}}` + "\n", "out of luck"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r1, w1, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r2, w2, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				defer w2.Close()
				fmt.Fprint(w2, tt.hello)
				if tt.hello == hello {
					bufio.NewReader(r1).ReadString('\n')
					fmt.Fprint(w2, tt.after)
				}
			}()
			c, err := Dial(w1, r2, Options{Kind: "load"})
			if err == nil {
				var into struct{ A int }
				err = c.Configure(t.Context(), 1, &into)
				defer c.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestNoHello(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, w := io.Pipe()
		r, out := io.Pipe()
		begin := time.Now()
		_, err := Dial(w, r, Options{Name: "origin web"})
		if err == nil || !strings.Contains(err.Error(), "origin web: no hello within 10s") || time.Since(begin) != 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		in.Close()
		out.Close()
	})
}

// endless gives bytes without a line end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

func TestHugeLine(t *testing.T) {
	l := newLineReader(endless{})
	if l.limit != MaxLine {
		t.Errorf("the limit is %d", l.limit)
	}
	l.limit = 1 << 20
	if _, err := l.next(); err == nil || !strings.Contains(err.Error(), "longer than 1048576 bytes") {
		t.Errorf("error %v", err)
	}
	if _, err := encodeWithin(100, TypeConfigure, 1, strings.Repeat("x", 100)); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("encoding: %v", err)
	}
}

func TestEngineSendsNonsense(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"frobnicate","id":3}`: `"id":3,"body":{"class":"spec","message":"unknown message type \"frobnicate\""}`,
		`{"type":"control","id":4}`:    `control before configure`,
		`{"type":"start","id":4}`:      `start needs`,
	} {
		var out strings.Builder
		r, w := io.Pipe()
		lines := make(chan string, 1)
		pr, pw := io.Pipe()
		go func() {
			b := bufio.NewReader(pr)
			b.ReadString('\n') // hello
			s, _ := b.ReadString('\n')
			lines <- s
			w.Close()
			io.Copy(&out, b)
		}()
		go io.WriteString(w, in+"\n")
		if err := Serve(r, pw, "echo", &echo{}); err == nil {
			t.Error("the end of the input was no error")
		}
		if s := <-lines; !strings.Contains(s, want) {
			t.Errorf("%s was answered by %s", in, s)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add([]byte(hello))
	f.Add([]byte("{\"type\":\"ready\",\"id\":18446744073709551615,\"body\":{}}\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := newLineReader(strings.NewReader(string(b)))
		for {
			m, err := l.next()
			if err != nil {
				return
			}
			if m.Type == "" {
				t.Error("a message without a type was accepted")
			}
		}
	})
}
