package record

import (
	"strings"
	"time"
)

// An Environment is the machine and what was on it.
type Environment struct {
	Version   int                `json:"version"`
	Token     string             `json:"token"`
	BootID    string             `json:"boot_id"`
	Plan      string             `json:"plan"`
	Start     time.Time          `json:"start"`
	Command   []string           `json:"command"`
	Planrun   string             `json:"planrun"` // version, commit
	Go        string             `json:"go"`
	Hostname  string             `json:"hostname"`
	OS        string             `json:"os"`
	Kernel    string             `json:"kernel"`
	CPUModel  string             `json:"cpu_model"`
	CPUs      int                `json:"cpus"`
	CPUIDs    []int              `json:"cpu_ids,omitempty"` // of those that planrun may use; results of before this was recorded have none
	Governor  string             `json:"governor,omitempty"`
	NUMA      int                `json:"numa_nodes"`
	MemoryMiB float64            `json:"memory_mib"`
	Virtual   string             `json:"virtual,omitempty"`
	Sysctls   map[string]string  `json:"sysctls"`
	Limits    map[string]string  `json:"limits"`
	Layout    map[string][]int   `json:"cpu_layout,omitempty"`     // role -> CPUs asked
	LeftOut   map[string]string  `json:"left_out_cells,omitempty"` // cell (stage/target/scenario[axis=value]) -> why it was not to run
	Programs  map[string]Program `json:"programs,omitempty"`       // target -> what ran
	Imported  *Imported          `json:"imported,omitempty"`       // the figures were published by others: nothing ran here, and there is no machine to describe
	Offers    map[string]string  `json:"offers,omitempty"`         // feature -> "yes", or why not
}

// Option is the value of a flag of the command line as it was typed, the last if there are several; "" if it was not.
func (e *Environment) Option(name string) (value string) {
	_, values := e.Without(name)
	if len(values) > 0 {
		value = values[len(values)-1]
	}
	return value
}

// Without is the command line without a flag that takes a value, and the values that it had.
func (e *Environment) Without(name string) (words, values []string) {
	for _, a := range e.Arguments() {
		if a.Flag == name && name != "" {
			values = append(values, a.Value)
		} else {
			words = append(words, a.Words...)
		}
	}
	return words, values
}

// An Argument of the command line: a flag with its value, or a word that is neither; then Flag is "".
type Argument struct {
	Flag, Value string
	Words       []string // as they were typed
}

// Arguments are those of the command line in their order. The flags of a run all take a value, in their word or as the next
// one; flags end at --.
func (e *Environment) Arguments() (out []Argument) {
	for rest := e.Command; len(rest) > 0; {
		name, flag := strings.CutPrefix(rest[0], "--")
		name, value, joined := strings.Cut(name, "=")
		a, n := Argument{}, 1
		switch {
		case rest[0] == "--":
			n = len(rest)
		case flag && joined:
			a.Flag, a.Value = name, value
		case flag && len(rest) > 1:
			a.Flag, a.Value, n = name, rest[1], 2
		}
		a.Words, rest = rest[:n], rest[n:]
		out = append(out, a)
	}
	return out
}

// Imported says where published figures come from. When they were imported is the environment's Start.
type Imported struct {
	By     string `json:"by"`     // who published them, where and when, as the plan says
	File   string `json:"file"`   // as it was named; a copy is in sources/
	SHA256 string `json:"sha256"` // of its content
	Rows   int    `json:"rows"`   // figures in it
}

// A Program that a target ran: its version's output and the digest of its binary.
type Program struct {
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
	Missing string `json:"missing,omitempty"`
}
