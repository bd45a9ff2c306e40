package probes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
)

// Kinds that are in the language with all their fields, and declare what they will produce, so that plans that use them
// check; a run refuses them.
var (
	balancerKind = later("balancer", `Connections that planrun's own balancer gave to each upstream: live and total.`,
		"of", "the balancer itself comes with the fleets", func() *balancer { return &balancer{} })
	commandKind = later("command", `What a command prints as JSON, kept as series.`,
		"command", "it comes with the proxy-capacity plans", func() *command { return &command{} })
	envoyKind = later("envoy", `Counters and gauges of Envoy's admin interface, kept as series.`,
		"of", "Envoy comes as a target with the Kubernetes plans", func() *envoy { return &envoy{} })
	haproxyStatsKind = later("haproxy-stats", `Figures of HAProxy's statistics page, kept as series.`,
		"of", "it comes with the proxy-capacity plans", func() *haproxyStats { return &haproxyStats{} })
	logKind = later("log", `Lines of processes' logs that match a pattern, counted.`,
		"of", "it comes with the proxy-capacity plans", func() *logLines { return &logLines{} })
	nginxStubStatusKind = later("nginx-stub-status", `The counters of nginx's stub_status page.`,
		"of", "it comes with the proxy-capacity plans", func() *nginxStubStatus { return &nginxStubStatus{} })
	prometheusKind = later("prometheus", `Metrics of a Prometheus endpoint, kept as series.`,
		"of", "it comes with the fleets", func() *prometheus { return &prometheus{} })
)

// later makes a kind that a run refuses.
func later[P task.Probe](name, doc, short, why string, new func() P) dsl.Kind {
	k := kind(name, doc, short, new)
	k.Later = why
	return k
}

var errLater = errors.New("this build cannot sample it")

// A page is where an HTTP endpoint of a process is.
type page struct {
	Of   string `yaml:"of" doc:"the name of a process, or a role"`
	Port string `yaml:"port" doc:"the name of the port; left out: the first"`
	URL  string `yaml:"url" doc:"the whole address instead of of, port and path"`
}

// A kept is one figure that a probe keeps of what it reads.
type kept struct {
	Name string `yaml:"name" short:"true" required:"true" doc:"its name where it is read"`
	By   string `yaml:"by" doc:"a label; each of its values becomes a part of the series"`
}

// counts reports whether a figure only grows, by the naming rule of Prometheus.
func (k kept) counts(as string) bool {
	return strings.HasSuffix(k.Name, "_total") || strings.HasSuffix(as, "_total")
}

func keeps(keep dsl.Map[kept], from string) []series.SeriesDesc {
	var out []series.SeriesDesc
	for _, e := range keep {
		d := series.SeriesDesc{Name: e.Name, Shape: series.Gauge, Class: series.Count, Doc: e.Val.Name + " of " + from, Kept: true, By: e.Val.By != ""}
		if e.Val.counts(e.Name) {
			d.Shape = series.Counter
		}
		out = append(out, d)
	}
	return append(out, gapsDesc)
}

type balancer struct {
	Of string `yaml:"of" required:"true" doc:"the name of a balancer"`
	pace
}

func (*balancer) Produces() []series.SeriesDesc {
	return []series.SeriesDesc{
		{Name: "connections", Shape: series.Gauge, Class: series.Count, Doc: "connections that are open to the upstream"},
		{Name: "connections_total", Shape: series.Counter, Class: series.Count, Doc: "connections that were given to the upstream"},
		gapsDesc,
	}
}

func (*balancer) Sample(context.Context, *task.ProbeEnv) error { return errLater }

type command struct {
	Command []string      `yaml:"command" required:"true" min:"1" doc:"the command; it prints one JSON value"`
	Keep    dsl.Map[kept] `yaml:"keep" keys:"ident" required:"true" doc:"series by name: the path of a number in the JSON, with dots"`
	Timeout time.Duration `yaml:"timeout" default:"1s" min:"1ms" doc:"how long the command may take"`
	pace
}

