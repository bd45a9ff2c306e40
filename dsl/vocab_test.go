package dsl_test

import (
	"time"

	"github.com/planrun/planrun/dsl"
)

// The kinds of the language with specs like the real ones, which are in packages of their own.

func kind[T any](name, doc, short string, def T) dsl.Kind {
	return dsl.Kind{Name: name, Doc: doc, Short: short, New: func() any { v := def; return &v }}
}

func later(k dsl.Kind, why string) dsl.Kind {
	k.Later = why
	return k
}

type (
	startSpec struct {
		Name      dsl.Ident          `yaml:"name" doc:"its name; left out: sut"`
		As        dsl.Ident          `yaml:"as" default:"sut" doc:"its role"`
		Command   []string           `yaml:"command" doc:"the command"`
		Builtin   string             `yaml:"builtin" enum:"origin|proxy|relay|gateway|balancer" doc:"a server of planrun's own"`
		Upstreams string             `yaml:"upstreams" doc:"what it forwards to"`
		Pick      string             `yaml:"pick" enum:"hash|random|round-robin" doc:"how a balancer picks"`
		Listen    dsl.Strings        `yaml:"listen" doc:"names of ports"`
		Replicas  int                `yaml:"replicas" default:"1" min:"1" doc:"how many"`
		Env       map[string]string  `yaml:"env" doc:"environment variables"`
		Ready     dsl.Ready          `yaml:"ready" doc:"when it counts as started"`
		CPUs      dsl.CPUs           `yaml:"cpus" doc:"its CPUs"`
		Limits    dsl.Limits         `yaml:"limits" doc:"its limits"`
		With      dsl.Map[dsl.Value] `yaml:"with" doc:"settings of the builtin"`
	}
	processSpec struct {
		Process string `yaml:"process" required:"true" doc:"the process"`
	}
	signalSpec struct {
		processSpec
		Send string `yaml:"send" required:"true" enum:"HUP|USR1|USR2|TERM|INT|QUIT" doc:"the signal"`
	}
	pauseSpec struct {
		processSpec
		For time.Duration `yaml:"for" min:"1ms" doc:"how long; the phase's end if left out"`
	}
	writeSpec struct {
		File     string `yaml:"file" required:"true" doc:"the file, in the target's directory"`
		Template string `yaml:"template" path:"true" doc:"the template"`
		Text     string `yaml:"text" doc:"the text, instead of a template"`
	}
	execSpec struct {
		Command []string        `yaml:"command" required:"true" min:"1" doc:"the command"`
		Timeout time.Duration   `yaml:"timeout" default:"10s" min:"1ms" doc:"how long it may take"`
		Set     dsl.Map[string] `yaml:"set" doc:"values from its JSON output"`
	}
	httpSpec struct {
		URL     string          `yaml:"url" required:"true" doc:"the URL"`
		Method  string          `yaml:"method" default:"GET" doc:"the method"`
		Expect  int             `yaml:"expect" default:"200" min:"100" max:"599" doc:"the status"`
		Headers dsl.Map[string] `yaml:"headers" doc:"headers"`
	}
	waitSpec struct {
		TCP     string        `yaml:"tcp" kind:"true" doc:"a port"`
		HTTP    string        `yaml:"http" kind:"true" doc:"a URL"`
		Log     string        `yaml:"log" kind:"true" doc:"a pattern"`
		Until   dsl.Expr      `yaml:"until" kind:"true" eval:"live" doc:"a condition"`
		Record  dsl.Ident     `yaml:"record" doc:"a metric that the time becomes"`
		Timeout time.Duration `yaml:"timeout" default:"10s" doc:"how long it may take"`
	}
	repeatSpec struct {
		Times int                    `yaml:"times" min:"1" doc:"how often"`
		For   time.Duration          `yaml:"for" doc:"for how long"`
		Do    []dsl.Part[dsl.Action] `yaml:"do" required:"true" doc:"the actions"`
	}
	rateSpec struct {
		Rate dsl.Rate      `yaml:"rate" short:"true" words:"none=0" doc:"requests a second"`
		From dsl.Rate      `yaml:"from" doc:"where a ramp begins"`
		To   dsl.Rate      `yaml:"to" doc:"where a ramp ends"`
		Over time.Duration `yaml:"over" doc:"how long it takes"`
	}
	expectSpec struct {
		Status int      `yaml:"status" min:"100" max:"599" default:"200" doc:"the status"`
		Bytes  dsl.Size `yaml:"bytes" doc:"the length of the body"`
	}
	tlsSpec struct {
		Resume     bool   `yaml:"resume" doc:"resume sessions"`
		ServerName string `yaml:"server-name" doc:"the name asked for"`
	}
	loadSpec struct {
		Use         string          `yaml:"use" uses:"loads" doc:"the load that it builds on"`
		Endpoint    string          `yaml:"endpoint" doc:"an endpoint of the target"`
		URL         string          `yaml:"url" doc:"a URL instead"`
		Proxy       string          `yaml:"proxy" enum:"target" doc:"send through the target as a forward proxy"`
		Address     dsl.Address     `yaml:"address" doc:"where to connect"`
		Host        string          `yaml:"host" doc:"the Host header"`
		Path        string          `yaml:"path" default:"/" doc:"the path"`
		Protocol    string          `yaml:"protocol" enum:"h1|h2|h2c" default:"h1" doc:"the protocol"`
		Connections int             `yaml:"connections" default:"1" min:"1" doc:"connections"`
		Streams     int             `yaml:"streams" min:"1" doc:"streams of each connection"`
		InFlight    int             `yaml:"in-flight" min:"1" doc:"requests in flight"`
		Pool        string          `yaml:"pool" enum:"fixed|dial|distinct" default:"fixed" doc:"how connections are made"`
		Reuse       string          `yaml:"reuse" enum:"none" doc:"a connection for each request"`
		TLS         tlsSpec         `yaml:"tls" doc:"TLS"`
		Rate        rateSpec        `yaml:"rate" doc:"open loop"`
		Timeout     time.Duration   `yaml:"timeout" default:"10s" min:"1ms" doc:"of a request"`
		Expect      expectSpec      `yaml:"expect" doc:"what must be answered"`
		Headline    bool            `yaml:"headline" default:"true" doc:"whether it counts in the headline"`
		Headers     dsl.Map[string] `yaml:"headers" doc:"headers"`
		Workers     int             `yaml:"workers" min:"1" default:"1" doc:"processes"`
		ReadRate    dsl.ByteRate    `yaml:"read-rate" doc:"how fast answers are read"`
	}
	sweepRate struct {
		From  dsl.Rate `yaml:"from" required:"true" doc:"where it begins"`
		Times float64  `yaml:"times" min:"1.01" default:"2" doc:"factor of a step"`
		Max   dsl.Rate `yaml:"max" doc:"where it ends"`
	}
	refineSpec struct {
		Steps  int         `yaml:"steps" min:"0" doc:"bisections"`
		Within dsl.Percent `yaml:"within" doc:"how near is near enough"`
	}
	sweepSpec struct {
		Load       string        `yaml:"load" required:"true" ref:"loads" doc:"the load"`
		Rate       sweepRate     `yaml:"rate" required:"true" doc:"the rates"`
		Step       time.Duration `yaml:"step" required:"true" doc:"length of a step"`
		Settle     time.Duration `yaml:"settle" doc:"what is left out of a step"`
		Sustained  dsl.Expr      `yaml:"sustained" required:"true" eval:"live" doc:"what must hold"`
		Confirm    int           `yaml:"confirm" min:"1" doc:"steps that make a knee"`
		Refine     refineSpec    `yaml:"refine" doc:"bisection"`
		CrossCheck []string      `yaml:"cross-check" doc:"other generators"`
	}
	rampSpec struct {
		Load        string        `yaml:"load" required:"true" ref:"loads" doc:"the load"`
		Connections []int         `yaml:"connections" required:"true" min:"1" doc:"the steps"`
		Hold        time.Duration `yaml:"hold" doc:"length of a step"`
		ProbeEvery  time.Duration `yaml:"probe-every" doc:"an honest request on the side"`
		Sources     string        `yaml:"sources" doc:"source addresses"`
	}
	attackConns struct {
		Connections int           `yaml:"connections" required:"true" min:"1" doc:"connections"`
		HeaderEvery time.Duration `yaml:"header-every" doc:"slowloris: a header every so long"`
		Path        string        `yaml:"path" doc:"slow-read: what is read"`
		ReadRate    dsl.ByteRate  `yaml:"read-rate" doc:"slow-read: how fast"`
		Bytes       dsl.Size      `yaml:"bytes" doc:"large-transfers: how much"`
		Streams     int           `yaml:"streams-per-second" doc:"rapid-reset: how many"`
	}
	attackSpec struct {
		Slowloris      *attackConns `yaml:"slowloris" kind:"true" doc:"slow headers"`
		SlowRead       *attackConns `yaml:"slow-read" kind:"true" doc:"slow readers"`
		LargeTransfers *attackConns `yaml:"large-transfers" kind:"true" doc:"large transfers"`
		RapidReset     *attackConns `yaml:"rapid-reset" kind:"true" doc:"rapid resets"`
	}
	scaleSpec struct {
		Backends string `yaml:"backends" required:"true" ref:"backends" doc:"what is scaled"`
		To       int    `yaml:"to" required:"true" min:"0" doc:"to how many"`
	}
	routeSpec struct {
		Host     string `yaml:"host" required:"true" doc:"the host"`
		Path     string `yaml:"path" default:"/" doc:"the path"`
		Backends string `yaml:"backends" ref:"backends" doc:"where it goes"`
	}
	toxicSpec struct {
		Relay     string        `yaml:"relay" required:"true" ref:"relays" doc:"the relay"`
		Preset    string        `yaml:"preset" enum:"latency|bandwidth|reset|stall|blackhole" doc:"a usual one"`
		Latency   time.Duration `yaml:"latency" doc:"added to each way"`
		Bandwidth dsl.ByteRate  `yaml:"bandwidth" doc:"at most"`
	}
	dropSpec struct {
		Port    string      `yaml:"port" required:"true" doc:"the port"`
		Percent dsl.Percent `yaml:"percent" default:"100%" doc:"how many"`
	}
	snapshotSpec struct {
		Probe string `yaml:"probe" kind:"true" short:"true" doc:"a probe"`
		URL   string `yaml:"url" kind:"true" doc:"a URL"`
	}
	objectSpec struct {
		Object string    `yaml:"object" doc:"the object"`
		File   string    `yaml:"file" path:"true" doc:"a manifest"`
		Patch  dsl.Value `yaml:"patch" doc:"what is changed"`
	}
	emptySpec struct{}
	keepSpec  struct {
		Name string    `yaml:"name" required:"true" short:"true" doc:"the name there"`
		By   dsl.Ident `yaml:"by" doc:"a label"`
	}
	prometheusSpec struct {
		URL  string            `yaml:"url" doc:"the endpoint"`
		Keep dsl.Map[keepSpec] `yaml:"keep" keys:"ident" required:"true" doc:"what is kept, by the name it gets"`
	}
	logSpec struct {
		Pattern string `yaml:"pattern" required:"true" doc:"the pattern"`
	}
)

