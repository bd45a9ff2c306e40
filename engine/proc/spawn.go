package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/task"
)

// spawner runs functions one at a time on one thread that lives as long as this process. Children start from it because
// the signal that they get when their parent dies belongs to the thread that made them, and because they inherit its
// CPUs, which change only there.
var spawner = sync.OnceValue(func() chan<- func() {
	todo := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range todo {
			f()
		}
	}()
	return todo
})

// spawn starts a program on the CPUs (nil: all that this process may use), in a session of its own. It gets stop when
// this process dies.
func spawn(path string, argv []string, attr os.ProcAttr, cpus []int, stop syscall.Signal) (p *os.Process, err error) {
	attr.Sys = &syscall.SysProcAttr{Setsid: true, Pdeathsig: stop}
	done := make(chan struct{})
	spawner() <- func() {
		defer close(done)
		var back error
		err, back = kernel.Pinned(cpus, func() (err error) {
			p, err = children.spawn(func() (*os.Process, error) { return os.StartProcess(path, argv, &attr) })
			return err
		})
		if back != nil {
			err = errors.Join(err, back)
		}
	}
	<-done
	return p, err
}

// lookPath finds a program: in PATH of the process's own environment if the plan sets one. A path is relative to the
// working directory.
func lookPath(program, dir string, env map[string]string) (string, error) {
	missing := &MissingProgram{program}
	if strings.Contains(program, "/") {
		path := program
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		found, err := exec.LookPath(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", missing
		case err != nil:
			return "", fmt.Errorf("program %s: %w", program, err)
		}
		return found, nil
	}
	list, ok := env["PATH"]
	if !ok {
		list = os.Getenv("PATH")
	}
	for _, d := range filepath.SplitList(list) {
		if !filepath.IsAbs(d) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(d, program)); err == nil {
			return path, nil
		}
	}
	return "", missing
}

// limited puts a shell before the program that sets what a program can only set for itself before it runs: niceness, the
// limit of descriptors, the cgroups. The shell becomes the program. Without any of these it changes nothing.
func limited(path string, argv []string, spec *task.ProcessSpec, cgroups []string) (string, []string, error) {
	var script strings.Builder
	for i := range cgroups {
		fmt.Fprintf(&script, "echo $$ >\"$%d\" || exit 126\n", i+1)
	}
	if len(cgroups) > 0 {
		fmt.Fprintf(&script, "shift %d\n", len(cgroups))
	}
	if n := spec.Limits.Files; n > 0 {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
			return "", nil, fmt.Errorf("reading the limit of descriptors: %w", err)
		}
		if uint64(n) > now.Max && os.Geteuid() != 0 {
			return "", nil, &Refusal{fmt.Sprintf("limits: files: %d is above the hard limit of %d, which this user cannot raise", n, now.Max)}
		}
		fmt.Fprintf(&script, "ulimit -n %d || exit 126\n", n)
	}
	if spec.Nice == 0 && script.Len() == 0 {
		return path, argv, nil
	}
	before := ""
	if spec.Nice != 0 {
		now, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0) // the system call answers 20 - nice
		if err != nil {
			return "", nil, fmt.Errorf("reading the niceness: %w", err)
		}
		before = "nice -n " + strconv.Itoa(spec.Nice-(20-now)) + " "
	}
	script.WriteString("exec " + before + "\"$@\"")
	sh, err := exec.LookPath("/bin/sh")
	if err != nil {
		return "", nil, &Refusal{"niceness and limits are set with /bin/sh, which is not there"}
	}
	args := append([]string{"sh", "-c", script.String(), "sh"}, cgroups...)
	return sh, append(append(args, path), argv[1:]...), nil
}

// environment is this process's own with what the plan sets and what identifies the start.
func environment(set map[string]string, id *identity) []string {
	skip := func(name string) bool {
		_, ok := set[name]
		return ok || name == EnvToken || name == EnvStart
	}
	var out []string
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); !skip(name) {
			out = append(out, e)
		}
	}
	for name, value := range set {
		out = append(out, name+"="+value)
	}
	return append(out, EnvToken+"="+id.Token, EnvStart+"="+id.Start)
}
