package drop

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/planrun/planrun/internal/serve/servetest"
	"github.com/planrun/planrun/internal/worker"
)

// The test binary is also the worker, and a process that only tries out what it may do.
func TestMain(m *testing.M) {
	switch os.Getenv("PLANRUN_TEST_DROP") {
	case "worker":
		if err := Main(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "try":
		_, err := Start(Spec{Table: "planrun-test"})
		fmt.Println(Offered())
		fmt.Println(err)
	default:
		os.Exit(m.Run())
	}
}

// again is this binary as one of these.
func again(as string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), "PLANRUN_TEST_DROP="+as), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// A pair is a connection from both sides.
type pair struct{ client, server net.Conn }

// connect makes connections to a port of their own.
func connect(t *testing.T, network, address string, n int) (all []pair, port int) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range n {
		var p pair
		if p.client, err = net.Dial(network, l.Addr().String()); err != nil {
			t.Fatal(err)
		}
		if p.server, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.client.Close(); p.server.Close() })
		all = append(all, p)
	}
	return all, l.Addr().(*net.TCPAddr).Port
}

// sends reports whether a byte arrives before patience is over.
func sends(t *testing.T, from, to net.Conn, patience time.Duration) bool {
	t.Helper()
	if _, err := from.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	return arrives(t, to, patience)
}

func arrives(t *testing.T, to net.Conn, patience time.Duration) bool {
	t.Helper()
	to.SetReadDeadline(time.Now().Add(patience))
	_, err := io.ReadFull(to, make([]byte, 1))
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return err == nil
}

const moment = 150 * time.Millisecond // in which what is not dropped would have arrived

