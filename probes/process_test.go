package probes

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/probes/proctree"
)

func newProcess(of string) *process {
	p := processKind.New().(*process)
	p.Every, p.Of = 10*time.Millisecond, of
	return p
}

// The counters of a shell that forks all the time must end at what the kernel says of the whole tree when it is waited
// for, whether or not a sample saw a child.
func TestForkingShellIsCountedWhole(t *testing.T) {
	cmd := exec.Command(program(t, "bash"), "-c", `for i in {1..150}; do (for j in {1..2000}; do :; done); done; echo over; read`)
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	sh := start(t, "shell", "sut", cmd)
	forked := make(chan error, 1)
	go func() { _, err := said.Read(make([]byte, 8)); forked <- err }()
	b, p := newBench(sh), newProcess("")
	for waiting := true; waiting; {
		b.must(t, p)
		select {
		case err := <-forked:
			if waiting = false; err != nil {
				t.Fatal(err)
			}
		case <-time.After(50 * time.Millisecond):
		}
	}
	pts := b.must(t, p)
	total := value(t, pts, "cpu_user_s", "shell", "") + value(t, pts, "cpu_kernel_s", "shell", "")
	b.monotonic(t, p)
	sh.in.Close()
	<-sh.exited
	st := sh.cmd.ProcessState
	want := (st.UserTime() + st.SystemTime()).Seconds()
	if total < 0.1 || total > want+0.03 || total < want-0.05 {
		t.Errorf("counted %.2f s, the kernel counted %.2f s", total, want)
	}

	time.Sleep(shareFor) // no scan from before its end
	pts = b.must(t, p)
	if got := value(t, pts, "cpu_user_s", "shell", "") + value(t, pts, "cpu_kernel_s", "shell", ""); got < total {
		t.Errorf("after its end %.2f s, before %.2f s", got, total)
	}
	if has(pts, "rss_mib", "shell") || has(pts, "fds", "shell") {
		t.Error("a process that ended has no memory and no descriptors, but was sampled")
	}
	b.monotonic(t, p)
}

// A restart is the same source: its sums go on.
func TestRestartGoesOn(t *testing.T) {
	one := burner(t, "app", "sut", "spin")
	b, p := newBench(one), newProcess("app")
	before := value(t, b.until(t, p, "cpu_user_s", "app", "", 0.1), "cpu_user_s", "app", "")
	one.cmd.Process.Kill()
	<-one.exited
	two := burner(t, "app", "sut", "idle")
	b.all = []task.Process{two}
	time.Sleep(20 * time.Millisecond)
	after := value(t, b.must(t, p), "cpu_user_s", "app", "")
	if after < before {
		t.Errorf("%v s after the restart, %v s before", after, before)
	}
	b.monotonic(t, p)
}

func TestThreadsShow(t *testing.T) {
	f := burner(t, "app", "sut", "hot", "idle")
	b, p := newBench(f), newProcess("")
	b.until(t, p, "thread_cpu_s", "app", "idle/", 0)
	pts := b.until(t, p, "thread_cpu_s", "app", "hot/", 0.2)
	hot, idle := -1.0, -1.0
	var sum float64
	for _, pt := range pts {
		if pt.Series != "thread_cpu_s" || pt.Source != "app" {
			continue
		}
		sum += pt.V
		switch name, _, _ := strings.Cut(pt.Label, "/"); name {
		case "hot":
			hot = pt.V
		case "idle":
			idle = pt.V
		}
	}
	total := value(t, pts, "cpu_user_s", "app", "") + value(t, pts, "cpu_kernel_s", "app", "")
	if hot < 0.5*total || hot < 0.03 || idle < 0 || idle > 0.5*hot {
		t.Errorf("hot %v s, idle %v s, the process %v s", hot, idle, total)
	}
	time.Sleep(shareFor) // no scan from before; threads are read after the scan that gave the total
	pts = b.must(t, p)
	later := value(t, pts, "cpu_user_s", "app", "") + value(t, pts, "cpu_kernel_s", "app", "")
	if sum < total-0.03 || sum > later+0.03 {
		t.Errorf("threads add up to %v s, the process used %v s, and %v s after that", sum, total, later)
	}

	p = newProcess("")
	p.Threads = 2
	labels := map[string]bool{}
	b.must(t, p)
	for _, pt := range b.must(t, p) {
		if pt.Series == "thread_cpu_s" && pt.Source == "app" {
			labels[pt.Label] = true
		}
	}
	if len(labels) != 3 || !labels["other"] {
		t.Errorf("with a bound of 2 threads the labels are %v", labels)
	}
	p.Threads = 0
	if pts := b.must(t, p); has(pts, "thread_cpu_s", "app") {
		t.Error("threads were sampled though none were asked for")
	}
}

