package proc

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/planrun/planrun/engine/task"
)

// A Ref names a started process in the journal, so that another process can find it, and nothing else under its id.
type Ref struct{ id identity }

// RefOf makes a reference to a process of this package; to another one it refers to nothing.
func RefOf(p task.Process) Ref {
	q, ok := p.(*Process)
	if !ok {
		return Ref{}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return Ref{q.id}
}

// String is the process as messages name it: web/0.
func (r Ref) String() string { return fmt.Sprintf("%s/%d", r.id.Name, r.id.Replica) }

// MarshalJSON writes what identifies it.
func (r Ref) MarshalJSON() ([]byte, error) { return json.Marshal(r.id) }

// UnmarshalJSON reads it back.
func (r *Ref) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &r.id) }

// Signal sends a signal to the process, or to its whole tree. If it is gone the error is os.ErrProcessDone.
func (r Ref) Signal(env *task.UndoEnv, name string, whole bool) error {
	if r.id.Token != env.Token {
		return fmt.Errorf("process %s is of another result set", r.id.Name)
	}
	sig, err := signalNumber(name)
	if err != nil {
		return err
	}
	tree, err := r.id.tree(nil)
	if err != nil {
		return fmt.Errorf("looking for the processes of %s: %w", r.id.Name, err)
	}
	sent := false
	for _, s := range tree {
		if whole || r.id.isSelf(s) {
			send(s, sig)
			sent = true
		}
	}
	if !sent {
		return fmt.Errorf("sending %s to %s: %w", name, r.id.Name, os.ErrProcessDone)
	}
	return nil
}
