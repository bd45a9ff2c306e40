package report

// guardWords says in plain words what it means that a guard of package measure did not hold. A guard that is not here is
// named.
var guardWords = map[string]string{
	"generator-cpu":   bottleneck + ": it had no CPU to spare",
	"busy-machine":    busy + ": it had to wait for processes that the plan did not start",
	"generator":       bottleneck + ": it could not send requests for want of descriptors, ports, memory or CPU",
	"rate-delivered":  bottleneck + ": it did not send at the asked rate",
	"send-lag":        bottleneck + ": it sent late",
	"own-delay":       "the load generator's own delay in sending may have made p99_ms",
	"cross-check":     "other load generators saw much shorter latencies at the same endpoint",
	"cross-checked":   "whether other load generators agree is not known",
	"connections":     bottleneck + ": it could not open the connections that it was asked for",
	"descriptors":     bottleneck + ": it was short of file descriptors",
	"ports":           bottleneck + ": it was short of source ports",
	"verified":        "what was measured was not verified to be the right answer",
	"answered":        "requests were not made, or none was answered",
	"workers":         "load workers did not report",
	"fault":           "the fault was not in force",
	"change":          "the target was not seen to serve a change of backends or routes",
	"churn":           "backends or routes did not really change as the plan asked",
	"backends":        "a backend ended by itself",
	"clock":           "the machine's clock stepped while it was measured",
	"pinning":         "processes did not run on the CPUs that the plan gives them",
	"limits":          "processes were not under the limits that the plan sets",
	"foreign-cpu":     "something that the plan did not start used the machine's CPU",
	"generator-known": "whether the load generator had the CPU that it needed is not known",
	"reachable":       "the target did not take connections",
	"length":          "the measured window was too short",
}

const (
	bottleneck = "the load generator was the bottleneck"
	busy       = "this machine was too busy for the load generator"
)

var taintWords = map[string]string{
	"timing": "latencies, rates and CPU figures are not to be trusted",
	"work":   "none of its figures is to be trusted",
	"passes": "its failures stand, and nothing passes",
	"":       "a warning: nothing is withdrawn",
}

// taintWord says what a guard's taint means.
func taintWord(t string) string {
	if w, ok := taintWords[t]; ok {
		return w
	}
	return "taints " + t
}
