package engine

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strings"
)

// redact takes the plan's secrets out of a text, in every encoding in which they may have got there: as they are, quoted
// for JSON or YAML, in a URL, in base64 (also behind a user name, as in basic authentication), in hexadecimal.
func (p *Program) redact(text string) string {
	for _, s := range p.secrets {
		if len(s) < 3 { // would tear everything apart, and protects nothing
			continue
		}
		for _, form := range encodings(s) {
			text = strings.ReplaceAll(text, form, "[redacted]")
		}
	}
	return text
}

func encodings(s string) []string {
	quoted, _ := json.Marshal(s)
	plain := &strings.Builder{}
	e := json.NewEncoder(plain)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a builder takes everything
	unquoted := strings.TrimSuffix(plain.String(), "\n")
	out := []string{s, string(quoted[1 : len(quoted)-1]), unquoted[1 : len(unquoted)-1], strings.ReplaceAll(s, "'", "''"), html.EscapeString(s), url.QueryEscape(s), url.PathEscape(s), hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s)))}
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
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(out)
}
