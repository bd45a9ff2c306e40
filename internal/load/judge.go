package load

import (
	"bytes"
	"fmt"
)

// judge compares an answer with what is expected. Another status than 2xx is left to be counted by its code; an answer that
// has the right status, or a 2xx that is not the expected one, is a mismatch if anything else differs.
func (j *job) judge(r *request) outcome {
	status, size := r.status, r.bytes
	o := outcome{status: status}
	if r.hash != nil {
		r.sum = r.hash.Sum(r.sum[:0])
	}
	switch {
	case !j.right(status):
		if status >= 200 && status <= 299 {
			o.class, o.reason = Mismatch, fmt.Sprintf("status %d instead of %d", status, j.Expect.Status)
		}
	case j.Expect.Bytes != nil && size != *j.Expect.Bytes:
		o.class, o.reason = Mismatch, fmt.Sprintf("%d bytes instead of %d", size, *j.Expect.Bytes)
	case j.sha256 != nil && !bytes.Equal(r.sum, j.sha256):
		o.class, o.reason = Mismatch, fmt.Sprintf("sha256 %x instead of %x", r.sum, j.sha256)
	}
	return o
}
