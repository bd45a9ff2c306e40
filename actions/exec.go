package actions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/task"
)

var execKind = kind("exec", `Run a command to its end. What it leaves running is ended with its installation (in a phase: with the run).
It may set values from its JSON output, which later expressions read by their names; numbers become metrics of the run. Its undo list says what takes its effect back.
pids("sut") in its command are the processes of a role or a name, for programs that watch processes.`, func() *execute { return &execute{} })

type execute struct {
	Command    []string        `yaml:"command" required:"true" min:"1" short:"true" doc:"the program and its arguments; no shell reads them"`
	Dir        string          `yaml:"dir" doc:"working directory, below the installation's; left out: the installation's"`
	Env        dsl.Map[string] `yaml:"env" doc:"environment variables, beside planrun's own"`
	Timeout    dsl.Duration    `yaml:"timeout" default:"1m" min:"1ms" doc:"how long it may take; it is ended after that, and the action fails"`
	Set        dsl.Map[string] `yaml:"set" keys:"ident" doc:"values from what it prints on standard output, which must be JSON: NAME: PATH, with a path such as version, stats.open or items[0].id; . is the whole"`
	ExpectExit int             `yaml:"expect-exit" default:"0" min:"0" max:"255" doc:"the exit status that is right"`
	Show       int             `yaml:"show" default:"0" min:"0" max:"200" doc:"how many lines the report shows of what it prints on standard output"`
}

// TakesUndo: an undo list may stand beside it.
func (x *execute) TakesUndo() {}

// Check finds what the types do not.
func (x *execute) Check(c *dsl.Check) {
	if c.Known("command") && (len(x.Command) == 0 || x.Command[0] == "") {
		c.Errorf("command", "an empty command").Hint = "write [PROGRAM, ARGUMENT, ...]"
	}
	for _, e := range x.Set {
		if _, err := parsePath(e.Val); err != nil && c.Known("set") {
			c.Errorf("set", "%s: %v", e.Name, err)
		}
	}
}

// Declares its program, and the values that it sets.
func (x *execute) Declares() task.Declaration {
	d := task.Declaration{Values: x.Set.Names()}
	if _, own := x.Env.Get("PATH"); !own {
		d.Programs = x.Command[:min(1, len(x.Command))]
	}
	return d
}

func (x *execute) Run(ctx context.Context, env *task.Env) error {
	if err := journalUndo(ctx, env); err != nil {
		return err
	}
	out, err := x.output(env)
	if err != nil {
		return err
	}
	spec := task.ProcessSpec{Name: "exec-" + env.Name, Role: "exec", Command: command(env, x.Command), Dir: x.dir(env), Env: map[string]string{}, Once: true, Output: out, Grace: time.Second}
	for _, e := range x.Env {
		spec.Env[e.Name] = e.Val
	}
	p, err := env.Processes.Start(ctx, spec)
	if missing := (*proc.MissingProgram)(nil); errors.As(err, &missing) {
		return missing // what planrun calls its process tells nobody anything
	}
	if err != nil {
		return err
	}
	timeout := time.NewTimer(x.Timeout)
	defer timeout.Stop()
	select {
	case <-p.Exited():
	case <-timeout.C:
		return &task.Refused{Err: x.failed(p, out, fmt.Sprintf("it did not end within %v, its timeout", x.Timeout), env.Processes.Stop(context.WithoutCancel(ctx), p))}
	case <-ctx.Done():
		err := env.Processes.Stop(context.WithoutCancel(ctx), p)
		if ended(ctx) == nil { // its phase ended early
			return err
		}
		return x.failed(p, out, fmt.Sprintf("it was ended: %v", context.Cause(ctx)), err)
	}
	if leftNothing(p) {
		if err := env.Processes.Stop(ctx, p); err != nil { // nothing to end; its entries are done
			return err
		}
	}
	if status, _ := p.Exit(); status != fmt.Sprintf("exit status %d", x.ExpectExit) {
		return &task.Refused{Err: x.failed(p, out, status, nil)}
	}
	if err := x.show(env, out); err != nil {
		return err
	}
	return x.set(env, out)
}

