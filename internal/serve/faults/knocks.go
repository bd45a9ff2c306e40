package faults

import (
	"encoding/binary"
	"math/bits"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Knocks count who tried to connect to an address at which nobody listens. Only the system sees that: with CAP_NET_RAW the
// SYN packets to the address are counted by a filter, of which nothing is read; without it, and for IPv6, all resets that
// were sent in the network namespace stand for it, which may be more.
type knocks struct {
	fd   int   // of the packet socket; -1: none
	last int64 // of the resets in the namespace
}

func newKnocks(a net.Addr) *knocks {
	k := &knocks{fd: -1}
	if at, ok := a.(*net.TCPAddr); ok && at.IP.To4() != nil {
		if fd, err := counting(at); err == nil {
			k.fd = fd
		}
	}
	k.last = resetsSent()
	return k
}

// inexact says that more may have been counted than there were.
func (k *knocks) inexact() bool { return k.fd < 0 }

// more is how many there were since the last call.
func (k *knocks) more() int64 {
	if k.fd >= 0 {
		s, err := unix.GetsockoptTpacketStats(k.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS) // which begins again at 0
		if err != nil {
			return 0
		}
		return int64(s.Packets)
	}
	before := k.last
	k.last = resetsSent()
	return max(0, k.last-before)
}

func (k *knocks) close() {
	if k.fd >= 0 {
		unix.Close(k.fd)
	}
}

// counting opens a packet socket that counts attempts to connect to an address.
func counting(at *net.TCPAddr) (int, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0) // it gets nothing before the filter stands
	if err != nil {
		return -1, err
	}
	program := filter(at)
	err = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: bits.ReverseBytes16(unix.ETH_P_IP)})
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// filter lets IPv4 packets through that open a connection to the address: TCP, no fragment, SYN without ACK.
func filter(at *net.TCPAddr) []unix.SockFilter {
	const drop = 255 // stands for a jump to the end
	address := binary.BigEndian.Uint32(at.IP.To4())
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 9}, // the protocol
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: drop, K: unix.IPPROTO_TCP},
		{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, K: 6}, // the place of a fragment
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jt: drop, K: 0x1fff},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16}, // where it goes
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: drop, K: address},
		{Code: unix.BPF_LDX | unix.BPF_B | unix.BPF_MSH, K: 0}, // the length of the IP header
		{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_IND, K: 2},  // the port
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: drop, K: uint32(at.Port)},
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_IND, K: 13}, // the flags
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0x12},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: drop, K: 0x02},
		{Code: unix.BPF_RET | unix.BPF_K, K: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}
	if at.IP.IsUnspecified() {
		program[5].Jf = 0
	}
	for i := range program {
		for _, jump := range []*uint8{&program[i].Jt, &program[i].Jf} {
			if *jump == drop {
				*jump = uint8(len(program) - 2 - i)
			}
		}
	}
	return program
}

// resetsSent is Tcp: OutRsts of this network namespace; 0 if the system does not say.
func resetsSent() int64 {
	b, err := os.ReadFile("/proc/self/net/snmp")
	if err != nil {
		return 0
	}
	var names []string
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "Tcp:" {
			continue
		}
		if names == nil {
			names = f
			continue
		}
		for i, name := range names {
			if name == "OutRsts" && i < len(f) {
				n, _ := strconv.ParseInt(f[i], 10, 64)
				return n
			}
		}
	}
	return 0
}
