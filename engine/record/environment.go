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
	flag := "--" + name
	for i, word := range e.Command {
		if v, ok := strings.CutPrefix(word, flag+"="); ok {
			value = v
		}
		if word == flag && i+1 < len(e.Command) {
			value = e.Command[i+1]
		}
	}
	return value
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
