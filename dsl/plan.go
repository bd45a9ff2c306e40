package dsl

// A Plan is a loaded plan: everything it includes merged, every scalar typed, every expression in its place.
type Plan struct {
	Name      string  `yaml:"plan" hole:"no" required:"true" doc:"name of the plan; the result set is named after it"`
	Version   int     `yaml:"version" hole:"no" default:"1" min:"1" max:"1" doc:"version of the plan language"`
	About     string  `yaml:"about" hole:"no" doc:"what the plan is for; the report begins with it"`
	Published string  `yaml:"published" hole:"no" doc:"says that the plan is one of figures that others measured and published: by whom, where and when; planrun import makes a result set of them, and nothing is run"`
	Include   Strings `yaml:"include" hole:"no" path:"true" doc:"plans that this one builds on; its own text wins"`

	Params    Parts[Param]     `yaml:"params" keys:"ident" eval:"stage" doc:"values that expressions read as params.NAME; --set NAME=VALUE overrides them"`
	Presets   Map[Map[Value]]  `yaml:"presets" hole:"no" doc:"values of params by preset name; --preset NAME selects"`
	Host      Part[Host]       `yaml:"host" eval:"plan" doc:"this machine: who gets which CPU, the certificate, what may be reached, the thresholds of the guards"`
	Setup     []Part[Action]   `yaml:"setup" eval:"run" doc:"actions before the first target is installed, undone at the very end"`
	Backends  Parts[Backend]   `yaml:"backends" keys:"ident" eval:"plan" doc:"what targets forward to"`
	Relays    Parts[Relay]     `yaml:"relays" keys:"ident" eval:"plan" doc:"relays that a scenario can put in front of backends, to break what passes through"`
	Targets   Parts[Target]    `yaml:"targets" required:"true" eval:"plan" doc:"the things under test"`
	Loads     Parts[NamedLoad] `yaml:"loads" eval:"run" doc:"named loads; an action names one (load: NAME) or builds on one (load: {use: NAME, ...})"`
	Scenarios Parts[Scenario]  `yaml:"scenarios" required:"true" eval:"run" doc:"named sequences of phases"`
	Schedule  []Part[Stage]    `yaml:"schedule" eval:"stage" doc:"which scenarios run on which targets, in which order; left out: one stage of everything"`
	Only      Strings          `yaml:"only" hole:"no" min:"1" doc:"the cells of the schedule that run: a stage, target, scenario or axis=value each, or several with / between them, of which all must fit (* is any); left out: all; --only chooses among them"`
	Skip      Strings          `yaml:"skip" hole:"no" min:"1" doc:"the cells that do not run, written as in only; --skip leaves out further ones"`
	Probes    []Part[Probe]    `yaml:"probes" eval:"run" doc:"what is sampled, beside the processes of every role and the host"`
	Metrics   Parts[Metric]    `yaml:"metrics" keys:"ident" eval:"judge" doc:"metrics of the plan's own"`
	Verdicts  []Part[Verdict]  `yaml:"verdicts" eval:"judge" doc:"what is judged"`
	Report    []Part[Section]  `yaml:"report" eval:"judge" doc:"sections of the report; left out: verdicts and a table for each scenario"`
	Fresh     string           `yaml:"fresh" hole:"no" enum:"target|scenario|run" default:"target" doc:"what gets a new installation even if nothing changed: target (nothing does), scenario (its matrix and repeats share one), run"`

	// File is the plan's file as it was given to Load.
	File string `yaml:"-"`
	// Sources are the bytes of every file that was read, and of every --set value, by the file name that positions use.
	Sources map[string][]byte `yaml:"-"`
	// Files are the names of Sources in the order in which they were read.
	Files []string `yaml:"-"`

	root     *node
	chosen   map[string]*node // what the plan itself says of only and skip
	readFile func(string) ([]byte, error)
	l        *lang
}

// Whole reports whether everything that the plan is made of could be read, so that a name that is not there is missing.
// Problems may still have been found in it.
func (p *Plan) Whole() bool { return p.root != nil && !p.l.broken }

// A Param is a value that expressions read as params.NAME.
type Param struct {
	Value  Value  `yaml:"value" short:"true" doc:"the value; may be an expression"`
	About  string `yaml:"about" hole:"no" doc:"what it means"`
	Env    string `yaml:"env" hole:"no" doc:"the environment variable that gives the value; a value beside it is for when the variable is unset"`
	Secret bool   `yaml:"secret" hole:"no" doc:"redact the value wherever it would be written"`
}

