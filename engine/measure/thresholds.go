package measure

import "time"

// Thresholds are what the guards compare with. Their defaults let a healthy machine pass that other work shares.
type Thresholds struct {
	// RateDelivered is the least share of an open loop's planned requests that the generator itself must have sent, and of
	// any load's requests that it must not have lacked something for.
	RateDelivered float64
	// GeneratorCPU is the highest share of its CPUs that the generator may use. It is not asked of an open loop that waits
	// for due times by spinning (all pacing but economical): there the send lag shows what the CPU time does not.
	GeneratorCPU float64
	// GeneratorShared is how busy a CPU may be that the generator is pinned to together with what it measures. At one half an
	// answer waits for the CPU about as long as it takes to be read.
	GeneratorShared float64
	// GeneratorWait is the highest share of the time during which the threads of a closed loop's worker may be ready to run
	// without a CPU, where the plan's own processes may run on its CPUs; GeneratorWaitOwn where it has CPUs of its own, and waits for
	// foreign processes only. Seen on a two-core machine that others used too, 16 connections in a closed loop: 48 to 64 %
	// with one CPU for both, 18 % (at rest) to 62 % (under heavy foreign load) with a CPU for each.
	GeneratorWait    float64
	GeneratorWaitOwn float64
	// ForeignCPU is the highest share of the machine's CPUs that may go to what the plan did not start, if ForeignLimited
	// says that there is a limit; else above ForeignWarn it is a warning that taints nothing.
	ForeignCPU     float64
	ForeignLimited bool
	ForeignWarn    float64
	// SendLag is the highest p99 of the generator's own send lag. A lag beyond it is the generator's if its own part of it
	// (without the wait for a connection, which is the target's doing) went beyond it too, in at least half the seconds.
	SendLag time.Duration
	// OwnDelay is the highest share of a load's requests that the generator's own delay may hold up for longer than the p99 of
	// the answers; above it is a warning that taints nothing. Half of the 1 % that lies above the p99 could then be its doing.
	OwnDelay float64
	// ClockStep is the largest step of the wall clock against the monotonic clock during a run.
	ClockStep time.Duration
	// Shortest is the shortest headline window whose figures are judged.
	Shortest time.Duration
	// Descriptors is the highest share of its file descriptors that a worker may use, Ports that of a source address's
	// ports.
	Descriptors float64
	Ports       float64
}

// DefaultThresholds are those of a plan that says nothing.
func DefaultThresholds() Thresholds {
	return Thresholds{
		RateDelivered: 0.99, GeneratorCPU: 0.9, GeneratorShared: 0.5, GeneratorWait: 0.25, GeneratorWaitOwn: 0.5, ForeignWarn: 0.1,
		SendLag: 20 * time.Millisecond, OwnDelay: 0.005, ClockStep: 50 * time.Millisecond, Shortest: time.Second, Descriptors: 0.9, Ports: 0.9,
	}
}

// A Machine is what guards must know of where the run was.
type Machine struct {
	CPUs  int // 0: as many as the host probe saw
	Ports int // ephemeral ports of one address; 0: not known, so the guard of ports has nothing to say
}
