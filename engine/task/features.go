package task

// Features of a machine, as `planrun env` calls them.
const (
	Nftables      = "nftables"
	MemoryLimits  = "memory limits"
	CPULimits     = "CPU limits"
	ProcessLimits = "process limits"
)

// LimitsRequire lists the features that limits need: bytes, cores, and processes and threads; 0 is no limit.
func LimitsRequire(memory int64, cpu float64, processes int) (out []string) {
	if memory > 0 {
		out = append(out, MemoryLimits)
	}
	if cpu > 0 {
		out = append(out, CPULimits)
	}
	if processes > 0 {
		out = append(out, ProcessLimits)
	}
	return out
}
