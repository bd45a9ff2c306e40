package actions

import "github.com/planrun/planrun/dsl"

var dropKind = later("drop", "there is no nftables driver yet", "Drop packets to a port until the phase ends, where the right to do so exists. The kernel drops them, so that connections stay open and retransmit.", func() any { return &drop{} })

type drop struct {
	Endpoint  string      `yaml:"endpoint" kind:"true" doc:"an endpoint of the target"`
	Backends  string      `yaml:"backends" kind:"true" ref:"backends" doc:"all replicas of a backend"`
	Port      int         `yaml:"port" kind:"true" min:"1" max:"65535" doc:"a port of the loopback interface"`
	Share     dsl.Percent `yaml:"share" default:"100%" min:"0%" max:"100%" doc:"share of the packets"`
	Direction string      `yaml:"direction" enum:"in|out|both" default:"in" doc:"in: packets to the port; out: those from it"`
}

// Lasting: it is in force until its phase ends.
func (d *drop) Lasting() bool { return true }

// Check finds what the types do not.
func (d *drop) Check(c *dsl.Check) {
	if !c.Has("endpoint") && !c.Has("backends") && !c.Has("port") {
		c.Errorf("", "nothing says which packets").Hint = "write one of endpoint, backends, port"
	}
}
