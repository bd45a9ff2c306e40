package journal

import (
	"os"

	"github.com/planrun/planrun/engine/proc/kernel"
)

func self(token string) Owner {
	return Owner{PID: os.Getpid(), Start: kernel.StartTime(os.Getpid()), Boot: kernel.BootID(), Token: token}
}

// lives reports whether the owner is a running process other than this one.
func (o Owner) lives() bool {
	return o.PID > 0 && o.PID != os.Getpid() && o.Boot == kernel.BootID() && o.Start != 0 && kernel.StartTime(o.PID) == o.Start
}