func TestDrop(t *testing.T) {
	if !servetest.OwnNetwork(t) {
		return
	}
	if err := Offered(); err != nil {
		t.Fatal(err)
	}
	s, err := Start(Spec{Table: "planrun-test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []struct{ network, address string }{{"tcp4", "127.0.0.1:0"}, {"tcp6", "[::1]:0"}} {
		all, port := connect(t, at.network, at.address, 60)
		others, _ := connect(t, at.network, at.address, 1)
		a, other := all[0], others[0]
		control := func(rules ...Rule) Sample {
			t.Helper()
			r, err := s.Control(Control{Rules: rules})
			if err != nil {
				t.Fatal(err)
			}
			return r.Before
		}

		// To the port: the connection stays, and what was sent arrives once nothing is dropped any more.
		control(Rule{Port: port, Share: 1})
		if sends(t, a.client, a.server, moment) {
			t.Errorf("%s: a packet to the port arrived", at.network)
		}
		if !sends(t, other.client, other.server, servetest.Patience) {
			t.Errorf("%s: another port is cut off", at.network)
		}
		if now := s.Sample(); len(now.Rules) != 1 || now.Rules[0].Packets == 0 || now.Rules[0].Dropped != now.Rules[0].Packets {
			t.Errorf("%s: %+v", at.network, now)
		}
		if packets, dropped := control().Total(); packets == 0 || dropped != packets {
			t.Errorf("%s: %d of %d packets dropped", at.network, dropped, packets)
		}
		if !arrives(t, a.server, servetest.Patience) {
			t.Errorf("%s: nothing was sent again", at.network)
		}

		// From the port.
		control(Rule{Port: port, Share: 1, From: true})
		if !sends(t, a.client, a.server, servetest.Patience) {
			t.Errorf("%s: a packet to the port did not arrive", at.network)
		}
		if sends(t, a.server, a.client, moment) {
			t.Errorf("%s: a packet from the port arrived", at.network)
		}
		control()
		if !arrives(t, a.client, servetest.Patience) {
			t.Errorf("%s: nothing was sent again", at.network)
		}

		// A share, and none: that of so many packets all are dropped, or none, is out of the question.
		control(Rule{Port: port, Share: 0.5}, Rule{Port: port, Share: 0, From: true})
		for _, p := range all {
			if _, err := p.client.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		if !arrives(t, all[1].server, servetest.Patience) {
			t.Errorf("%s: of half of the packets none arrives", at.network)
		}
		was := control().Rules
		if len(was) != 2 || was[0].Packets < 60 || was[0].Dropped == 0 || was[0].Dropped == was[0].Packets || was[1].Packets == 0 || was[1].Dropped != 0 {
			t.Errorf("%s: %+v", at.network, was)
		}
	}

	if _, err := s.Control(Control{Rules: []Rule{{Port: 70000, Share: 1}}}); err == nil {
		t.Error("a port that cannot be")
	}
	if _, err := s.Control(Control{Rules: []Rule{{Port: 1, Share: 1e-8}}}); err == nil {
		t.Error("a share that cannot be drawn")
	}
	if _, err := Start(Spec{Table: "planrun-test"}); err == nil {
		t.Error("two tables of one name")
	}
	if got := servetest.Tables(t); !slices.Equal(got, []string{"planrun-test"}) {
		t.Errorf("tables: %q", got)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if got := servetest.Tables(t); len(got) > 0 {
		t.Errorf("left: %q", got)
	}
}

// A process that is killed leaves no rule, and one whose engine is gone ends.
func TestRulesGoWithTheirProcess(t *testing.T) {
	if !servetest.OwnNetwork(t) {
		return
	}
	for _, end := range []string{"killed", "its engine is gone"} {
		cmd := again("worker")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		engine, err := worker.Dial(in, out, worker.Options{Kind: "drop"})
		if err != nil {
			t.Fatal(err)
		}
		if err := engine.Configure(t.Context(), Spec{Table: "planrun-x"}, nil); err != nil {
			t.Fatal(err)
		}
		if err := engine.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, port := connect(t, "tcp4", "127.0.0.1:0", 1)
		a := all[0]
		if err := engine.Control(t.Context(), Control{Rules: []Rule{{Port: port, Share: 1}}}, nil); err != nil {
			t.Fatal(err)
		}
		if sends(t, a.client, a.server, moment) {
			t.Error("a packet to the port arrived")
		}
		if got := servetest.Tables(t); !slices.Equal(got, []string{"planrun-x"}) {
			t.Errorf("tables: %q", got)
		}
		if end == "killed" {
			cmd.Process.Kill()
		} else {
			in.Close()
		}
		if !arrives(t, a.server, servetest.Patience) {
			t.Errorf("%s: its rules are still in force", end)
		}
		if got := servetest.Tables(t); len(got) > 0 {
			t.Errorf("%s: left: %q", end, got)
		}
		engine.Close()
		cmd.Wait()
	}
}

// Who may not make rules is told so in words.
func TestWithoutTheRight(t *testing.T) {
	cmd := again("try")
	if os.Geteuid() == 0 {
		dir, err := os.MkdirTemp("", "planrun-try")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		b, err := os.ReadFile(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		cmd.Path = dir + "/try" // where nobody may run it
		if err := errors.Join(os.WriteFile(cmd.Path, b, 0o755), os.Chmod(dir, 0o755)); err != nil {
			t.Fatal(err)
		}
		cmd.Dir = "/"
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 {
		t.Fatalf("%q", out)
	}
	for _, l := range lines {
		if l == "<nil>" || !strings.Contains(l, "rules may not be read or made") && !strings.Contains(l, "the kernel") {
			t.Errorf("in words: %q", l)
		}
	}
}

func TestBecause(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.EPERM: "needs CAP_NET_ADMIN", syscall.EOPNOTSUPP: "without nf_tables", syscall.EPROTONOSUPPORT: "no netfilter",
		syscall.EINVAL: "since 5.12", syscall.ENOENT: "CONFIG_NFT_NUMGEN", syscall.EEXIST: "file exists",
	} {
		if got := because(fmt.Errorf("x: %w", errno)); !strings.Contains(got.Error(), want) || !errors.Is(got, errno) {
			t.Errorf("%v: %v", errno, got)
		}
	}
}

func TestTotal(t *testing.T) {
	s := Sample{Rules: []Counted{{Packets: 3, Dropped: 1}, {Packets: 4, Dropped: 4}}}
	if p, d := s.Total(); strconv.FormatInt(p, 10)+" "+strconv.FormatInt(d, 10) != "7 5" {
		t.Error(p, d)
	}
}
