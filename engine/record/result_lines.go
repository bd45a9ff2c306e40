package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"sync"
)

// resultLines reads results.json as WriteResults writes it: cells and verdicts stand a line each, so that they are decoded
// several at once. It reports false of any other text, also of one that is damaged.
func resultLines(f io.Reader, cells bool) (*Results, bool) {
	r, in, ok := new(Results), bufio.NewReaderSize(f, 1<<20), true
	var head []byte // what is left without the elements of the two lists
	for ok {
		line, err := in.ReadBytes('\n')
		head = append(head, line...)
		if err != nil {
			ok = err == io.EOF
			break
		}
		switch string(line) {
		case " \"cells\": [\n":
			decode := decodeCell
			if !cells {
				decode = nil
			}
			r.Cells, ok = elements(in, decode)
		case " \"verdicts\": [\n":
			r.Verdicts, ok = elements(in, func(text []byte, j *Judgement) error { return json.Unmarshal(text, j) })
		default:
			continue
		}
		head = append(head, " ]"...)
	}
	lists := *r
	if !ok || json.Unmarshal(head, r) != nil {
		return nil, false
	}
	if lists.Verdicts != nil {
		r.Verdicts = lists.Verdicts
	}
	if lists.Cells != nil || !cells {
		r.Cells = lists.Cells
	}
	return r, true
}

// elements decodes a list, an element a line, up to the bracket that ends it. A nil decode passes them over.
func elements[T any](in *bufio.Reader, decode func([]byte, *T) error) (out []T, ok bool) {
	type element struct {
		v   T
		err error
	}
	var begun []*element
	var wg sync.WaitGroup
	take := func() bool {
		wg.Wait()
		for _, e := range begun {
			if e.err != nil {
				return false
			}
			out = append(out, e.v)
		}
		begun = begun[:0]
		return true
	}
	defer wg.Wait()
	for more := true; ; {
		if begin, err := in.Peek(2); err != nil {
			return nil, false
		} else if string(begin) == " ]" {
			_, err := in.Discard(2)
			return out, take() && err == nil && !more
		}
		line, err := in.ReadBytes('\n')
		if err != nil || !more || !bytes.HasPrefix(line, []byte("  {")) {
			return nil, false
		}
		line, more = bytes.CutSuffix(line[:len(line)-1], []byte(","))
		if decode == nil {
			continue
		}
		e, text := new(element), line
		begun = append(begun, e)
		wg.Go(func() { e.err = decode(text, &e.v) })
		if len(begun) == 2*runtime.GOMAXPROCS(0) && !take() {
			return nil, false
		}
	}
}
