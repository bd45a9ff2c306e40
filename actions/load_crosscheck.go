package actions

import (
	"cmp"
	"net/url"

	"github.com/planrun/planrun/internal/load"
)

// CrossChecks names the other load generators that do the same as the load, and says of the load what decides whether they
// can, as far as it is known before it runs.
func (l *Load) CrossChecks() (generators []string, of load.Spec) {
	of = l.known()
	of.Proxy, of.Sources = l.Proxy, l.Sources
	if u, err := url.Parse(l.URL); err == nil {
		of.Host = cmp.Or(of.Host, u.Host)
	}
	return l.CrossCheck, of
}
