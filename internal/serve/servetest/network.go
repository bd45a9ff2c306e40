package servetest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"
)

// inside is set in the environment of a test that runs in a network namespace of its own.
const inside = "PLANRUN_TEST_OWN_NETWORK"

// OwnNetwork runs the test that calls it once more, as a process in a network namespace of its own, so that rules for packets
// and what else it changes there are nobody else's. It is true in there; elsewhere the test has been done when it returns.
func OwnNetwork(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inside) == t.Name() {
		if err := loopbackUp(); err != nil {
			t.Fatal(err)
		}
		return true
	}
	if strings.Contains(t.Name(), "/") {
		t.Fatal("a test of its own is needed, not a part of one")
	}
	args := []string{"-test.run=^" + t.Name() + "$", "-test.count=1"}
	if testing.Verbose() {
		args = append(args, "-test.v")
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), inside+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("in a network namespace of its own: %v\n%s", err, out)
	}
	if testing.Verbose() {
		t.Logf("%s", out)
	}
	return false
}

// loopbackUp sets the loopback interface of a new network namespace up.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_LOOPBACK | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("setting lo up: %w", err)
	}
	return nil
}

// Tables are the names of the tables of nftables in this network namespace.
func Tables(t testing.TB) (names []string) {
	t.Helper()
	c, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.ListTables()
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range all {
		names = append(names, table.Name)
	}
	return names
}
