package kernel

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Listeners returns the processes that hold a listening TCP socket on the port, as far as this user may see.
func Listeners(port int) []int {
	var links []string
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(file)
		if err != nil {
			continue
		}
		want := fmt.Sprintf(":%04X", port)
		for s := bufio.NewScanner(f); s.Scan(); {
			// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode; state 0A is LISTEN
			if c := strings.Fields(s.Text()); len(c) > 9 && c[3] == "0A" && strings.HasSuffix(c[1], want) {
				links = append(links, "socket:["+c[9]+"]")
			}
		}
		f.Close()
	}
	if len(links) == 0 {
		return nil
	}
	all, err := List()
	if err != nil {
		return nil
	}
	var out []int
	for _, s := range all {
		dir := "/proc/" + strconv.Itoa(s.PID) + "/fd"
		fds, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			if to, err := os.Readlink(dir + "/" + fd.Name()); err == nil && slices.Contains(links, to) {
				out = append(out, s.PID)
				break
			}
		}
	}
	return out
}
