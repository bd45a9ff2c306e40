package actions

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/proc"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

var waitKind = kind("wait", "Wait for something: a TCP port, an HTTP answer, a line of a log, or a condition on metrics. It can record how long that took as a metric of the run.", func() *wait { return &wait{} })

type wait struct {
	TCP    string       `yaml:"tcp" kind:"true" doc:"an address HOST:PORT, or the name of an endpoint of the target, that accepts a connection"`
	HTTP   string       `yaml:"http" kind:"true" doc:"http://HOST:PORT/PATH, or ENDPOINT/PATH for an endpoint of the target, that answers with status"`
	Log    *waitLog     `yaml:"log" kind:"true" doc:"a line of a process's output"`
	Until  dsl.Expr     `yaml:"until" kind:"true" eval:"live" doc:"a condition on the metrics of the last second"`
	Status int          `yaml:"status" min:"100" max:"599" doc:"with http: the status; left out: any from 200 to 299"`
	Within dsl.Duration `yaml:"within" default:"30s" min:"1ms" doc:"how long to wait at most; after that the action fails"`
	Record dsl.Ident    `yaml:"record" hole:"no" doc:"a metric of the run that the time it took becomes, in the unit in which its name ends: _us, _ms or _s. It is known to 10 ms, a condition to 100 ms"`
}

type waitLog struct {
	Process string `yaml:"process" hole:"no" required:"true" doc:"the process, by the name it was started with"`
	Replica int    `yaml:"replica" min:"0" doc:"its replica, from 0"`
	Line    string `yaml:"line" required:"true" doc:"a regular expression that a line matches"`
	Since   string `yaml:"since" enum:"start|now" doc:"start: all that this start of the process printed; now: what it prints from now on. Left out: start while a target is installed, now in a phase"`
}

// Check finds what the types do not.
func (w *wait) Check(c *dsl.Check) {
	if !c.Has("tcp") && !c.Has("http") && !c.Has("log") && !c.Has("until") {
		c.Errorf("", "nothing says what to wait for").Hint = "write one of tcp, http, log, until"
	}
	if c.Has("status") && !c.Has("http") {
		c.Errorf("status", "only an HTTP answer has a status").Hint = "leave it out"
	}
	if c.Has("http") && c.Known("http") {
		checkURL(c, "http", w.HTTP)
	}
	if c.Has("tcp") && c.Known("tcp") && w.TCP == "" {
		c.Errorf("tcp", "no address").Hint = "write HOST:PORT, or the name of an endpoint"
	}
	if w.Record != "" && unitOf(string(w.Record)) == 0 {
		c.Errorf("record", "the name %s does not say in which unit", w.Record).Hint = fmt.Sprintf("write %s_ms", w.Record)
	}
}

// Check makes sure of the expression.
func (l *waitLog) Check(c *dsl.Check) {
	if _, err := regexp.Compile(l.Line); err != nil && c.Known("line") {
		c.Errorf("line", "%v", err)
	}
}

// unitOf is the unit that a name ends with; 0 if it does with none.
func unitOf(name string) time.Duration {
	switch {
	case strings.HasSuffix(name, "_us"):
		return time.Microsecond
	case strings.HasSuffix(name, "_ms"):
		return time.Millisecond
	case strings.HasSuffix(name, "_s"):
		return time.Second
	}
	return 0
}

// Declares the metric and what it looks at.
func (w *wait) Declares() task.Declaration {
	var d task.Declaration
	if u := unitOf(string(w.Record)); u != 0 {
		d.Metrics = []series.Desc{{
			Name: string(w.Record), Unit: map[time.Duration]string{time.Microsecond: "us", time.Millisecond: "ms", time.Second: "s"}[u],
			Better: series.Lower, Across: series.Median, Class: series.Timing, Apart: true, Doc: "how long a wait took",
		}}
	}
	if w.TCP != "" && !strings.Contains(w.TCP, ":") {
		d.Uses = append(d.Uses, task.Use{Kind: "endpoint", Name: w.TCP, Field: "tcp"})
	}
	d.Uses = append(d.Uses, urlUses("http", w.HTTP)...)
	if w.Log != nil {
		d.Uses = append(d.Uses, task.Use{Kind: "process", Name: w.Log.Process, Field: "log"})
	}
	return d
}

func (w *wait) Run(ctx context.Context, env *task.Env) error {
	begun := time.Now()
	holds, every, what, err := w.condition(env)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, w.Within)
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		err := holds(limited)
		if err == nil {
			break
		}
		var fatal fatalError
		if errors.As(err, &fatal) {
			return fmt.Errorf("waiting for %s: %w", what, fatal.error)
		}
		select {
		case <-tick.C:
			continue
		case <-limited.Done():
		}
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		}
		return &task.Refused{Err: fmt.Errorf("waiting for %s: not within %v: %w", what, w.Within, err)}
	}
	if w.Record != "" {
		env.Value(string(w.Record), float64(time.Since(begun))/float64(unitOf(string(w.Record))))
	}
	return nil
}

// A fatalError ends the wait at once.
type fatalError struct{ error }

// condition is what is waited for: nil from holds says that it is there, else the error says what is missing.
func (w *wait) condition(env *task.Env) (holds func(context.Context) error, every time.Duration, what string, err error) {
	const soon = 5 * time.Millisecond
	switch {
	case w.TCP != "":
		addr := w.TCP
		if !strings.Contains(addr, ":") {
			if addr, err = env.Endpoint(w.TCP); err != nil {
				return nil, 0, "", err
			}
		}
		return func(ctx context.Context) error { return proc.Accepts(ctx, addr) }, soon, "TCP " + addr, nil
	case w.HTTP != "":
		u, err := resolveURL(env, w.HTTP)
		if err != nil {
			return nil, 0, "", err
		}
		e := httpEntry{URL: u, Method: http.MethodGet, Expect: w.Status, Timeout: min(w.Within, 5*time.Second)}
		return func(ctx context.Context) error { _, err := e.do(ctx); return err }, soon, u, nil
	case w.Log != nil:
		holds, err := w.Log.condition(env)
		return holds, soon, fmt.Sprintf("a line of %s that matches %q", w.Log.Process, w.Log.Line), err
	}
	holds = func(ctx context.Context) error {
		v, err := env.Eval(ctx, w.Until)
		if err != nil {
			return err
		}
		if yes, ok := v.(bool); !ok || !yes {
			return fmt.Errorf("it is %v", v)
		}
		return nil
	}
	return holds, 50 * time.Millisecond, w.Until.Text, nil
}

func (l *waitLog) condition(env *task.Env) (func(context.Context) error, error) {
	re, err := regexp.Compile(l.Line)
	if err != nil {
		return nil, err
	}
	o := OnProcess{Process: l.Process, Replica: &l.Replica}
	found, err := o.find(env)
	if err != nil {
		return nil, err
	}
	logged, ok := found[0].(task.Logged)
	if !ok {
		return nil, fmt.Errorf("process %s keeps no log", l.Process)
	}
	path, from := logged.Log()
	if l.Since == "now" || l.Since == "" && env.RunDir != "" {
		if i, err := os.Stat(path); err == nil {
			from = i.Size()
		}
	}
	log := proc.NewLogReader(path, from)
	return func(context.Context) error {
		ended := false
		select {
		case <-found[0].Exited():
			ended = true
		default:
		}
		seen, err := log.Match(re)
		switch {
		case err != nil:
			return err
		case seen:
			return nil
		case ended:
			status, _ := found[0].Exit()
			return fatalError{fmt.Errorf("the process has ended: %s", status)}
		}
		return errors.New("there is no such line")
	}, nil
}
