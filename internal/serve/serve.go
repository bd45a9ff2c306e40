// Package serve lists planrun's own servers. Each is a package of its own and runs as a process of its own, which speaks
// the protocol of package worker.
package serve

import (
	"io"

	"github.com/planrun/planrun/internal/serve/drop"
	"github.com/planrun/planrun/internal/serve/faults"
	"github.com/planrun/planrun/internal/serve/origin"
	"github.com/planrun/planrun/internal/serve/proxy"
	"github.com/planrun/planrun/internal/serve/relay"
)

// A Kind is a server; Main is the life of its process, over standard input and output.
type Kind struct {
	Name string
	Doc  string
	Main func(in io.Reader, out io.Writer) error
}

// Kinds are all of them, by name.
var Kinds = []Kind{
	{"drop", "rules of nftables that drop packets", drop.Main},
	{"faults", "TCP relays in which faults happen", faults.Main},
	{"origin", "a backend whose answers are asked for by path", origin.Main},
	{"proxy", "a reverse proxy for HTTP/1.1 and HTTP/2", proxy.Main},
	{"relay", "a TCP relay", relay.Main},
}
