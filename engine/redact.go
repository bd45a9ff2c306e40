package engine

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// secrets are the texts that must not be written, in every encoding in which they may get somewhere. The zero value is
// none; its methods may be called by any goroutine.
type secrets struct {
	mu    sync.RWMutex
	forms []string // the longest first
}

// add takes every text in the value of a secret.
func (s *secrets) add(v any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range textsIn(v) {
		if len(text) >= 3 { // a shorter one would tear everything apart, and protects nothing
			s.forms = append(s.forms, encodings(text)...)
		}
	}
	slices.SortFunc(s.forms, func(a, b string) int { return len(b) - len(a) })
	s.forms = slices.Compact(s.forms)
}

func (s *secrets) none() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.forms) == 0
}

func (s *secrets) redact(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, form := range s.forms {
		text = strings.ReplaceAll(text, form, "[redacted]")
	}
	return text
}

// redact takes the plan's secrets out of a text.
func (p *Program) redact(text string) string { return p.secrets.redact(text) }

// scrub takes the plan's secrets out of all files below a directory: what processes wrote, and files that were rendered
// for them.
func (p *Program) scrub(dir string) error {
	if p.secrets.none() {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("looking for secrets: %w", err)
		}
		if clean := p.redact(string(b)); clean != string(b) {
			if err := os.WriteFile(path, []byte(clean), 0o644); err != nil { // an existing file keeps its mode
				return fmt.Errorf("taking secrets out: %w", err)
			}
		}
		return nil
	})
}

// textsIn lists the texts in a value, and how its numbers are written.
func textsIn(v any) (out []string) {
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case float64:
		out = append(out, strconv.FormatFloat(v, 'f', -1, 64), strconv.FormatFloat(v, 'g', -1, 64))
	case []any:
		for _, x := range v {
			out = append(out, textsIn(x)...)
		}
	case map[string]any:
		for _, x := range v {
			out = append(out, textsIn(x)...)
		}
	}
	return out
}

// encodings are a text as it is, quoted for JSON, YAML or HTML, in a URL, in base64 (also behind a user name, as in basic
// authentication), in hexadecimal.
func encodings(s string) []string {
	quoted, _ := json.Marshal(s)
	plain := &strings.Builder{}
	e := json.NewEncoder(plain)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a builder takes everything
	unquoted := strings.TrimSuffix(plain.String(), "\n")
	out := []string{s, string(quoted[1 : len(quoted)-1]), unquoted[1 : len(unquoted)-1], strings.ReplaceAll(s, "'", "''"), html.EscapeString(s),
		url.QueryEscape(s), url.PathEscape(s), hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s)))}
	// What stands before the secret moves its base64 by 0, 1 or 2 bytes; the characters that do not depend on what is
	// around it are what to look for.
	for pad := range 3 {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			b := enc.EncodeToString([]byte(strings.Repeat("x", pad) + s))
			from, to := (pad*8+5)/6, (pad+len(s))*8/6
			if to-from >= 4 {
				out = append(out, b[from:to])
			}
		}
	}
	return out
}
