//go:build !linux || (!amd64 && !arm64)

package load

import "errors"

func newUringWire(*pool) (wire, error) {
	return nil, errors.New("io_uring is Linux's, on amd64 and arm64")
}
