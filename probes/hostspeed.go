package probes

import (
	"fmt"
	"runtime"

	"github.com/planrun/planrun/engine/proc/kernel"
	"github.com/planrun/planrun/engine/series"
	"github.com/planrun/planrun/engine/task"
	"github.com/planrun/planrun/internal/hostspeed"
)

// hostSpeed measures how fast this machine works at the moment, where it matters to the target.
type hostSpeed struct {
	begun bool
	last  float64 // when it was measured, in seconds since the run began
}

// speedEvery is the shortest time between two measurements, in seconds, however often the probe samples; with less than a
// millisecond for each that is at most a thousandth of a CPU. A sample that comes a little early is not left out.
const speedEvery = 0.9

func (h *hostSpeed) sample(env *task.ProbeEnv) error {
	if h.begun && env.Now-h.last < speedEvery {
		return nil
	}
	h.begun, h.last = true, env.Now
	speed, err := speedOn(cpusOf(env.Processes.All(), "sut"))
	if err != nil {
		return fmt.Errorf("measuring the host's speed: %w", err)
	}
	env.Emit(series.Point{T: env.Now, Series: "host_speed", V: speed})
	return nil
}

// cpusOf are the CPUs to which the plan pins the processes of a role; nil if one of them is not pinned, or there is none. To
// ask the kernel instead would take a look at every process of the machine.
func cpusOf(all []task.Process, role string) (cpus []int) {
	for _, p := range all {
		if p.Role() != role {
			continue
		}
		s, ok := p.(interface{ Spec() task.ProcessSpec })
		if !ok || len(s.Spec().CPUs) == 0 {
			return nil
		}
		cpus = append(cpus, s.Spec().CPUs...)
	}
	return cpus
}

// speedOn measures on one of the CPUs (nil: on any). The thread that does it may run where it might before when it returns; one
// for which that fails is left locked, and so used by nobody else.
func speedOn(cpus []int) (speed float64, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		var back error
		err, back = kernel.Pinned(cpus, func() (err error) {
			speed, err = hostspeed.Here()
			return err
		})
		if back == nil {
			runtime.UnlockOSThread()
		}
	}()
	<-done
	return speed, err
}
