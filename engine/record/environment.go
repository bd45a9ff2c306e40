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

// Without is the command line without a flag that takes a value, and the values that it had. Flags end at --.
func (e *Environment) Without(name string) (words, values []string) {
	flag := "--" + name
	for i := 0; i < len(e.Command); i++ {
		word := e.Command[i]
		v, joined := strings.CutPrefix(word, flag+"=")
		switch {
		case word == "--":
			return append(words, e.Command[i:]...), values
		case joined:
			values = append(values, v)
		case word == flag && i+1 < len(e.Command):
			i++
			values = append(values, e.Command[i])
		default:
			words = append(words, word)
		}
	}
	return words, values
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
