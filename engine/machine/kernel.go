package machine

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/planrun/planrun/internal/serve/drop"
)

// Nftables tells whether packets can be dropped.
func Nftables() Offer {
	const feature = "nftables"
	if err := drop.Offered(); err != nil {
		return no(feature, "%v", err)
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
