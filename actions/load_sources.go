package actions

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// sourcePrefixes reads source addresses and networks, and makes sure that this machine can send from them: all of loopback,
// else what is assigned to one of its interfaces. A network that is not loopback's stands for the assigned addresses in it.
func sourcePrefixes(list []string, assigned []netip.Addr) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range list {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			a, err := netip.ParseAddr(s)
			if err != nil || a.Zone() != "" {
				return nil, fmt.Errorf("%q is neither an address nor a network such as 127.0.1.0/24", s)
			}
			p = netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen())
		}
		p = p.Masked()
		if onLoopback(p) {
			out = append(out, p)
			continue
		}
		found := false
		for _, a := range assigned {
			if p.Contains(a) {
				found, out = true, append(out, netip.PrefixFrom(a, a.BitLen()))
			}
		}
		if !found && p.IsSingleIP() {
			return nil, fmt.Errorf("%s is no address of this machine", s)
		} else if !found {
			return nil, fmt.Errorf("this machine has no address in %s", s)
		}
	}
	return out, nil
}

// onLoopback reports whether every address of a network can be sent from without being assigned.
func onLoopback(p netip.Prefix) bool {
	return p.Addr().IsLoopback() && (p.Addr().Is6() && p.IsSingleIP() || p.Addr().Is4() && p.Bits() >= 8)
}

// assignedAddresses are those of the interfaces of this machine.
func assignedAddresses() ([]netip.Addr, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("reading the addresses of this machine: %w", err)
	}
	var out []netip.Addr
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, p.Addr().Unmap().WithZone(""))
		}
	}
	return out, nil
}

// prefixes are the sources as this machine has them; none if the plan names none.
func (l *Load) prefixes() ([]netip.Prefix, error) {
	if len(l.Sources) == 0 {
		return nil, nil
	}
	assigned, err := assignedAddresses()
	if err != nil {
		return nil, err
	}
	return sourcePrefixes(l.Sources, assigned)
}

// sources are those of the family of the address that is dialled, as the workers want them.
func (l *Load) sources(dialled string) ([]string, error) {
	if len(l.Sources) == 0 {
		return nil, nil
	}
	prefixes, err := l.prefixes()
	if err != nil {
		return nil, fmt.Errorf("sources: %w", err)
	}
	to, err := netip.ParseAddrPort(dialled)
	if err != nil {
		return nil, fmt.Errorf("sources: %w", err)
	}
	var out []string
	for _, p := range prefixes {
		switch {
		case p.Addr().Is4() != to.Addr().Is4():
		case p.IsSingleIP():
			out = append(out, p.Addr().String())
		default:
			out = append(out, p.String())
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("sources: none of %s is of the family of %s", strings.Join(l.Sources, ", "), to.Addr())
	}
	return out, nil
}
