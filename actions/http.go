package actions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/planrun/planrun/dsl"
	"github.com/planrun/planrun/engine/task"
)

var httpKind = kind("http", "Make one request, to an admin API for instance. Its undo list says what takes its effect back. Certificates are not verified by name or issuer: use it within the plan's own machine or cluster.", func() *httpRequest { return &httpRequest{} })

type httpRequest struct {
	URL     string          `yaml:"url" required:"true" short:"true" doc:"where: http://HOST:PORT/PATH, or ENDPOINT/PATH for an endpoint of the target, such as admin/reload"`
	Method  string          `yaml:"method" default:"GET" doc:"the method"`
	Headers dsl.Map[string] `yaml:"headers" keys:"any" doc:"request headers; Host is the host that is asked for"`
	Body    string          `yaml:"body" doc:"the request body"`
	Expect  int             `yaml:"expect" min:"100" max:"599" doc:"the status that is right; left out: any from 200 to 299"`
	Set     dsl.Map[string] `yaml:"set" keys:"ident" doc:"values from the answer, which must be JSON: NAME: PATH, as in exec"`
	Timeout dsl.Duration    `yaml:"timeout" default:"10s" min:"1ms" doc:"how long it may take"`
}

// TakesUndo: an undo list may stand beside it.
func (h *httpRequest) TakesUndo() {}

// Check finds what the types do not.
func (h *httpRequest) Check(c *dsl.Check) {
	if c.Known("url") {
		checkURL(c, "url", h.URL)
	}
	if strings.ContainsAny(h.Method, " \t\r\n") {
		c.Errorf("method", "%q is no request method", h.Method)
	}
	for _, e := range h.Headers {
		if e.Name == "" || strings.ContainsAny(e.Name, " :\r\n") || strings.ContainsAny(e.Val, "\r\n") {
			c.Errorf("headers", "%q is no header", e.Name)
		}
	}
	for _, e := range h.Set {
		if _, err := parsePath(e.Val); err != nil && c.Known("set") {
			c.Errorf("set", "%s: %v", e.Name, err)
		}
	}
}

// Declares the values that it sets and the endpoint that it uses.
func (h *httpRequest) Declares() task.Declaration {
	return task.Declaration{Values: h.Set.Names(), Uses: urlUses("url", h.URL)}
}

func (h *httpRequest) Run(ctx context.Context, env *task.Env) error {
	if err := journalUndo(ctx, env); err != nil {
		return err
	}
	e, err := h.entry(env)
	if err != nil {
		return err
	}
	body, err := e.do(ctx)
	if err != nil {
		return err
	}
	if len(h.Set) > 0 {
		return setValues(env, h.Set, body)
	}
	return nil
}

const undoHTTPKind = "http"

// httpEntry is a request with its address resolved.
type httpEntry struct {
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	Expect  int               `json:"expect,omitempty"`
	Timeout time.Duration     `json:"timeout"`
}

func (h *httpRequest) entry(env *task.Env) (httpEntry, error) {
	u, err := resolveURL(env, h.URL)
	e := httpEntry{URL: u, Method: h.Method, Body: h.Body, Expect: h.Expect, Timeout: h.Timeout}
	for _, v := range h.Headers {
		if e.Headers == nil {
			e.Headers = map[string]string{}
		}
		e.Headers[v.Name] = v.Val
	}
	return e, err
}

// UndoData keeps the request.
func (h *httpRequest) UndoData(_ context.Context, env *task.Env) (string, any, error) {
	if len(h.Set) > 0 {
		return "", nil, errors.New("a request that undoes something cannot set values")
	}
	e, err := h.entry(env)
	return undoHTTPKind, e, err
}

func undoHTTP(ctx context.Context, _ *task.UndoEnv, e httpEntry) error {
	_, err := e.do(ctx)
	return err
}

// maxBody bounds what is read of an answer, in bytes.
const maxBody = 16 << 20

// do makes the request and gives the body of the answer.
func (e httpEntry) do(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, e.Timeout, fmt.Errorf("no answer within %v", e.Timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, e.Method, e.URL, strings.NewReader(e.Body))
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	for name, value := range e.Headers {
		if strings.EqualFold(name, "Host") {
			req.Host = value
		} else {
			req.Header.Set(name, value)
		}
	}
	resp, err := client().Do(req)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, &task.Refused{Err: fmt.Errorf("%s %s: %w", e.Method, e.URL, err)}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return nil, &task.Refused{Err: fmt.Errorf("%s %s: reading the answer: %w", e.Method, e.URL, err)}
	}
	if !e.right(resp.StatusCode) {
		text := strings.TrimSpace(strings.ToValidUTF8(string(body[:min(len(body), 300)]), "\uFFFD"))
		want := "2xx"
		if e.Expect != 0 {
			want = fmt.Sprint(e.Expect)
		}
		return nil, &task.Refused{Err: fmt.Errorf("%s %s: the answer is %s, not %s: %s", e.Method, e.URL, resp.Status, want, text)}
	}
	return body, nil
}

func (e httpEntry) right(status int) bool {
	if e.Expect != 0 {
		return status == e.Expect
	}
	return status >= 200 && status <= 299
}

// isURL tells http://... from ENDPOINT/PATH.
func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func checkURL(c *dsl.Check, field, s string) {
	name, _, slash := strings.Cut(s, "/")
	if !isURL(s) && (!slash || name == "" || strings.ContainsAny(name, ":.")) {
		c.Errorf(field, "%q is no URL", s).Hint = "write http://HOST:PORT/PATH, or ENDPOINT/PATH for an endpoint of the target"
	}
}

// urlUses is the endpoint in ENDPOINT/PATH.
func urlUses(field, s string) []task.Use {
	if s == "" || isURL(s) {
		return nil
	}
	name, _, _ := strings.Cut(s, "/")
	return []task.Use{{Kind: "endpoint", Name: name, Field: field}}
}

// resolveURL makes a URL of ENDPOINT/PATH. An endpoint named https speaks TLS.
func resolveURL(env *task.Env, s string) (string, error) {
	if isURL(s) {
		return s, nil
	}
	name, path, _ := strings.Cut(s, "/")
	addr, err := env.Endpoint(name)
	if err != nil {
		return "", err
	}
	scheme := "http"
	if name == "https" {
		scheme = "https"
	}
	return scheme + "://" + addr + "/" + path, nil
}
