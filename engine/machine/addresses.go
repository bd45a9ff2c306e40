package machine

import (
	"net"
	"net/netip"
	"slices"
)

// Owns reports whether an address is this machine's: what is sent to it goes over the loopback interface. If the addresses
// of the interfaces cannot be read, that is known of loopback addresses alone.
func Owns(ip netip.Addr) bool {
	ip = ip.Unmap()
	if ip.IsLoopback() {
		return true
	}
	own, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(own, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err == nil && p.Addr().Unmap() == ip
	})
}
