package machine

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// nftables asks the kernel for the generation of its rules, which changes nothing but needs the rights that rules need.
func nftables() Offer {
	const feature = "nftables"
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_NETFILTER)
	if err != nil {
		return no(feature, "the kernel has no netfilter: %v", err)
	}
	defer unix.Close(fd)
	wait := unix.Timeval{Sec: 1}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
		return no(feature, "asking for rules: %v", err)
	}
	const getGeneration = 16 // NFT_MSG_GETGEN
	msg := make([]byte, unix.SizeofNlMsghdr+4)
	binary.NativeEndian.PutUint32(msg[0:], uint32(len(msg)))
	binary.NativeEndian.PutUint16(msg[4:], unix.NFNL_SUBSYS_NFTABLES<<8|getGeneration)
	binary.NativeEndian.PutUint16(msg[6:], unix.NLM_F_REQUEST)
	if err := unix.Sendto(fd, msg, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return no(feature, "asking for rules: %v", err)
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return no(feature, "asking for rules: %v", err)
	}
	if n >= unix.SizeofNlMsghdr+4 && binary.NativeEndian.Uint16(answer[4:]) == unix.NLMSG_ERROR {
		switch errno := unix.Errno(-int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:]))); errno {
		case 0:
		case unix.EPERM:
			return no(feature, "rules may not be read or made: %v (needs CAP_NET_ADMIN)", errno)
		case unix.EINVAL, unix.EOPNOTSUPP:
			return no(feature, "the kernel was built without nf_tables, or its module is missing")
		default:
			return no(feature, "asking for rules: %v", errno)
		}
	}
	return yes(feature, "rules can be made")
}

// module is a feature that the kernel has built in or as a module, and that may need a capability (-1 for none).
func module(feature, name, config, what string, capability int) Offer {
	has, how := kernelHas(name, config)
	switch {
	case !has:
		return no(feature, "%s (%s)", how, what)
	case capability >= 0 && !capable(capability):
		return no(feature, "%s: %s, but this process lacks CAP_NET_ADMIN", what, how)
	}
	return yes(feature, "%s: %s", what, how)
}

// kernelHas looks for a module where kernels say what they have: loaded ones, installed ones, and the kernel's
// configuration.
func kernelHas(name, config string) (bool, string) {
	if _, err := os.Stat("/sys/module/" + name); err == nil {
		return true, "loaded"
	}
	release := line("/proc/sys/kernel/osrelease")
	dir := "/lib/modules/" + release
	searched := 0
	for _, list := range []struct{ file, how string }{{"modules.builtin", "built into the kernel"}, {"modules.dep", "a module that can be loaded"}} {
		b, err := os.ReadFile(dir + "/" + list.file)
		if err != nil {
			continue
		}
		searched++
		if bytes.Contains(b, []byte("/"+name+".ko")) {
			return true, list.how
		}
	}
	for _, path := range []string{"/proc/config.gz", "/boot/config-" + release} {
		value, err := configured(path, "CONFIG_"+config)
		switch {
		case err != nil:
		case value == "y":
			return true, "built into the kernel"
		case value == "m" && searched == 0:
			return false, "the kernel has it as a module, which is not installed"
		default:
			return false, "the kernel was built without CONFIG_" + config
		}
	}
	if searched > 0 {
		return false, "no module " + name + " is installed"
	}
	return false, "unknown: neither the kernel's configuration nor its modules can be read"
}

// configured is a setting of a kernel's configuration; empty if it is not set.
func configured(path, key string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return "", fmt.Errorf("reading %s: %w", path, err)
		}
	}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), key+"="); ok {
			return v, nil
		}
	}
	return "", lines.Err()
}

// capable reports whether this process has a capability.
func capable(capability int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return errors.Is(err, unix.ENOSYS)
	}
	return data[capability/32].Effective&(1<<(capability%32)) != 0
}
