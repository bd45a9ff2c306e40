package machine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/planrun/planrun/engine/record"
)

// A version's output is short: what takes longer or says more is cut.
const (
	versionTime  = 5 * time.Second
	versionBytes = 4096
	versionLines = 3
)

// Program finds a program, its digest and what its version command says. What is missing is said in Missing; a version
// command (empty: none is recorded) that fails leaves its output, or the error, in Version. Without a program there is
// only the version: a target that already runs.
func Program(ctx context.Context, program string, command []string) record.Program {
	var p record.Program
	if len(command) > 0 {
		p.Version = version(ctx, command)
	}
	if program == "" {
		return p
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return record.Program{Missing: fmt.Sprintf("%s is not installed: %v", program, err)}
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	p.Path = path
	if p.SHA256, err = digest(path); err != nil {
		p.Missing = "its digest: " + err.Error()
	}
	return p
}

// version is the first lines that the command prints; programs differ on which of the two outputs that is.
func version(ctx context.Context, command []string) string {
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.WaitDelay = time.Second
	out := &head{left: versionBytes}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	if s := firstLines(out.String(), versionLines); s != "" {
		return s
	}
	if err != nil {
		return fmt.Sprintf("unknown: %s: %v", strings.Join(command, " "), err)
	}
	return fmt.Sprintf("unknown: %s printed nothing", strings.Join(command, " "))
}

func firstLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines[:min(n, len(lines))], "\n")
}

// A head keeps the first bytes that are written to it.
type head struct {
	bytes.Buffer
	left int
}

func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), h.left)
	h.left -= n
	h.Buffer.Write(p[:n])
	return len(p), nil
}

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
