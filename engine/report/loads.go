package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/internal/load"
	"github.com/planrun/planrun/internal/plural"
)

// loads says in words what each scenario is and what it sends.
func loads(b *builder) ([]Section, error) {
	t := Table{Columns: []Column{{Title: "scenario"}, {Title: "what it is"}, {Title: "load"}}}
	for _, s := range b.res.Scenarios {
		said := s.Loads
		if len(said) == 0 {
			said = b.sent(s.Name)
		}
		t.Rows = append(t.Rows, row(s.Name, dash(s.About), dash(strings.Join(said, "\n"))))
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	return []Section{{Title: "Scenarios and loads", Blocks: []Block{t,
		Paragraph{text("A closed loop sends the next request when the last is answered; its latencies leave out those that would have been sent meanwhile. An open loop sends when a request is due, and latency counts from then: this is the only correction of omission.")}}}}, nil
}

// sent are the loads of a scenario as the runs sent them.
func (b *builder) sent(scenario string) (out []string) {
	for _, c := range b.res.Cells {
		if c.Coord.Scenario != scenario {
			continue
		}
		for _, id := range c.Runs {
			r := b.runs[id]
			if r == nil {
				continue
			}
			for _, l := range r.Loads {
				if w := l.Name + ": " + LoadWords(l); !slices.Contains(out, w) {
					out = append(out, w)
				}
			}
		}
	}
	return out
}

// LoadWords says a load in words: "16 connections, closed loop, GET /small over h1".
func LoadWords(l record.Load) string {
	s := l.Spec
	method, path := s.Method, s.Path
	if method == "" {
		method = "GET"
	}
	if path == "" {
		path = "/"
	}
	if s.SpreadPath != "" {
		path = s.SpreadPath
	}
	parts := []string{pool(s), loop(s.Rate), method + " " + path + " over " + protocol(s)}
	if s.Proxy != "" {
		parts = append(parts, "asked of the target as a forward proxy")
	}
	if !s.Reuse {
		parts = append(parts, "a new connection for each request")
	}
	if s.Resume {
		parts = append(parts, "sessions resumed")
	}
	if len(s.TLSGroups) > 0 {
		parts = append(parts, "groups "+and(s.TLSGroups))
	}
	if s.ConnectRate > 0 {
		parts = append(parts, "connections opened at "+number(s.ConnectRate, series.Count)+"/s")
	}
	if s.ReadRate > 0 {
		parts = append(parts, "each read at "+grouped(float64(s.ReadRate))+" B/s")
	}
	if len(s.Sources) > 0 {
		parts = append(parts, "from "+plain(some(s.Sources, 5)))
	}
	if s.By != "" {
		parts = append(parts, "counted by "+s.By)
	}
	if l.Workers > 1 {
		parts = append(parts, plural.Of(l.Workers, "worker"))
	}
	if !l.Headline {
		parts = append(parts, "not in the headline")
	}
	return strings.Join(parts, ", ")
}

// pool says how many connections there are, and how much is in flight on them.
func pool(s load.Spec) string {
	words := plural.Of(s.Connections, "connection")
	switch {
	case s.Streams >= load.MaxStreams:
		words += " with as many streams as the server allows"
	case s.Streams > 1:
		words += fmt.Sprintf(" with %d streams each", s.Streams)
	}
	switch s.Pool {
	case "dial":
		words += ", more where they are full"
	case "distinct":
		words += ", one for each request in flight"
	}
	if s.InFlight > 0 {
		words += ", " + plural.Of(s.InFlight, "request") + " in flight at most"
	}
	return words
}

// protocol is what is spoken: "h1", "h1 with TLS", "h2", "h2c".
func protocol(s load.Spec) string {
	p := s.Protocol
	if p == "" {
		p = "h1"
	}
	if s.Scheme == "https" && p == "h1" {
		p += " with TLS"
	}
	return p
}

func loop(steps []load.RateStep) string {
	if len(steps) == 0 {
		return "closed loop"
	}
	parts := make([]string, len(steps))
	for i, s := range steps {
		rate := grouped(s.To) + "/s"
		if s.Over > 0 && s.From != s.To {
			rate = fmt.Sprintf("from %s to %s/s", grouped(s.From), grouped(s.To))
		}
		if s.Over > 0 {
			rate += " for " + s.Over.String()
		}
		parts[i] = rate
	}
	return "open loop, " + strings.Join(parts, ", then ")
}
