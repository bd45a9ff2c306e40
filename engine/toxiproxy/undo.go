package toxiproxy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/planrun/planrun/engine/task"
)

// UndoKind is the kind of the journal's entries about proxies.
const UndoKind = "toxiproxy"

// Made is the data of such an entry: proxies that a server is asked to make.
type Made struct {
	Server  string   `json:"server"`
	Proxies []string `json:"proxies"`
}

// Prefix is how the names of all proxies begin that a result set has made.
func Prefix(token string) string { return "planrun-" + token + "-" }

// Undos take away what was made on servers of others.
var Undos = []task.Undo{task.UndoOf(UndoKind, undo, Made.says)}

// says names what was made: "planrun-x-web-0, planrun-x-web-1 at 10.0.0.1:8474".
func (m Made) says() string { return strings.Join(m.Proxies, ", ") + " at " + m.Server }

// undo deletes proxies, those only that carry the token of the result set. A server that is gone took them with it.
func undo(ctx context.Context, env *task.UndoEnv, m Made) error {
	s := At(m.Server)
	var errs []error
	for _, name := range m.Proxies {
		if !strings.HasPrefix(name, Prefix(env.Token)) {
			errs = append(errs, fmt.Errorf("the proxy %s of the Toxiproxy server at %s is not of this result set", name, m.Server))
			continue
		}
		err := s.Delete(ctx, name)
		if isGone(err) {
			break
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
