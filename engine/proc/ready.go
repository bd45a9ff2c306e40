package proc

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/task"
)

// DefaultWithin is the deadline of readiness.
const DefaultWithin = 30 * time.Second

// A condition says nil once it holds, else why it does not yet.
type condition func(ctx context.Context) error

// conditions are what must hold for a process to be ready.
func conditions(spec *task.ProcessSpec, log *LogReader) ([]condition, error) {
	var out []condition
	tcp := spec.Ready.TCP
	if len(tcp) == 0 && spec.Ready.HTTP == "" && spec.Ready.Log == "" && !spec.Once {
		tcp = slices.Sorted(maps.Keys(spec.Ports))
	}
	for _, name := range tcp {
		addr, err := portAddress(spec.Ports, name)
		if err != nil {
			return nil, err
		}
		out = append(out, func(ctx context.Context) error {
			if err := Accepts(ctx, addr); err != nil {
				return fmt.Errorf("port %s accepts no connection (%w)", name, err)
			}
			return nil
		})
	}
	if spec.Ready.HTTP != "" {
		name, path, _ := strings.Cut(spec.Ready.HTTP, "/")
		if name == "" && len(spec.Ports) == 1 { // "/healthz" of the only port
			name = slices.Collect(maps.Keys(spec.Ports))[0]
		}
		addr, err := portAddress(spec.Ports, name)
		if err != nil {
			return nil, err
		}
		url := "http://" + addr + "/" + path
		out = append(out, func(ctx context.Context) error { return answers(ctx, url) })
	}
	if spec.Ready.Log != "" {
		re, err := regexp.Compile(spec.Ready.Log)
		if err != nil {
			return nil, fmt.Errorf("ready: log: %w", err)
		}
		out = append(out, func(context.Context) error {
			if seen, err := log.Match(re); err != nil || seen {
				return err
			}
			return fmt.Errorf("no line of its output matches %q", spec.Ready.Log)
		})
	}
	return out, nil
}

func portAddress(ports map[string]int, name string) (string, error) {
	port, ok := ports[name]
	if !ok {
		return "", fmt.Errorf("ready: there is no port %q; it listens on: %s", name, strings.Join(slices.Sorted(maps.Keys(ports)), ", "))
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
}

// Accepts tries one TCP connection for at most a second.
func Accepts(ctx context.Context, addr string) error {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return c.Close()
}

func answers(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("%s answers with %s", url, resp.Status)
	}
	return nil
}

// await returns nil once all conditions held, each at some moment; the error says what is missing. The end of over ends it
// at once. Between two looks it calls look.
func await(ctx context.Context, conds []condition, over <-chan struct{}, look func()) error {
	wait := time.Millisecond
	for len(conds) > 0 {
		err := conds[0](ctx)
		if err == nil {
			conds = conds[1:]
			continue
		}
		select {
		case <-over:
			return errEnded
		case <-ctx.Done():
			return fmt.Errorf("it is not ready %w: %w", context.Cause(ctx), err)
		case <-time.After(wait):
		}
		look()
		wait = min(2*wait, 25*time.Millisecond)
	}
	return nil
}
