package probes

// A resumed keeps the counters of a server growing when it is restarted, which sets its own back to zero.
type resumed struct {
	pid        int
	base, last map[string]float64
}

// read takes the counters as the server of that process id has them, and gives what they are over all restarts.
func (r *resumed) read(pid int, now map[string]float64) map[string]float64 {
	if r.base == nil {
		r.base = make(map[string]float64)
	}
	if pid != r.pid {
		for k, v := range r.last {
			r.base[k] += v
		}
	}
	r.pid, r.last = pid, now
	out := make(map[string]float64, len(now))
	for k, v := range now {
		out[k] = r.base[k] + v
	}
	return out
}