func (a *attackSpec) Check(c *dsl.Check) {
	if a.Slowloris == nil && a.SlowRead == nil && a.LargeTransfers == nil && a.RapidReset == nil {
		c.Errorf("", "names no attack")
	}
}

func (s *startSpec) Check(c *dsl.Check) {
	if (len(s.Command) > 0) == (s.Builtin != "") && c.Known("command") && c.Known("builtin") {
		c.Errorf("", "want one of command and builtin").Hint = "write command: [...] or builtin: proxy"
	}
}

var vocabulary = dsl.Vocabulary{
	Actions: []dsl.Kind{
		kind("add-route", "Add a route.", "", routeSpec{}),
		kind("apply", "Apply a Kubernetes object.", "file", objectSpec{}),
		kind("attack", "Attack the target.", "", attackSpec{}),
		later(kind("drop", "Drop packets.", "", dropSpec{}), "there is no nftables driver yet"),
		kind("exec", "Run a command to its end.", "command", execSpec{}),
		kind("http", "Make a request.", "url", httpSpec{}),
		kind("load", "Drive load.", "use", loadSpec{}),
		kind("pause", "Stop a process for a while.", "process", pauseSpec{}),
		kind("ramp", "Hold more and more connections.", "", rampSpec{}),
		kind("remove-route", "Remove a route.", "", routeSpec{}),
		kind("repeat", "Repeat actions.", "", repeatSpec{}),
		kind("restart", "Restart a process.", "process", processSpec{}),
		kind("scale", "Scale backends.", "", scaleSpec{}),
		kind("signal", "Send a signal.", "", signalSpec{}),
		kind("snapshot", "Read once.", "", snapshotSpec{}),
		kind("start", "Start a process.", "", startSpec{}),
		kind("stop", "Stop a process.", "process", processSpec{}),
		kind("sweep", "Find the highest rate.", "", sweepSpec{}),
		kind("toggle-route", "Add or remove a route.", "", routeSpec{}),
		kind("toxic", "Make a relay bad.", "", toxicSpec{}),
		kind("wait", "Wait for something.", "", waitSpec{}),
		kind("write", "Write a file.", "", writeSpec{}),
	},
	Probes: []dsl.Kind{
		kind("backend-connections", "Connections of backends.", "", emptySpec{}),
		kind("balancer", "Connections of a balancer.", "", emptySpec{}),
		kind("host", "The host.", "", emptySpec{}),
		kind("log", "Lines of a log.", "", logSpec{}),
		kind("process", "Processes.", "", emptySpec{}),
		kind("prometheus", "A Prometheus endpoint.", "", prometheusSpec{}),
		kind("relay", "Connections of a relay.", "", emptySpec{}),
	},
}