// nginx pinned and under load: what the probe says of it is what /proc says of its processes.
func TestNginxUnderLoad(t *testing.T) {
	wrk := program(t, "wrk")
	f, addr := nginx(t)
	b, p := newBench(f), newProcess("sut")
	first := b.must(t, p)
	under := func() []series.Point {
		if out, err := exec.Command(wrk, "-t1", "-c16", "-d1s", "http://"+addr+"/").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return b.must(t, p)
	}
	busy := func(pts []series.Point) (n int) {
		for _, pt := range pts {
			if pt.Series == "thread_cpu_s" && strings.HasPrefix(pt.Label, "nginx/") && pt.V > 0.02 {
				n++
			}
		}
		return n
	}
	under() // threads have their labels now
	pts := under()
	for rounds := 0; busy(pts) == 0 && rounds < 20; rounds++ { // the second may pass without a CPU for nginx where others are busy
		pts = under()
	}
	want, workers := read(t, f.PID())
	got := value(t, pts, "cpu_user_s", "nginx", "") + value(t, pts, "cpu_kernel_s", "nginx", "")
	if got < 0.1 || got > want+0.001 || got < want-0.05 {
		t.Errorf("the probe counted %.2f s, /proc has %.2f s now", got, want)
	}
	if n := value(t, pts, "processes", "nginx", ""); n != float64(workers+1) || workers != 2 {
		t.Errorf("%v processes of nginx, %d workers", n, workers)
	}
	if n := value(t, pts, "fds", "nginx", ""); n < 8 {
		t.Errorf("%v descriptors", n)
	}
	rss, peak := value(t, pts, "rss_mib", "nginx", ""), value(t, pts, "rss_peak_mib", "nginx", "")
	if rss < 1 || rss > 500 || peak < rss*0.95 {
		t.Errorf("resident %v MiB, peak %v MiB", rss, peak)
	}
	if before := value(t, first, "cpu_user_s", "nginx", ""); before > got {
		t.Errorf("%v before, %v after", before, got)
	}
	for _, pt := range pts {
		if pt.Source == "nginx" && (pt.Role != "sut" || pt.Replica != 0) {
			t.Fatalf("point without its role: %+v", pt)
		}
	}
	if busy(pts) == 0 {
		t.Error("no worker's thread shows its CPU")
	}
	b.monotonic(t, p)
}

// nginx starts one with two pinned workers.
func nginx(t *testing.T) (*fake, string) {
	t.Helper()
	addr, dir := reserve(t), t.TempDir()
	masks := "01 10"
	if runtime.NumCPU() < 2 {
		masks = "1 1"
	}
	conf := fmt.Sprintf(`daemon off; worker_processes 2; worker_cpu_affinity %s; pid %s/pid; error_log stderr;
events { worker_connections 64; }
http { access_log off; client_body_temp_path %[2]s/b; proxy_temp_path %[2]s/p; fastcgi_temp_path %[2]s/f; uwsgi_temp_path %[2]s/u; scgi_temp_path %[2]s/s;
server { listen %s reuseport; location / { return 200 "ok"; } } }`, masks, dir, addr)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t, "nginx"), "-c", file, "-p", dir)
	cmd.Stderr = os.Stderr
	f := start(t, "nginx", "sut", cmd)
	t.Cleanup(func() { f.cmd.Process.Signal(os.Interrupt); <-f.exited })
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Second}
	for range 600 {
		if resp, err := client.Get("http://" + addr); err == nil {
			resp.Body.Close()
			return f, addr
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("nginx does not answer")
	return nil, ""
}

// reserve is an address whose port nobody else is given until the test ends; a server listens there with SO_REUSEPORT.
func reserve(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint("127.0.0.1:", at.(*unix.SockaddrInet4).Port)
}

// read adds up the CPU time of a process and its children as /proc has it now.
func read(t *testing.T, pid int) (seconds float64, children int) {
	t.Helper()
	fs, err := proctree.FS()
	if err != nil {
		t.Fatal(err)
	}
	procs, err := fs.AllProcs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range procs {
		st, err := p.Stat()
		if err != nil {
			continue
		}
		if st.PID == pid {
			seconds += st.CPUTime()
		}
		if st.PPID == pid {
			seconds += st.CPUTime()
			children++
		}
	}
	return seconds, children
}

func TestProcessSaysWhoIsThere(t *testing.T) {
	f := burner(t, "app", "sut", "idle")
	b, p := newBench(f), newProcess("apq")
	_, err := b.sample(t, p)
	if err == nil || !strings.Contains(err.Error(), "apq") || !strings.Contains(err.Error(), "app (sut)") {
		t.Errorf("error %v", err)
	}
	if _, err := b.sample(t, p); err != nil {
		t.Errorf("said again: %v", err)
	}
}

func TestEngineIsControl(t *testing.T) {
	b, p := newBench(), newProcess("")
	pts := b.must(t, p)
	var got []series.Point
	for _, pt := range pts {
		if pt.Role == "control" {
			got = append(got, pt)
		}
	}
	if value(t, got, "rss_mib", "planrun", "") < 1 || value(t, got, "fds", "planrun", "") < 3 || value(t, got, "rss_peak_mib", "planrun", "") < 1 {
		t.Errorf("points of the engine: %v", got)
	}
}
