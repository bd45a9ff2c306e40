package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// into has something written to a file, or to standard output if path is empty. A file is replaced when all of it is written,
// so whoever reads it sees the old one or the new one; what is no file (/dev/stderr, a named pipe) is written to. What goes
// wrong, a full disk or a pipe that nobody reads any more, is exit code 4; an interrupt leaves the old file.
func (p *program) into(ctx context.Context, path string, write func(io.Writer) error) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE) // writing fails then, instead of ending the process
	defer signal.Stop(broken)

	var err error
	if path == "" {
		err = write(&until{ctx, p.out})
	} else if err = replace(path, func(w io.Writer) error { return write(&until{ctx, w}) }); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	switch {
	case err == nil:
		if info, e := os.Stat(path); e == nil && info.Mode().IsRegular() {
			_, err = fmt.Fprintln(p.out, path)
		}
	case ctx.Err() != nil:
		p.exit = exitInterrupted
	default:
		p.exit = exitHarness
	}
	return err
}

// until is a writer that fails once its context is over.
type until struct {
	ctx context.Context
	w   io.Writer
}

func (u *until) Write(b []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, errors.New("interrupted")
	}
	return u.w.Write(b)
}

// replace writes a file beside path, which then takes its place and its mode; where path is a link, that of what it leads to.
func replace(path string, write func(io.Writer) error) error {
	mode := os.FileMode(0o644)
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return errors.New("is a directory")
	case err == nil && !info.Mode().IsRegular():
		return through(path, write)
	case err == nil:
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		os.Remove(f.Name())
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		os.Remove(f.Name())
		return err
	}
	return nil
}

// through writes to what is there.
func through(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
