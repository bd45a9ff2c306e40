package serve

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/origin"
	"github.com/planrun/planrun/internal/serve/servetest"
)

const nginxConf = `worker_processes 1; daemon off; pid nginx.pid; error_log stderr warn;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 1000000000; default_type text/plain;
  client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;
  server {
    listen %s;
    location = /small { return 200 "hello, world\n"; }
    location / { root .; }
  }
}
`

// BenchmarkAgainstNginx compares the CPU time of a request: the origin's and that of an nginx which returns the same
// bytes, with wrk as the client of both in turn. It reports the ratio of the medians over b.N rounds of a second each;
// -benchtime=5x is five of them.
func BenchmarkAgainstNginx(b *testing.B) {
	for _, program := range []string{"nginx", "wrk"} {
		if _, err := exec.LookPath(program); err != nil {
			b.Fatal(err)
		}
	}
	for _, path := range []string{"small", "100k"} {
		b.Run(path, func(b *testing.B) {
			ours := launch(b, "origin", 0, origin.Spec{Listen: anywhere})
			worker, address := nginx(b)
			spent := [2][]float64{}
			for b.Loop() {
				spent[0] = append(spent[0], perRequest(b, ours.Hello.PID, ours.listen["http"], path))
				spent[1] = append(spent[1], perRequest(b, worker, address, path))
			}
			var median [2]float64
			for i, all := range spent {
				slices.Sort(all)
				median[i] = all[len(all)/2]
			}
			b.ReportMetric(median[0]/1000, "us/req")
			b.ReportMetric(median[1]/1000, "nginx-us/req")
			b.ReportMetric(median[0]/median[1], "ratio")
		})
	}
}

// nginx runs one with a single worker, and gives the worker's process id.
func nginx(b *testing.B) (worker int, address string) {
	dir := b.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	for name, text := range map[string]string{"nginx.conf": fmt.Sprintf(nginxConf, address), "100k": string(servetest.Body(102400))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	os.Chmod(filepath.Dir(dir), 0o755) // its worker runs as another user, and reads the file
	os.Chmod(dir, 0o755)
	cmd := exec.Command("nginx", "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	servetest.Eventually(b, "nginx listens and has its worker", func() bool {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
		worker, err = strconv.Atoi(strings.TrimSpace(string(children)))
		if err != nil {
			return false
		}
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return worker, address
}

var counted = regexp.MustCompile(`(\d+) requests in`)

// perRequest is the CPU time that the process needed for each request of a second, in nanoseconds.
func perRequest(b *testing.B, pid int, address, path string) float64 {
	before := onCPU(b, pid)
	out, err := exec.Command("wrk", "-t1", "-c64", "-d1s", "http://"+address+"/"+path).CombinedOutput()
	spent := onCPU(b, pid) - before
	if err != nil || strings.Contains(string(out), "Non-2xx") || strings.Contains(string(out), "Socket errors") {
		b.Fatalf("wrk: %v\n%s", err, out)
	}
	requests, err := strconv.Atoi(counted.FindStringSubmatch(string(out))[1])
	if err != nil || requests == 0 {
		b.Fatalf("wrk made no requests:\n%s", out)
	}
	return float64(spent.Nanoseconds()) / float64(requests)
}

// onCPU is the CPU time of all threads of a process (proc(5), schedstat).
func onCPU(b *testing.B, pid int) (sum time.Duration) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if len(files) == 0 {
		b.Fatalf("process %d is gone", pid)
	}
	for _, f := range files {
		text, _ := os.ReadFile(f)
		var ns int64
		fmt.Sscan(string(text), &ns)
		sum += time.Duration(ns)
	}
	return sum
}
