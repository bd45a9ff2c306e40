package load

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/worker"
)

// TestMain makes this binary a load worker, if the environment says so.
func TestMain(m *testing.M) {
	if os.Getenv("PLANRUN_TEST_WORKER") != "" {
		if err := Main(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(4)
		}
		return
	}
	// Each load that runs in this process keeps one processor of the scheduler to itself; the servers of the tests need others.
	// Most tests wait for most of their time.
	runtime.GOMAXPROCS(max(8, runtime.GOMAXPROCS(0)))
	flag.Set("test.parallel", "8")
	os.Exit(m.Run())
}

// TestProcess: a worker process takes no notice of an interrupt, drains when it is told to stop, and ends when its engine
// is gone.
func TestProcess(t *testing.T) {
	srv, _ := counting(t, false)
	for _, gone := range []bool{false, true} {
		var stderr bytes.Buffer
		cmd, stdin, stdout := spawn(t, &stderr)
		t.Cleanup(func() { cmd.Process.Kill() })
		c, err := worker.Dial(stdin, stdout, worker.Options{Kind: "load"})
		if err != nil {
			t.Fatal(err)
		}
		if c.Hello.PID != cmd.Process.Pid {
			t.Errorf("process id %d, not %d", c.Hello.PID, cmd.Process.Pid)
		}
		ctx := t.Context()
		if err := c.Configure(ctx, Spec{Address: srv.Listener.Addr().String(), Connections: 2, Reuse: true}, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.Start(ctx); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		if gone {
			c.Close()
		} else if err := c.Stop(ctx); err != nil {
			t.Error(err)
		}
		<-c.Done()
		err = cmd.Wait()
		exit, _ := errors.AsType[*exec.ExitError](err)
		if gone && (exit == nil || exit.ExitCode() != 4 || !strings.Contains(stderr.String(), "the engine is gone")) || !gone && err != nil {
			t.Errorf("engine gone %v: %v, log %q", gone, err, stderr.String())
		}
	}
}

// spawn starts a worker process, which the caller ends.
func spawn(t *testing.T, stderr io.Writer) (cmd *exec.Cmd, stdin io.WriteCloser, stdout io.ReadCloser) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PLANRUN_TEST_WORKER=1")
	cmd.Stderr = stderr
	stdin, err := cmd.StdinPipe()
	if err == nil {
		stdout, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, stdin, stdout
}

// process starts a worker process, which ends with the test.
func process(t *testing.T) *session {
	t.Helper()
	cmd, stdin, stdout := spawn(t, os.Stderr)
	return speak(t, stdin, stdout, func() {
		cmd.Process.Kill() // it has ended already, or takes too long
		cmd.Wait()
	})
}
