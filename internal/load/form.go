package load

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"
)

// A form is one of the distinct requests of a load, written out.
type form struct {
	path    string
	isHead  bool // the method is HEAD
	whole   []byte
	head    []byte // whole without the body
	body    []byte
	expects bool // 100 Continue, before the body is sent
	bytes   int  // of a request, for Counts.BytesOut
	h2      h2Form
}

// write checks what the requests of a load say, and writes them.
func (j *job) write() error {
	if j.Method == "" {
		j.Method = "GET"
	}
	if j.Path == "" {
		j.Path = "/"
	}
	if j.Host == "" {
		j.Host = j.Address
	}
	switch j.Method {
	case "CONNECT":
		return wrong("method CONNECT: a load sends it by itself, to a forward proxy")
	case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE":
		j.repeatable = true
	}
	if !token(j.Method) {
		return wrong("method %q", j.Method)
	}
	if !text([]byte(j.Host)) || strings.ContainsAny(j.Host, " \t") {
		return wrong("host %q", j.Host)
	}
	if err := j.checkHeaders(); err != nil {
		return err
	}
	paths := []string{j.Path}
	if j.SpreadPath != "" {
		var err error
		if paths, err = SpreadPaths(j.SpreadPath); err != nil {
			return wrong("spread path %q: %v", j.SpreadPath, err)
		}
	}
	for _, path := range paths {
		if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r == 0x7f }) || path == "" || path[0] != '/' && path != "*" {
			return wrong("path %q: it begins with / and has no spaces", path)
		}
		j.forms = append(j.forms, j.form(path))
	}
	return nil
}

func (j *job) checkHeaders() error {
	for _, h := range j.Headers {
		switch {
		case !token(h.Name) || !text([]byte(h.Value)):
			return wrong("header %q: %q", h.Name, h.Value)
		case strings.EqualFold(h.Name, "Host"):
			return wrong("header Host: it is the field host")
		case strings.EqualFold(h.Name, "Content-Length"), strings.EqualFold(h.Name, "Transfer-Encoding"):
			return wrong("header %s: it follows from the body", h.Name)
		case strings.EqualFold(h.Name, "Connection"), strings.EqualFold(h.Name, "Keep-Alive"), strings.EqualFold(h.Name, "Proxy-Connection"):
			return wrong("header %s: it follows from reuse", h.Name)
		case strings.EqualFold(h.Name, "Upgrade"):
			return wrong("header Upgrade: this load generator cannot wait for the answer to it")
		case strings.EqualFold(h.Name, "Expect"):
			switch {
			case !strings.EqualFold(h.Value, "100-continue"):
				return wrong("header Expect: %q: only 100-continue is known", h.Value)
			case len(j.Body) == 0:
				return wrong("header Expect: 100-continue without a body")
			case j.Protocol != "h1":
				return wrong("header Expect: 100-continue with %s: it is for HTTP/1.1 only here", j.Protocol)
			}
			j.expects = true
		}
	}
	return nil
}

// form writes one request.
func (j *job) form(path string) *form {
	f := &form{path: path, isHead: j.Method == "HEAD", body: j.Body, expects: j.expects}
	var b bytes.Buffer
	target := path
	if j.Proxy != "" && j.Scheme == "http" { // RFC 9112, section 3.2.2: the absolute form
		target = "http://" + j.Address + strings.TrimPrefix(path, "*") // OPTIONS * has no path there
	}
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", j.Method, target, j.Host)
	for _, h := range j.Headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
	}
	if !j.Reuse {
		b.WriteString("Connection: close\r\n")
	}
	if j.hasBody() {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(j.Body))
	}
	b.WriteString("\r\n")
	n := b.Len()
	b.Write(j.Body)
	f.whole = b.Bytes()
	f.head, f.bytes = f.whole[:n], len(f.whole)
	return f
}

// hasBody tells whether a request says how long its body is.
func (j *job) hasBody() bool {
	return len(j.Body) > 0 || slices.Contains([]string{"POST", "PUT", "PATCH"}, j.Method)
}

// token tells whether s is a token, as methods and names of headers are (RFC 9110, section 5.6.2).
func token(s string) bool {
	for i := range len(s) {
		if !tokenByte[s[i]] {
			return false
		}
	}
	return s != ""
}

// name is a host without its port and brackets.
func name(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}
