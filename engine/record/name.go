package record

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// slug makes a name of free text that is safe and readable as part of a path: letters, digits, dots, dashes and
// underscores, at most 60 bytes, never empty and never beginning with a dot.
func slug(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 60 {
			break
		}
	}
	if out := strings.Trim(b.String(), ".-"); out != "" {
		return out
	}
	return "unnamed"
}

// runNumber is the number with which a run's directory begins.
func runNumber(id string) int {
	digits, _, _ := strings.Cut(id, "-")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// RunName is what follows the number in the name of a run's directory: its coordinates, readable.
func RunName(c Coord) string {
	parts := []string{slug(c.Stage), slug(c.Target), slug(c.Scenario)}
	for _, a := range c.Matrix {
		parts = append(parts, slug(a.Value))
	}
	name := strings.Join(parts, "-")
	if len(name) > 120 {
		name = name[:120]
	}
	return fmt.Sprintf("%s-%d.%d", name, c.Round, c.Repeat)
}

// number makes the next free directory under parent: 0001-NAME, 0002-NAME, in the order of their making.
func (s *Set) number(parent, name string) (id string, err error) {
	entries, err := os.ReadDir(s.Path(parent))
	if err != nil {
		return "", fmt.Errorf("creating a directory under %s: %w", parent, err)
	}
	next := 1
	for _, e := range entries {
		next = max(next, runNumber(e.Name())+1)
	}
	id = fmt.Sprintf("%04d-%s", next, name)
	if err := os.Mkdir(s.Path(parent, id), 0o755); err != nil {
		return "", fmt.Errorf("creating a directory under %s: %w", parent, err)
	}
	return id, nil
}

// NewInstall makes the directory of an installation of the target, and gives its id and path.
func (s *Set) NewInstall(target string) (id, dir string, err error) {
	id, err = s.number("installs", slug(target))
	return id, s.Path("installs", id), err
}
