//go:build !linux

package load

import "errors"

func newEpollWire(*pool) (wire, error) { return nil, errors.New("epoll is Linux's") }