// leftNothing reports whether no process of its tree lives. It looks twice: what is just being started cannot be told from
// a stranger for a moment, and would be ended with the rest.
func leftNothing(p task.Process) bool {
	t, ok := p.(interface{ Tree() ([]int, error) })
	for range 2 {
		if !ok {
			return false
		}
		if left, err := t.Tree(); err != nil || len(left) > 0 {
			return false
		}
		time.Sleep(25 * time.Millisecond)
	}
	return true
}

func (x *execute) dir(env *task.Env) string {
	if filepath.IsAbs(x.Dir) {
		return x.Dir
	}
	return filepath.Join(env.Dir, x.Dir)
}

// output makes the file that keeps what it prints.
func (x *execute) output(env *task.Env) (string, error) {
	dir := env.RunDir
	if dir == "" {
		dir = env.Dir
	}
	dir = filepath.Join(dir, "output")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("keeping the output: %w", err)
	}
	path := unused(dir, "exec-"+fileName(env.Name)+".out")
	return path, os.WriteFile(path, nil, 0o644)
}

// failed shows the last lines of what it printed.
func (x *execute) failed(p task.Process, out, reason string, stop error) error {
	e := &proc.StartError{Doing: "running", Process: x.Command[0], Reason: reason, Log: out}
	var printed []byte
	if l, ok := p.(task.Logged); ok {
		path, from := l.Log()
		if b, err := os.ReadFile(path); err == nil {
			printed = b[min(from, int64(len(b))):]
		}
	}
	if b, err := os.ReadFile(out); err == nil {
		printed = append(b, printed...)
	}
	lines := strings.Split(strings.TrimRight(string(printed), "\n"), "\n")
	if len(printed) > 0 {
		e.Tail = lines[max(0, len(lines)-10):]
	}
	return errors.Join(e, stop)
}

// set reads the values from the output.
func (x *execute) set(env *task.Env, out string) error {
	if len(x.Set) == 0 {
		return nil
	}
	b, err := os.ReadFile(out)
	if err != nil {
		return fmt.Errorf("reading its output: %w", err)
	}
	return setValues(env, x.Set, b)
}

const undoExecKind = "exec"

// execEntry is a command that undoes something.
type execEntry struct {
	Command []string          `json:"command"`
	Dir     string            `json:"dir"`
	Env     map[string]string `json:"env,omitempty"`
	Timeout time.Duration     `json:"timeout"`
	Exit    int               `json:"exit"`
}

// UndoData keeps the command with the path of its program.
func (x *execute) UndoData(_ context.Context, env *task.Env) (string, any, error) {
	if len(x.Set) > 0 {
		return "", nil, errors.New("a command that undoes something cannot set values")
	}
	e := execEntry{Command: command(env, x.Command), Dir: x.dir(env), Env: map[string]string{}, Timeout: x.Timeout, Exit: x.ExpectExit}
	if path, err := exec.LookPath(e.Command[0]); err == nil {
		if e.Command[0], err = filepath.Abs(path); err != nil {
			return "", nil, err
		}
	} else {
		return "", nil, &proc.MissingProgram{Program: e.Command[0]}
	}
	for _, v := range x.Env {
		e.Env[v.Name] = v.Val
	}
	return undoExecKind, e, nil
}

func undoExec(ctx context.Context, env *task.UndoEnv, e execEntry) error {
	ctx, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.Command[0], e.Command[1:]...)
	if cmd.Dir = e.Dir; !isDir(e.Dir) {
		cmd.Dir = "" // the installation's directory may be gone
	}
	cmd.Env = append(os.Environ(), proc.EnvToken+"="+env.Token)
	for name, value := range e.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == e.Exit {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("exit status 0, not %d", e.Exit)
	}
	printed := strings.TrimSpace(out.String())
	return fmt.Errorf("running %q: %w: %s", e.Command, err, printed[max(0, len(printed)-500):])
}

func isDir(path string) bool {
	i, err := os.Stat(path)
	return err == nil && i.Mode()&fs.ModeDir != 0
}
