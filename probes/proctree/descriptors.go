package proctree

import "fmt"

// Descriptors counts the open file descriptors of a process. It needs the rights of the process's user.
func Descriptors(pid int) (int, error) {
	fs, err := FS()
	if err != nil {
		return 0, err
	}
	p, err := fs.Proc(pid)
	if err != nil {
		return 0, err
	}
	n, err := p.FileDescriptorsLen()
	if err != nil {
		return 0, fmt.Errorf("counting the descriptors of process %d (needs its user's rights, or root's): %w", pid, err)
	}
	return n, nil
}
