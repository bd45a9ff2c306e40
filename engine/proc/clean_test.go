package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/planrun/planrun/engine/journal"
	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/proc/proctest"
)

// clean cleans, and makes sure that nothing is left and that cleaning again finds nothing to do.
func clean(t *testing.T, dir, token, when string) {
	t.Helper()
	r, err := journal.Clean(context.Background(), dir, Undos(), 20*time.Second, nil)
	if errors.Is(err, os.ErrNotExist) {
		r = &journal.Report{} // it was killed before it had a journal, so it had started nothing
	} else if err != nil {
		t.Errorf("%s: %v", when, err)
		return
	}
	for _, f := range r.Failed {
		t.Errorf("%s: %v", when, f)
	}
	if left := proctest.Left(t, dir, token); len(left) > 0 {
		t.Errorf("%s: left behind: %v", when, left)
	}
	if again, err := journal.Clean(context.Background(), dir, Undos(), 20*time.Second, nil); err == nil && len(again.Undone)+len(again.Failed) > 0 {
		t.Errorf("%s: cleaning again did something: %+v", when, again)
	}
}

func victimCommand(t *testing.T, dir, token, what string, at int) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "victim", dir, token, what, fmt.Sprint(at))
	cmd.Stderr = os.Stderr
	return cmd
}

func TestKilledAtEveryEntry(t *testing.T) {
	next, count := make(chan int), 0
	var mu sync.Mutex
	over := false
	var wg sync.WaitGroup
	base := t.TempDir()
	for range 3 {
		wg.Go(func() {
			for at := range next {
				dir := filepath.Join(base, fmt.Sprint(at))
				token := fmt.Sprintf("%sentry-%d-", runToken, at)
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Error(err)
					return
				}
				cmd := victimCommand(t, dir, token, "all", at)
				err := cmd.Run()
				ws, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
				if !ws.Signaled() && err != nil {
					t.Errorf("boundary %d: %v", at, err)
				}
				mu.Lock()
				if err == nil {
					over = true // it has fewer entries than that
				} else {
					count++
				}
				mu.Unlock()
				clean(t, dir, token, fmt.Sprintf("boundary %d", at))
			}
		})
	}
	for at := 0; ; at++ {
		mu.Lock()
		stop := over || t.Failed()
		mu.Unlock()
		if stop || at > 200 {
			break
		}
		next <- at
	}
	close(next)
	wg.Wait()
	if count < 40 {
		t.Errorf("only %d boundaries", count)
	}
	t.Logf("killed at %d boundaries", count)
}

func TestKilledAtRandomMoments(t *testing.T) {
	base := t.TempDir()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 100 {
		dir := filepath.Join(base, fmt.Sprint(i))
		token := fmt.Sprintf("%smoment-%d-", runToken, i)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := victimCommand(t, dir, token, "small", -1)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		clean(t, dir, token, fmt.Sprintf("moment %d", i))
	}
}

func TestCleanRefusesWhileTheEngineLives(t *testing.T) {
	dir, token := t.TempDir(), runToken+"lives"
	cmd := victimCommand(t, dir, token, "small", -1)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "up\n" {
		t.Fatalf("%q, %v", line, err)
	}
	var owned *journal.OwnedError
	if _, err := journal.Clean(t.Context(), dir, Undos(), time.Second, nil); !errors.As(err, &owned) || owned.PID != cmd.Process.Pid {
		t.Errorf("clean: %v", err)
	}
	if len(proctest.Left(t, dir, token)) < 10 {
		t.Error("clean ended what a living engine runs")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	clean(t, dir, token, "after its death")
}

// What has the id of a process of the journal, but is another one, is not touched.
func TestOtherProcessesAreNotTouched(t *testing.T) {
	start := func(env ...string) kernel.Stat {
		cmd := exec.Command("sleep", "600")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Env = append(os.Environ(), env...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		var s kernel.Stat
		eventually(t, "it is sleep", func() bool {
			comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", cmd.Process.Pid))
			s, _ = kernel.Read(cmd.Process.Pid)
			return string(comm) == "sleep\n"
		})
		return s
	}
	token := "other-token"
	foreign, sameToken := start(), start(EnvToken+"="+token, EnvStart+"=another start")
	rebooted := start(EnvToken+"="+token, EnvStart+"=R")
	boot := kernel.BootID()
	for _, tc := range []struct {
		name string
		id   identity
		s    kernel.Stat
	}{
		{"another start time", identity{PID: foreign.PID, Begun: foreign.Start - 1, Boot: boot}, foreign},
		{"a later start time", identity{PID: foreign.PID, Begun: foreign.Start + 1, Boot: boot}, foreign},
		{"its id and start time, but not the token", identity{PID: foreign.PID, Begun: foreign.Start, Boot: boot}, foreign},
		{"the token, but another start", identity{PID: sameToken.PID, Begun: sameToken.Start + 1, Boot: boot}, sameToken},
		{"everything, but another boot", identity{PID: rebooted.PID, Begun: rebooted.Start, Boot: "another", Start: "R"}, rebooted},
	} {
		dir := t.TempDir()
		j, err := journal.Open(dir, journal.Options{Token: token})
		if err != nil {
			t.Fatal(err)
		}
		tc.id.Name, tc.id.Token, tc.id.GraceMs = "x", token, 100
		if tc.id.Start == "" {
			tc.id.Start = "S"
		}
		if _, err := j.Add(kindProcess, tc.id); err != nil {
			t.Fatal(err)
		}
		j.Close()
		r, err := journal.Clean(t.Context(), dir, Undos(), 5*time.Second, nil)
		if err != nil || len(r.Failed) > 0 || len(r.Undone) != 1 {
			t.Errorf("%s: %+v, %v", tc.name, r, err)
		}
		if now, _ := kernel.Read(tc.s.PID); now.Dead() || now.Start != tc.s.Start {
			t.Errorf("%s: it was ended", tc.name)
		}
	}
	// The same entry with everything right does end it.
	id := identity{Name: "x", Token: token, Start: "R", Boot: boot, PID: rebooted.PID, Begun: rebooted.Start}
	if err := id.end(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if now, ok := kernel.Read(rebooted.PID); ok && !now.Dead() {
		t.Error("it was not ended")
	}
}
