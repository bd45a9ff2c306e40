package proc

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// CommandsFile is the file of a group's directory that keeps how each process was started.
const CommandsFile = "commands.jsonl"

// A Command is a line of it. Secrets are redacted.
type Command struct {
	T       time.Time         `json:"t"`
	Name    string            `json:"name"`
	Replica int               `json:"replica"`
	Role    string            `json:"role"`
	PID     int               `json:"pid"`
	Dir     string            `json:"dir"`
	Command []string          `json:"command"`
	Env     map[string]string `json:"env,omitempty"` // what the plan sets beside the engine's own
	Config  json.RawMessage   `json:"config,omitempty"`
	CPUs    []int             `json:"cpus,omitempty"`
	Nice    int               `json:"nice,omitempty"`
	Ports   map[string]int    `json:"ports,omitempty"`
	Log     string            `json:"log"`
	Output  string            `json:"output,omitempty"`
}

func (g *Group) record(p *Process) error {
	redact := g.m.opts.Redact
	c := Command{
		T: time.Now().UTC(), Name: p.spec.Name, Replica: p.spec.Replica, Role: p.spec.Role, PID: p.id.PID, Dir: p.spec.Dir,
		CPUs: p.spec.CPUs, Nice: p.spec.Nice, Ports: p.spec.Ports, Log: p.log, Output: p.spec.Output,
	}
	for _, a := range p.command {
		c.Command = append(c.Command, redact(a))
	}
	for name, value := range p.spec.Env {
		if c.Env == nil {
			c.Env = map[string]string{}
		}
		c.Env[name] = redact(value)
	}
	if p.spec.Config != nil {
		b, err := json.Marshal(p.spec.Config)
		if err != nil {
			return fmt.Errorf("keeping the specification of %s: %w", p, err)
		}
		if c.Config = json.RawMessage(redact(string(b))); !json.Valid(c.Config) {
			c.Config = nil
		}
	}
	line, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("keeping the command line of %s: %w", p, err)
	}
	f, err := os.OpenFile(filepath.Join(g.opts.Dir, CommandsFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("keeping the command line of %s: %w", p, err)
	}
	_, err = f.Write(append(line, '\n'))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("keeping the command line of %s: %w", p, err)
	}
	return nil
}
