package load

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/planrun/planrun/internal/serve/servetest"
)

// A program is a real server that a test runs.
type program struct {
	address string
	cmd     *exec.Cmd
	out     bytes.Buffer
	ended   chan struct{}
}

// run starts a program and waits until it takes connections at the address, on which its arguments make it listen. It ends
// with the test, with all its children.
func run(t *testing.T, address, name string, args ...string) *program {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path = filepath.Join("/usr/sbin", name)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is not installed: scripts/install-peers does that", name)
	}
	p := &program{address: address, cmd: exec.Command(path, args...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the program ends with the thread that started it
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.cmd.Wait()
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	servetest.Eventually(t, name+" at "+address, func() bool {
		select {
		case <-p.ended:
			t.Fatalf("%s has ended: %s", name, p.out.String())
		default:
		}
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return p
}

// kill ends the program and its children at once, and returns when it has ended.
func (p *program) kill() {
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.ended
}

// freeAddress is one of this machine where nobody listens. Its port is none that the kernel gives to connections, of which
// other tests have many.
func freeAddress(t *testing.T) (address string, port int) {
	t.Helper()
	for range 100 {
		port = 10_000 + rand.IntN(20_000)
		address = fmt.Sprintf("127.0.0.1:%d", port)
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address, port
		}
	}
	t.Fatal("no free port")
	return "", 0
}

// configured writes a configuration into a file of the test.
func configured(t *testing.T, format string, args ...any) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "peer.conf")
	if err := os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// nginx serves two bytes to every request. With the same address it can be started again.
func nginx(t *testing.T, address string) *program {
	t.Helper()
	dir := t.TempDir()
	conf := configured(t, `daemon off; worker_processes 1; pid %[1]s/pid; error_log stderr crit;
events { worker_connections 1000; }
http {
	access_log off; keepalive_requests 1000000;
	client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
	server { listen %[2]s; location / { return 200 "ok"; } }
}
`, dir, address)
	return run(t, address, "nginx", "-c", conf, "-p", dir, "-e", "stderr")
}

// squid is a forward proxy that keeps connections.
func squid(t *testing.T) *program {
	t.Helper()
	address, _ := freeAddress(t)
	return run(t, address, "squid", "-N", "-f", configured(t, `http_port %s
pid_filename none
visible_hostname localhost
http_access allow all
cache deny all
access_log none
cache_log stdio:/dev/stderr
netdb_filename none
pinger_enable off
shutdown_lifetime 0 seconds
max_filedescriptors 1024
`, address))
}

// tinyproxy is a forward proxy that closes a connection after one answer.
func tinyproxy(t *testing.T) *program {
	t.Helper()
	address, port := freeAddress(t)
	return run(t, address, "tinyproxy", "-d", "-c", configured(t, `Port %d
Listen 127.0.0.1
Timeout 60
MaxClients 100
Allow 127.0.0.1
LogLevel Critical
`, port))
}
