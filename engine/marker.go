package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/task"
)

// A marker is a host that leads to a backend from one change on: it stands last in the routes that the target is given with
// the change. The target serves the change when it answers that host as the backend does, on a new connection, and no
// longer as a host without a route.
type marker struct {
	in            *installation
	host, backend string
	asked, path   string // the host and path that are asked: those of the marker, or the backend's own route
	endpoint      string // http://host:port of the target
	client        *http.Client
	direct        answer // of the backend itself; without a status where it had no replica
	gone          bool   // it has no replica any more
	was           answer // of the target while it had, where its own route is asked
	before        answer // of the target, without the route
	varies        bool   // that answer is another one each time: only its status tells it apart
	why           string // it cannot be seen; "" if it can
	patience      time.Duration
	last          string // what the newest ask came to, in words
}

// An answer as it is told apart from others. Without one the status is 0.
type answer struct {
	status int
	body   [32]byte
}

// phaseOver is why a change was not made, or not seen to be served.
const (
	phaseOver         = "its phase ended before"
	interruptedBefore = "it was interrupted before"
)

// An ask is given little time, so that one that a busy or dying process holds costs no more than that: the next is a new
// connection. A target that is slow is given more each time, up to the most.
const (
	leastPatience = 250 * time.Millisecond
	mostPatience  = 2 * time.Second
)

// errNoAnswer says that an ask was given up: it says nothing about the target's routes.
var errNoAnswer = errors.New("no answer in time")

// askEvery is how often the target is asked, and how exactly it is known when it serves a change.
const askEvery = 5 * time.Millisecond

// mark puts a new marker into the routes, after it asked how the target answers without it.
func (in *installation) mark(ctx context.Context, backend string, within time.Duration) *marker {
	in.mu.Lock()
	in.moved.changes++
	host := fmt.Sprintf("change-%d.planrun.test", in.moved.changes)
	in.mu.Unlock()
	m := &marker{in: in, host: host, asked: host, path: "/", patience: leastPatience}
	m.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: host}}}
	if m.backend = in.marked(backend); m.backend != "" {
		m.path, m.gone = in.askable(m.backend), len(in.addresses(m.backend)) == 0
	}
	names := append(in.cell.declared.endpoints(), in.cell.Target.Val.Endpoints.Names()...)
	slices.SortStableFunc(names, func(a, b string) int { return preferred(a) - preferred(b) })
	switch {
	case m.backend == "":
		m.why = "the plan has no backend that could answer"
	case len(names) == 0:
		m.why = "the target has no endpoint that could be asked"
	default:
		address, err := in.endpoint(names[0])
		if err != nil {
			m.why = err.Error()
			break
		}
		m.endpoint = "http://" + address
		if names[0] == "https" {
			m.endpoint = "https://" + address
		}
		asking, cancel := context.WithTimeout(ctx, max(within, mostPatience))
		defer cancel()
		if !m.gone {
			m.direct, err = m.answered(asking, "http://"+in.origins(m.backend)[0])
		}
		if err != nil {
			m.why = "before the target was told, backend " + m.backend + " gave " + err.Error()
		} else if m.before, err = m.answered(asking, m.endpoint); err != nil {
			m.why = "before the target was told, it gave " + err.Error()
		} else if again, err := m.answered(asking, m.endpoint); err == nil {
			m.varies = m.before != again
		}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.moved.marker = nil; m.backend != "" {
		in.moved.marker = m
	}
	return m
}

// marked is the backend that a marker leads to: the one that changes if it has replicas, else one that has.
func (in *installation) marked(backend string) string {
	first := ""
	for _, name := range append([]string{backend}, in.p.backends.Names()...) {
		if name != "" && len(in.addresses(name)) > 0 {
			return name
		}
		first = cmp.Or(first, name)
	}
	return first
}

// ends has the marker watch for the end of its backend, which loses its last replica: of a host that leads to nothing many
// targets answer as of one without a route, so the backend's own route is asked, if the target answers there as the backend.
func (m *marker) ends(ctx context.Context) {
	m.gone = true
	if m.why != "" {
		return
	}
	asked, path := m.asked, m.path
	for _, r := range append(m.in.routes(), route{asked, "", m.backend}) { // the last one is for where hosts mean nothing
		if r.backend != m.backend || r.host == m.host && r.path != "" {
			continue
		}
		m.asked, m.path = r.host, strings.TrimSuffix(r.path, "/")+path
		if a, err := m.answered(ctx, m.endpoint); err == nil && a.status == m.direct.status {
			m.was = a
			return
		}
	}
	m.asked, m.path = asked, path
}

// back reports whether the target answers again as while the backend had replicas.
func (m *marker) back(ctx context.Context) (bool, error) {
	a, err := m.ask(ctx, m.endpoint)
	return err == nil && a.status == m.was.status, err
}

// preferred puts the names of endpoints that say what is spoken there first.
func preferred(name string) int {
	return map[string]int{"http": -2, "https": -1}[name]
}

