package actions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/planrun/planrun/engine/task"
)

const undoFileKind = "file"

// fileEntry restores a file: its content and mode, or that it was not there, nor the directories that were made for it.
type fileEntry struct {
	Path    string      `json:"path"`
	Existed bool        `json:"existed"`
	Content []byte      `json:"content,omitempty"`
	Mode    fs.FileMode `json:"mode,omitempty"`
	Made    []string    `json:"made,omitempty"` // directories, the innermost first
}

// maxRestore bounds what the journal takes of a file, in bytes.
const maxRestore = 16 << 20

func journalFile(env *task.Env, path string) error {
	e := fileEntry{Path: path}
	i, err := os.Stat(path)
	switch {
	case err == nil && !i.Mode().IsRegular():
		return fmt.Errorf("writing %s: it is no regular file", path)
	case err == nil && i.Size() > maxRestore:
		return fmt.Errorf("writing %s: it has %d bytes, too many to be restored later", path, i.Size())
	case err == nil:
		e.Existed, e.Mode = true, i.Mode().Perm()
		if e.Content, err = os.ReadFile(path); err != nil {
			return fmt.Errorf("reading what is to be restored: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("writing %s: %w", path, err)
	default:
		for d := filepath.Dir(path); ; d = filepath.Dir(d) {
			if _, err := os.Stat(d); err == nil || d == filepath.Dir(d) {
				break
			}
			e.Made = append(e.Made, d)
		}
	}
	_, err = env.Journal.Add(undoFileKind, e)
	return err
}

func undoFile(_ context.Context, _ *task.UndoEnv, e fileEntry) error {
	if e.Existed {
		if err := replace(e.Path, e.Content, e.Mode); err != nil {
			return fmt.Errorf("restoring %s: %w", e.Path, err)
		}
		return nil
	}
	if err := os.Remove(e.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing %s: %w", e.Path, err)
	}
	for _, d := range e.Made {
		_ = os.Remove(d) // somebody else may have put something there
	}
	return nil
}
