package actions

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/planrun/planrun/engine/task"
)

// widest is how many bytes of a line are shown.
const widest = 200

// show tells the report what was printed.
func (x *execute) show(env *task.Env, out string) error {
	if x.Show == 0 {
		return nil
	}
	f, err := os.Open(out)
	if err != nil {
		return fmt.Errorf("reading its output: %w", err)
	}
	defer f.Close()
	lines, err := firstLines(f, x.Show)
	if err != nil {
		return fmt.Errorf("reading its output: %w", err)
	}
	env.Event("output", strings.TrimRight(strings.Join(lines, "\n"), "\n"), map[string]any{"action": env.Name})
	return nil
}

// firstLines are at most so many, each cut off at widest, however long it is.
func firstLines(r io.Reader, most int) (lines []string, err error) {
	for in := bufio.NewReader(r); len(lines) < most; {
		line, err := in.ReadSlice('\n')
		text := strings.ToValidUTF8(string(line[:min(len(line), widest)]), "")
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of a long one
			_, err = in.ReadSlice('\n')
		}
		if text != "" {
			lines = append(lines, strings.TrimRight(text, " \r\n"))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return lines, nil
}
