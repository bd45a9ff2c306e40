package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/planrun/planrun/internal/serve/certificate"
)

// servers are the listeners of nginx. All speak the one cipher suite and group, whatever a client would prefer. The one for
// new connections gives no session tickets, which wrk would use and the worker would not.
var servers = map[string]struct {
	tls, h2 bool
	listen  string // words after the address
	more    string
}{
	"plain":    {},
	"tls":      {tls: true, listen: " ssl"},
	"tls-h2":   {tls: true, h2: true, listen: " ssl http2"},
	"h2c":      {h2: true, listen: " http2"},
	"tls-once": {tls: true, listen: " ssl", more: "ssl_session_tickets off; ssl_session_cache off;"},
}

// What has a query is logged: see facts.
const (
	httpConf = `worker_processes 1; daemon off; pid nginx.pid; error_log stderr crit;
events { worker_connections 4096; }
http {
  log_format facts '$server_protocol $ssl_protocol $ssl_cipher $ssl_curve $ssl_session_reused $status $body_bytes_sent';
  access_log facts.log facts if=$is_args;
  keepalive_requests 1000000000; keepalive_timeout 1h; keepalive_time 24h; sendfile on; tcp_nopush on;
  default_type text/plain; open_file_cache max=10;
  ssl_certificate cert.pem; ssl_certificate_key key.pem;
  ssl_protocols TLSv1.3; ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256; ssl_ecdh_curve X25519;
  client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;
  server { listen %s; location / { stub_status; } }
%s}
`
	serverConf = `  server {
    listen %s%s; %s
    location = /small { return 200 "hello, world\n"; }
    location = /100k { root .; }
    location = /stall { proxy_pass http://%s; proxy_read_timeout 1h; }
  }
`
)

// A server is an nginx with one process that works, on a CPU of its own. What it serves at /stall never answers.
type server struct {
	on      *cpu
	dir     string
	address map[string]string // by name in servers
	status  string
	cmd     *exec.Cmd
	ended   chan struct{} // closed when it has
	stall   net.Listener
	client  http.Client // of the status, over one connection
	asked   int64       // how often it was
}

func newServer(on *cpu, dir string) (*server, error) {
	s := &server{on: on, dir: dir, address: map[string]string{}, ended: make(chan struct{}), client: http.Client{Transport: &http.Transport{}}}
	// Its worker has another user, and reads the file.
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	cert, key, err := certificate.SelfSigned(certificate.ECDSA, nil)
	if err != nil {
		return nil, err
	}
	if s.stall, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	go swallow(s.stall)
	conf, err := s.conf()
	if err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{"nginx.conf": conf, "cert.pem": cert, "key.pem": key, "100k": make([]byte, large)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return nil, err
		}
	}
	if err := s.run(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// swallow takes what comes and never answers.
func swallow(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			_, _ = io.Copy(io.Discard, c)
			c.Close()
		}()
	}
}

// conf chooses ports and writes the configuration for them.
func (s *server) conf() ([]byte, error) {
	names := append(slices.Sorted(maps.Keys(servers)), "status")
	free := map[string]string{}
	for _, name := range names {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // all are held until all are chosen
		free[name] = l.Addr().String()
	}
	s.status = free["status"]
	var text strings.Builder
	for _, name := range names[:len(names)-1] {
		on := servers[name]
		s.address[name] = free[name]
		fmt.Fprintf(&text, serverConf, free[name], on.listen, on.more, s.stall.Addr())
	}
	return fmt.Appendf(nil, httpConf, s.status, text.String()), nil
}

func (s *server) run() error {
	logged, err := os.Create(filepath.Join(s.dir, "nginx.log"))
	if err != nil {
		return err
	}
	defer logged.Close()
	s.cmd = exec.Command("nginx", "-p", s.dir, "-c", filepath.Join(s.dir, "nginx.conf"))
	s.cmd.Stderr = logged
	if err := s.on.start(s.cmd, unix.SIGTERM); err != nil {
		s.cmd = nil
		return fmt.Errorf("starting nginx: %w", err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.ended)
	}()
	deadline := time.Now().Add(20 * time.Second)
	for {
		_, _, err := s.counted()
		if err == nil {
			return s.pinned()
		}
		select {
		case <-s.ended:
			text, _ := os.ReadFile(logged.Name())
			return fmt.Errorf("nginx ended: %s", text)
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waiting for nginx: %w", err)
		}
	}
}

// pinned checks that nginx and its worker run where they should.
func (s *server) pinned() error {
	master := s.cmd.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", master))
	if err != nil {
		return err
	}
	worker, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil {
		return fmt.Errorf("nginx has not one worker process but %q", children)
	}
	return errors.Join(s.on.holds(master), s.on.holds(worker))
}

var stub = regexp.MustCompile(`(?s)requests\s+\d+ (\d+) (\d+)\s`)

// counted is how many connections and requests nginx has seen, without those by which it was asked.
func (s *server) counted() (connections, requests int64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+s.status, nil)
	if err != nil {
		return 0, 0, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, 0, err
	}
	m := stub.FindSubmatch(body)
	if m == nil {
		return 0, 0, fmt.Errorf("the status of nginx: %q", body)
	}
	s.asked++
	connections, _ = strconv.ParseInt(string(m[1]), 10, 64)
	requests, _ = strconv.ParseInt(string(m[2]), 10, 64)
	return connections - 1, requests - s.asked, nil
}

// facts gives what was logged of requests with a query since the last call, and how often.
func (s *server) facts() (map[string]int64, error) {
	name := filepath.Join(s.dir, "facts.log")
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	all := map[string]int64{}
	for line := range strings.Lines(string(b)) {
		all[strings.TrimSpace(line)]++
	}
	return all, os.Truncate(name, 0) // nginx appends
}

// close ends nginx at once.
func (s *server) close() {
	s.stall.Close()
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(unix.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(5 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
}
