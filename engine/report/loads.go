package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/load"
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
	method, path, protocol := s.Method, s.Path, s.Protocol
	if method == "" {
		method = "GET"
	}
	if path == "" {
		path = "/"
	}
	if protocol == "" {
		protocol = "h1"
	}
	if s.Scheme == "https" && protocol == "h1" {
		protocol += " with TLS"
	}
	parts := []string{count(s.Connections, "connection")}
	if s.Streams > 1 {
		parts[0] += fmt.Sprintf(" with %d streams each", s.Streams)
	}
	parts = append(parts, loop(s.Rate), method+" "+path+" over "+protocol)
	if !s.Reuse {
		parts = append(parts, "a new connection for each request")
	}
	if l.Workers > 1 {
		parts = append(parts, count(l.Workers, "worker"))
	}
	if !l.Headline {
		parts = append(parts, "not in the headline")
	}
	return strings.Join(parts, ", ")
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