// askable is a path that a backend answers.
func (in *installation) askable(backend string) string {
	b := in.p.backends.Get(backend).Val
	if i := strings.IndexByte(b.Ready.HTTP, '/'); i >= 0 {
		return b.Ready.HTTP[i:]
	}
	if len(b.Command) == 0 && len(b.Address) == 0 {
		return "/small"
	}
	return "/"
}

// ask asks once, on a new connection. What is refused or broken off is an answer too, one without a status; the error is
// errNoAnswer.
func (m *marker) ask(ctx context.Context, where string) (a answer, err error) {
	begun, before := time.Now(), m.last
	asking, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	defer func() {
		if ctx.Err() != nil && a.status == 0 { // nobody waits for it any more
			m.last, err = before, errNoAnswer
			return
		}
		if asking.Err() != nil && a.status == 0 {
			m.last = fmt.Sprintf("it gave no answer within %v", m.patience)
			m.patience = min(2*m.patience, mostPatience)
			err = errNoAnswer
			return
		}
		m.patience = min(max(leastPatience, 4*time.Since(begun)), mostPatience)
	}()
	req, err := http.NewRequestWithContext(asking, http.MethodGet, where+m.path, nil)
	if err != nil {
		m.last = err.Error()
		return answer{}, nil
	}
	req.Host = m.asked
	res, err := m.client.Do(req)
	if err != nil {
		m.last = "it broke off or refused: " + err.Error()
		return answer{}, nil
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil {
		m.last = "it broke off: " + err.Error()
		return answer{}, nil
	}
	m.last = fmt.Sprintf("it answered with status %d", res.StatusCode)
	return answer{res.StatusCode, sha256.Sum256(body)}, nil
}

// answered asks until there is an answer.
func (m *marker) answered(ctx context.Context, where string) (answer, error) {
	for {
		a, err := m.ask(ctx, where)
		if err == nil || ctx.Err() != nil {
			return a, err
		}
	}
}

// await waits until the target serves the change: three times in a row, because a target that has several processes may
// answer by the old one once more. It returns when the first of these was. Why says that it was not seen to.
func (m *marker) await(ctx context.Context, within time.Duration, scaled bool, came, leave []task.Process) (at time.Time, why string) {
	if m.why != "" {
		return at, m.why
	}
	holds := func() (bool, error) {
		a, err := m.ask(ctx, m.endpoint)
		return m.routed(a), err
	}
	switch hostless := m.direct.status != 0 && m.unrouted(m.direct); { // hosts mean nothing to it: only replicas can be told apart
	case m.was.status != 0:
		holds = func() (bool, error) {
			a, err := m.ask(ctx, m.endpoint)
			return a.status != m.was.status, err
		}
	case hostless && !scaled:
		return at, "the target answers a host without a route as one with it"
	case hostless:
		holds = func() (bool, error) { return m.shared(ctx, came, leave), nil }
	}
	if at, why = await(ctx, within, holds); why != "" && m.last != "" {
		why += "; when last asked " + m.last
	}
	return at, why
}

// await waits until something holds three times in a row, and says when it first did. An error is neither yes nor no.
func await(ctx context.Context, within time.Duration, holds func() (bool, error)) (at time.Time, why string) {
	begun := time.Now()
	for times := 0; times < 3; {
		held, err := holds()
		switch {
		case ctx.Err() != nil && !held: // what ended with the phase says nothing
		case held:
			if times++; times == 1 {
				at = time.Now()
			}
		case err == nil:
			times = 0
		}
		switch {
		case times == 3:
		case ctx.Err() != nil:
			if errors.Is(context.Cause(ctx), ErrInterrupted) {
				return at, interruptedBefore
			}
			return at, fmt.Sprintf("%s, %.1f s after the target was told", phaseOver, time.Since(begun).Seconds())
		case time.Since(begun) > within:
			return at, fmt.Sprintf("not within %v", within)
		default:
			select {
			case <-time.After(askEvery):
			case <-ctx.Done():
			}
		}
	}
	return at, ""
}

// routed reports whether an answer is that of the backend, or of a target that has the route and no replica for it. While a
// target changes it may answer in a third way.
func (m *marker) routed(a answer) bool {
	return a.status != 0 && !m.unrouted(a) && (m.direct.status == 0 || (a.status == m.direct.status) != m.gone)
}

// unrouted reports whether an answer is that of the target without the route.
func (m *marker) unrouted(a answer) bool {
	return a == m.before || m.varies && a.status == m.before.status
}

// shared asks the target as often as each replica has to have its turn, and reports whether those that came had it, and
// those that leave had none.
func (m *marker) shared(ctx context.Context, came, leave []task.Process) bool {
	a, b := requestsOf(ctx, came), requestsOf(ctx, leave)
	for range max(10, 3*len(m.in.replicas(m.backend))) {
		if a, err := m.ask(ctx, m.endpoint); err != nil || a.status != m.direct.status {
			return false
		}
	}
	for i, n := range requestsOf(ctx, came) {
		if n <= a[i] {
			return false
		}
	}
	return slices.Equal(b, requestsOf(ctx, leave))
}
