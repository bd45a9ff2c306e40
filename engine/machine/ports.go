package machine

// EphemeralPorts is how many source ports one address has for connections to one destination; 0 if that is not known.
func EphemeralPorts() int {
	low, high, ok := portRange(sysctl("net.ipv4.ip_local_port_range"))
	if !ok {
		return 0
	}
	return high - low + 1
}
