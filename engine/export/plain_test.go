package export

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 64273: "64273", -0.31: "-0.31", 1e6: "1000000", 1e-9: "1e-09", 1e21: "1e+21", 3e15: "3000000000000000"} {
		if got := number(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}

// Whatever a name holds, each format carries what plain makes of it, and a CSV gives it back.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"", "nginx-2", hostile, "'=1", "\xff\xfe", "\u2028", "]]>", "\r", "\ufffe"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := plain(s)
		if !utf8.ValidString(p) || plain(p) != p {
			t.Errorf("%q becomes %q", s, p)
		}
		type element struct {
			Attr string `xml:"a,attr"`
			Text string `xml:",cdata"`
		}
		b, err := xml.Marshal(element{p, p})
		var read element
		if err == nil {
			err = xml.Unmarshal(b, &read)
		}
		if err != nil || read.Attr != p || read.Text != p {
			t.Errorf("XML has %q of %q: %v", read, p, err)
		}
		var out bytes.Buffer
		w := csv.NewWriter(&out)
		_ = w.Write([]string{Defused(s), "x"})
		w.Flush()
		row, err := csv.NewReader(&out).Read()
		if err != nil || len(row) != 2 || strings.TrimPrefix(row[0], "'") != p {
			t.Errorf("CSV has %q of %q: %v", row, p, err)
		}
		if name := benchPart(s); strings.ContainsFunc(name, func(r rune) bool { return r == '/' || unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
			t.Errorf("%q is a part of a benchmark's name", name)
		}
	})
}