// Host is what the plan says about this machine.
type Host struct {
	CPUs   Map[CPUs] `yaml:"cpus" doc:"the CPUs of each role: sut, backends, load, control, or a role that a start names"`
	TLS    HostTLS   `yaml:"tls" doc:"the certificate that targets and builtin servers use"`
	Nice   int       `yaml:"nice" min:"-20" max:"19" doc:"niceness of everything that the plan starts, where the right to set it exists"`
	Allow  Strings   `yaml:"allow" doc:"hosts, addresses or networks beyond loopback and private ones that load may be sent to; the command line must say so too"`
	Guards Guards    `yaml:"guards" doc:"thresholds of the built-in checks that a measurement can be trusted"`
}

// HostTLS says which certificate is used.
type HostTLS struct {
	Certificate string `yaml:"certificate" enum:"self-signed-rsa-2048|self-signed-rsa-4096|self-signed-ecdsa-p256" default:"self-signed-ecdsa-p256" doc:"the certificate that is made for the plan"`
}

// Guards are the thresholds of the built-in checks.
type Guards struct {
	RateDelivered Percent  `yaml:"rate-delivered" default:"99%" min:"0%" max:"100%" doc:"least share of the due requests that the generator itself must have sent"`
	GeneratorCPU  Percent  `yaml:"generator-cpu" default:"90%" min:"0%" max:"100%" doc:"highest share of its CPUs that the generator may use before timing is tainted"`
	ForeignCPU    *Percent `yaml:"foreign-cpu" min:"0%" max:"100%" doc:"highest share of the machine's CPU that may go to what the plan did not start; left out: above 10% warns and taints nothing"`
	// SendLag is positive; its default is for a shared two-core machine.
	SendLag     Duration `yaml:"send-lag" default:"20ms" min:"0s" doc:"highest p99 of the generator's own send lag"`
	OwnDelay    Percent  `yaml:"own-delay" default:"0.5%" min:"0%" max:"100%" doc:"highest share of an open load's requests that the generator's own delay may hold up for longer than the p99; above it is a warning"`
	ClockStep   Duration `yaml:"clock-step" default:"50ms" min:"0s" doc:"largest step of the wall clock against the monotonic clock during a run"`
	Shortest    Duration `yaml:"shortest" default:"1s" min:"0s" doc:"shortest window whose figures are judged"`
	Descriptors Percent  `yaml:"descriptors" default:"90%" min:"0%" max:"100%" doc:"highest share of its file descriptors that the generator may use"`
	Ports       Percent  `yaml:"ports" default:"90%" min:"0%" max:"100%" doc:"highest share of a source address's ports that may be taken"`
}

// A Backend is what targets forward to.
type Backend struct {
	Replicas int          `yaml:"replicas" default:"1" min:"1" max:"10000" doc:"how many"`
	Routes   Map[Strings] `yaml:"routes" doc:"host to path, or list of paths, that targets route to it"`
	Builtin  string       `yaml:"builtin" default:"origin" doc:"the server of planrun's own that it runs"`
	Command  []string     `yaml:"command" eval:"run" doc:"the command that it runs instead of a builtin; port(NAME) is a port of its own, replica its index; PORT_NAME is in its environment"`
	Listen   Strings      `yaml:"listen" doc:"names of the ports that it is given; the first is what targets forward to; left out: http"`
	Env      Map[string]  `yaml:"env" eval:"run" doc:"environment variables"`
	With     Map[Value]   `yaml:"with" doc:"settings of the builtin"`
	Ready    Ready        `yaml:"ready" doc:"when it counts as started"`
	CPUs     CPUs         `yaml:"cpus" doc:"its CPUs; left out: those of the role backends"`
	Limits   Limits       `yaml:"limits" doc:"limits of each replica"`
	Address  []Address    `yaml:"address" short:"true" doc:"where it already runs; one for each replica; nothing is started then"`
}

// Ready says when a process counts as started. One of TCP, HTTP and Log.
type Ready struct {
	TCP     string   `yaml:"tcp" kind:"true" short:"true" doc:"the name of a port that accepts connections"`
	HTTP    string   `yaml:"http" kind:"true" doc:"a path, or PORT-NAME/path, that answers with a 2xx status"`
	Log     string   `yaml:"log" kind:"true" doc:"a regular expression that a line of its output matches"`
	Timeout Duration `yaml:"timeout" default:"10s" min:"1ms" doc:"how long it may take"`
}

// Limits are what a role's processes may use together.
type Limits struct {
	Memory             Size    `yaml:"memory" min:"1MiB" doc:"memory of the role's process tree"`
	CountSocketBuffers bool    `yaml:"count-socket-buffers" default:"true" doc:"whether socket buffers count as memory"`
	CPU                float64 `yaml:"cpu" min:"0.01" doc:"CPUs, as a number that may be fractional"`
	Processes          int     `yaml:"processes" min:"1" doc:"processes and threads"`
	Files              int     `yaml:"files" min:"8" doc:"open file descriptors of each process"`
}