func (c *command) Produces() []series.SeriesDesc { return keeps(c.Keep, strings.Join(c.Command, " ")) }

func (*command) Sample(context.Context, *task.ProbeEnv) error { return errLater }

type envoy struct {
	page
	Keep dsl.Map[kept] `yaml:"keep" keys:"ident" required:"true" doc:"series by name: the name of a statistic (cluster.web.upstream_cx_total)"`
	pace
}

func (p *envoy) Produces() []series.SeriesDesc { return keeps(p.Keep, "Envoy's statistics") }

func (*envoy) Sample(context.Context, *task.ProbeEnv) error { return errLater }

type haproxyStats struct {
	page
	Path  string        `yaml:"path" default:"/;csv" doc:"the path of the page in CSV form"`
	Proxy string        `yaml:"proxy" doc:"the frontend, backend or listen section that is read; left out: all added up"`
	Keep  dsl.Map[kept] `yaml:"keep" keys:"ident" required:"true" doc:"series by name: the column (scur, stot, econ)"`
	pace
}

func (p *haproxyStats) Produces() []series.SeriesDesc {
	return keeps(p.Keep, "HAProxy's statistics")
}

func (*haproxyStats) Sample(context.Context, *task.ProbeEnv) error { return errLater }

type logLines struct {
	Of    string            `yaml:"of" required:"true" doc:"the name of a process, or a role"`
	Count map[string]string `yaml:"count" keys:"ident" required:"true" doc:"series by name: the regular expression that lines must match"`
	pace
}

// Check implements dsl.Checker.
func (l *logLines) Check(c *dsl.Check) {
	for _, name := range slices.Sorted(maps.Keys(l.Count)) {
		if _, err := regexp.Compile(l.Count[name]); err != nil {
			c.Errorf("count", "%s is no regular expression: %v; escape what is meant literally", name, err)
		}
	}
}

func (l *logLines) Produces() []series.SeriesDesc {
	var out []series.SeriesDesc
	for _, name := range slices.Sorted(maps.Keys(l.Count)) {
		out = append(out, series.SeriesDesc{Name: name, Shape: series.Counter, Class: series.Count, Doc: fmt.Sprintf("lines of the log that match %s", l.Count[name])})
	}
	return append(out, gapsDesc)
}

func (*logLines) Sample(context.Context, *task.ProbeEnv) error { return errLater }

type nginxStubStatus struct {
	page
	Path string `yaml:"path" default:"/stub_status" doc:"the path of the page"`
	pace
}

func (*nginxStubStatus) Produces() []series.SeriesDesc {
	count := series.Count
	return []series.SeriesDesc{
		{Name: "nginx_connections", Shape: series.Gauge, Class: count, Doc: "connections of clients that are open, waiting ones included"},
		{Name: "nginx_reading", Shape: series.Gauge, Class: count, Doc: "connections whose request is being read"},
		{Name: "nginx_writing", Shape: series.Gauge, Class: count, Doc: "connections that are being answered"},
		{Name: "nginx_waiting", Shape: series.Gauge, Class: count, Doc: "connections that wait for a request"},
		{Name: "nginx_accepted", Shape: series.Counter, Class: count, Doc: "connections that were accepted"},
		{Name: "nginx_handled", Shape: series.Counter, Class: count, Doc: "connections that were handled: fewer than accepted if a limit was reached"},
		{Name: "nginx_requests", Shape: series.Counter, Class: count, Doc: "requests"},
		gapsDesc,
	}
}

func (*nginxStubStatus) Sample(context.Context, *task.ProbeEnv) error { return errLater }

type prometheus struct {
	page
	Path string        `yaml:"path" default:"/metrics" doc:"the path of the metrics"`
	Keep dsl.Map[kept] `yaml:"keep" keys:"ident" required:"true" doc:"series by name: the metric, or {name: METRIC, by: LABEL}; without by its samples are added up"`
	pace
}

func (p *prometheus) Produces() []series.SeriesDesc { return keeps(p.Keep, "its metrics") }

func (*prometheus) Sample(context.Context, *task.ProbeEnv) error { return errLater }
