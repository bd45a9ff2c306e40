package diff

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/report"
)

// loads compares what was sent, and notes how it was sent otherwise.
func (d *Diff) loads(m *mismatches, where string, a, b *record.Run) {
	index := func(r *record.Run) map[string]*record.Load {
		out := map[string]*record.Load{}
		for i := range r.Loads {
			out[r.Loads[i].Name] = &r.Loads[i]
		}
		return out
	}
	each(index(a), index(b), func(name string, x, y *record.Load) {
		if beyond(x != nil, a) || beyond(y != nil, b) {
			return
		}
		if x == nil || y == nil {
			l, side := x, "A"
			if x == nil {
				l, side = y, "B"
			}
			m.add(where, fmt.Sprintf("the load %s (%s) is in %s only", name, report.LoadWords(*l), side))
			return
		}
		for _, c := range changes(definition(*x), definition(*y)) {
			m.add(where, "the load "+name+", "+loadWords(c))
		}
		d.note("load."+name+".wire", "what moves the bytes of the load "+name, x.Ready.Wire, y.Ready.Wire)
		d.note("load."+name+".workers", "workers of the load "+name, fmt.Sprint(x.Workers), fmt.Sprint(y.Workers))
		d.note("load."+name+".host", "where the load "+name+" goes", host(x.Spec.Address), host(y.Spec.Address))
	})
}

// definition is a load as plain data, without what differs from run to run: ports, and by whom it is sent.
func definition(l record.Load) map[string]any {
	s := l.Spec
	if s.Host == s.Address {
		s.Host = ""
	}
	if h := host(s.Host); h == host(s.Address) {
		s.Host = h
	}
	s.Address, s.Worker, s.Workers, s.Phase, s.Wire = "", 0, 0, "", ""
	if s.Proxy != "" {
		s.Proxy = "a forward proxy"
	}
	b, err := json.Marshal(s)
	out := map[string]any{}
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		out["unreadable"] = err.Error()
	}
	out["headline"] = l.Headline
	return out
}

func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return h
	}
	return address
}

// loadWords says one change of a load.
func loadWords(c change) string {
	name := dotted(c.path)
	value := func(v any) string {
		switch {
		case v == nil:
			return ""
		case name == "reuse" && v == true:
			return "connections are kept"
		case name == "reuse":
			return "a new connection for every request"
		case strings.HasSuffix(name, "timeout") || strings.HasSuffix(name, "over"):
			if ns, ok := v.(float64); ok {
				return time.Duration(ns).String()
			}
		case len(c.path) == 1 && name == "rate":
			return rates(v)
		}
		return shown(v)
	}
	a, b := value(c.a), value(c.b)
	switch {
	case name == "reuse":
		name = "keep-alive"
	case name == "rate" && (c.a == nil || c.b == nil):
		return "its rate: " + map[bool]string{true: "a closed loop in A, " + b + " in B", false: a + " in A, a closed loop in B"}[c.a == nil]
	case strings.HasPrefix(name, "rate[") && strings.HasSuffix(name, ".to"):
		name = "its rate at the end of a step, requests/s"
	case strings.HasPrefix(name, "rate[") && strings.HasSuffix(name, ".from"):
		name = "its rate at the beginning of a step, requests/s"
	}
	return name + ": " + sides(a, b)
}

// rates says the steps of a rate.
func rates(v any) string {
	steps, ok := v.([]any)
	if !ok {
		return shown(v)
	}
	var out []string
	for _, s := range steps {
		step := mapping(s)
		if step["from"] == step["to"] {
			out = append(out, fmt.Sprintf("%v requests/s", step["to"]))
		} else {
			out = append(out, fmt.Sprintf("%v to %v requests/s", step["from"], step["to"]))
		}
	}
	return strings.Join(out, ", then ")
}