// A Relay stands in front of every replica of a backend, in scenarios that name it.
type Relay struct {
	Of     string `yaml:"of" short:"true" ref:"backends" required:"true" doc:"the backend that it stands in front of"`
	Server string `yaml:"server" eval:"plan" default:"builtin" doc:"what relays: builtin is planrun's own, which does all toxics and measures what they did; else host:port of the API of a Toxiproxy server that runs already, of which proxies are made for the plan"`
}

// A Target is a thing under test.
type Target struct {
	About         string         `yaml:"about" doc:"what it is"`
	From          string         `yaml:"from" hole:"no" path:"true" doc:"a file that holds a target; own text wins over it"`
	Extends       string         `yaml:"extends" hole:"no" doc:"another target of the plan that this one builds on"`
	With          Map[Knob]      `yaml:"with" keys:"ident" eval:"plan" doc:"its knobs: with.NAME in expressions, .With.NAME in templates"`
	Install       []Part[Action] `yaml:"install" eval:"run" doc:"actions that install it; left out: it is what endpoints says"`
	RoutesChanged []Part[Action] `yaml:"routes-changed" eval:"run" doc:"actions after backends were scaled or routes came or went"`
	Version       []string       `yaml:"version" eval:"run" doc:"a command whose output is recorded as its version"`
	Endpoints     Map[Endpoint]  `yaml:"endpoints" doc:"where it can be reached, by name, beside the ports that its processes listen on"`
	Unsupported   Map[string]    `yaml:"unsupported" hole:"no" doc:"scenarios that it cannot do, each with the reason"`
	CannotEqual   []string       `yaml:"cannot-equal" hole:"no" doc:"what differs from the other targets, and why it cannot be made equal"`
	Limits        Map[Limits]    `yaml:"limits" doc:"limits by role"`
}

// A Knob is a setting of a target.
type Knob struct {
	Value Value  `yaml:"value" short:"true" doc:"the value"`
	Why   string `yaml:"why" hole:"no" doc:"why it is set"`
}

// An Endpoint is where a target can be reached.
type Endpoint struct {
	Address Address `yaml:"address" kind:"true" short:"true" doc:"host:port of something already running"`
	Object  string  `yaml:"object" kind:"true" later:"there is no cluster driver yet" doc:"a Kubernetes object: service/NAME or NAMESPACE/service/NAME"`
	Port    string  `yaml:"port" doc:"the port of the object, by name or number"`
}

// A NamedLoad is an entry of loads: a spec of the action load.
type NamedLoad struct {
	Spec any // as New of the kind "load" made it
}

// A Stage is an entry of the schedule.
type Stage struct {
	Stage     string      `yaml:"stage" hole:"no" required:"true" doc:"its name"`
	Scenarios Strings     `yaml:"scenarios" hole:"no" min:"1" ref:"scenarios" doc:"scenarios that run, in this order; left out: all"`
	Targets   Strings     `yaml:"targets" hole:"no" min:"1" ref:"targets" doc:"targets that they run on, in this order; left out: all"`
	Order     string      `yaml:"order" enum:"blocked|reverse|interleave|random" default:"blocked" doc:"blocked: target by target; reverse: targets and scenarios backwards; interleave: every repeat goes through all targets; random: with a recorded seed"`
	Seed      int         `yaml:"seed" doc:"seed of the random order; left out: made, and recorded"`
	Rounds    int         `yaml:"rounds" default:"1" min:"1" max:"1000" doc:"how often the whole stage is repeated"`
	Together  bool        `yaml:"together" doc:"keep all targets installed during the stage"`
	Probes    StageProbes `yaml:"probes" doc:"which probes are left out: the control arm of observation"`
}

// StageProbes says which probes a stage leaves out.
type StageProbes struct {
	Without Strings `yaml:"without" hole:"no" doc:"names of probes that are left out, or all"`
}

// A Metric is a metric of the plan's own.
type Metric struct {
	Of     Expr   `yaml:"of" short:"true" doc:"its value; left out: it is published"`
	About  string `yaml:"about" hole:"no" doc:"what it means"`
	Better string `yaml:"better" hole:"no" enum:"lower|higher" doc:"which direction is better; left out: neither"`
	Unit   string `yaml:"unit" hole:"no" doc:"its unit, where its name does not say it"`
	Across string `yaml:"across" hole:"no" enum:"median|sum|max|mean" default:"median" doc:"how the values of a cell's runs become the cell's value"`
}
