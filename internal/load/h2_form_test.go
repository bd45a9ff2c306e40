package load

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// TestH2Requests: what the server reads of the requests is what was asked for, in every encoding of the header.
func TestH2Requests(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	for _, tt := range []struct {
		name   string
		change func(*Spec)
		table  []http2.Setting
		want   string
		later  int // most bytes that a header may have that follows another one; 0 is not checked
	}{
		{name: "plain", want: ":method GET|:scheme http|:authority ADDRESS|:path /", later: 4},
		{name: "more", change: func(s *Spec) {
			s.Host, s.Path, s.Method, s.Body = "a.example", "/a?b=c", "PUT", []byte("hi")
			s.Headers = []Header{{"User-Agent", "me"}, {"X-A", "b"}, {"X-A", "c"}}
		}, want: ":method PUT|:scheme http|:authority a.example|:path /a?b=c|user-agent me|x-a b|x-a c|content-length 2", later: 8},
		{name: "a body without bytes", change: func(s *Spec) { s.Method = "POST" },
			want: ":method POST|:scheme http|:authority ADDRESS|:path /|content-length 0", later: 5},
		{name: "paths", change: func(s *Spec) { s.SpreadPath, s.Headers = "/{1..2}", []Header{{"a", "b"}} },
			want: ":method GET|:scheme http|:authority ADDRESS|:path /N|a b", later: 8},
		{name: "no table", table: []http2.Setting{{ID: http2.SettingHeaderTableSize, Val: 0}}, change: func(s *Spec) { s.Headers = []Header{{"a", "b"}} },
			want: ":method GET|:scheme http|:authority ADDRESS|:path /|a b"},
		{name: "a small table and paths", table: []http2.Setting{{ID: http2.SettingHeaderTableSize, Val: 100}},
			change: func(s *Spec) { s.SpreadPath = "/{1..2}" }, want: ":method GET|:scheme http|:authority ADDRESS|:path /N"},
		{name: "more than the table", change: func(s *Spec) { s.Headers = []Header{{"a", long[:3000]}, {"b", long[:3000]}} },
			want: ":method GET|:scheme http|:authority ADDRESS|:path /|a LONG|b LONG"},
		{name: "more than a frame", change: func(s *Spec) { s.SpreadPath, s.Headers = "/{1..2}", []Header{{"a", strings.Repeat("\x80", 20_000)}} },
			want: ":method GET|:scheme http|:authority ADDRESS|:path /N|a LONG"},
		{name: "the table shrinks later", table: []http2.Setting{{ID: http2.SettingHeaderTableSize, Val: 4096}},
			change: func(s *Spec) { s.Headers = []Header{{"a", "b"}} }, want: ":method GET|:scheme http|:authority ADDRESS|:path /|a b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server, book := playH2(t, nil, 0, func(p *peer) {
				p.WriteSettings(tt.table...)
				for _, s := range tt.table {
					p.ReadMetaHeaders.SetAllowedMaxDynamicTableSize(s.Val)
				}
				n := 0
				for f := p.hear(); f != nil; f = p.hear() {
					h, ok := f.(*http2.MetaHeadersFrame)
					if !ok {
						continue
					}
					var texts []string
					for _, f := range h.Fields {
						if len(f.Value) > 1000 {
							f.Value = "LONG"
						}
						if strings.HasPrefix(tt.want, ":method GET") && f.Name == ":path" && len(f.Value) == 2 {
							f.Value = "/N"
						}
						texts = append(texts, f.Name+" "+f.Value)
					}
					if n++; n > 1 && tt.later > 0 && int(h.FrameHeader.Length) > tt.later {
						t.Errorf("header %d has %d bytes", n, h.FrameHeader.Length)
					}
					p.book.note("header " + strings.Join(texts, "|"))
					if tt.name == "the table shrinks later" && n == 2 {
						p.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 10})
						p.ok(h.StreamID)
						continue
					}
					p.ok(h.StreamID)
				}
			})
			spec := three(server.address)
			spec.Streams = 1
			if tt.change != nil {
				tt.change(&spec)
			}
			s, _ := begin(t, spec)
			eventually(t, func() bool { return book.count("header") >= 4 })
			c := s.stop().Counts
			want := "header " + strings.ReplaceAll(tt.want, "ADDRESS", server.address)
			if n := int(c.Sent) + len(strings.Split(spec.SpreadPath, "..")); c.OK != 3 || book.count(want) != n || book.count("MALFORMED") > 0 {
				t.Errorf("outcomes %s; want %d of %q: %s", s.outcomes(), n, want, book.all())
			}
		})
	}
}

// TestStreams: the table of streams finds what was put into it, whatever comes and goes.
func TestStreams(t *testing.T) {
	var s streams
	in := map[uint32]*request{}
	check := func() {
		t.Helper()
		for id := uint32(1); id < 2100; id += 2 {
			if got := s.find(id); got != in[id] {
				t.Fatalf("stream %d: %p, want %p", id, got, in[id])
			}
		}
		if s.n != len(in) {
			t.Fatalf("%d streams, want %d", s.n, len(in))
		}
	}
	check()
	id := uint32(1)
	for round := range 40 {
		for range 25 {
			r := &request{h2: stream{id: id}}
			in[id] = r
			s.add(r)
			id += 2
		}
		for old, r := range in { // in any order; some stay for long
			if (old/2)%uint32(round+2) != 0 {
				s.remove(r)
				delete(in, old)
			}
		}
		check()
	}
	if len(s.slots) > 2048 {
		t.Errorf("%d places for %d streams", len(s.slots), s.n)
	}
}

// TestSteady: whether a block changes the table is read from its bytes as the decoder would.
func TestSteady(t *testing.T) {
	for _, tt := range []struct {
		block  string
		table  uint64
		steady bool
		after  uint64
	}{
		{"", 4096, true, 4096},
		{"\x88", 4096, true, 4096},
		{"\xff\x80\x01\x88", 4096, true, 4096},               // an index of several bytes
		{"\x88\x00\x01a\x01b", 4096, true, 4096},             // a new name, not added
		{"\x88\x0f\x0d\x01b\x1f\x0d\x01c", 4096, true, 4096}, // an index for the name
		{"\x88\x40\x01a\x01b", 4096, false, 4096},            // added
		{"\x88\x5c\x01b", 4096, false, 4096},                 // added, with an index for the name
		{"\x20\x88\x40\x01a\x01b", 4096, false, 0},           // the table is given up; nothing is added
		{"\x88\x40\x01a\x01b", 0, true, 0},                   // nothing is added
		{"\x88\x40\x01a\x01b", 31, true, 31},                 // nor does it fit
		{"\x3f\xe1\x1f\x88", 4096, true, 4096},               // the size that it has
		{"\x3f\xe1\x1f\x88", 0, false, 4096},                 // another one
		{"\x88\x00\x7f\x00abc", 4096, false, 4096},           // cut off
	} {
		h := &h2{table: tt.table}
		if got := h.steady([]byte(tt.block)); got != tt.steady || h.table != tt.after {
			t.Errorf("%q with a table of %d: %v, then %d", tt.block, tt.table, got, h.table)
		}
	}
}

// TestDecodeCached: equal blocks say the same only while the table is the same.
func TestDecodeCached(t *testing.T) {
	h := newH2(&conn{p: &pool{job: &job{Spec: Spec{By: "X-By"}}}}).(*h2)
	var buf strings.Builder
	e := hpack.NewEncoder(&buf)
	block := func(by string) []byte {
		buf.Reset()
		e.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
		e.WriteField(hpack.HeaderField{Name: "x-by", Value: by})
		return []byte(buf.String())
	}
	seen := map[string]string{}
	for i := range 200 { // 40 values push each other out of the table, and so come by the same bytes again
		by := fmt.Sprint(i*i%41, strings.Repeat("x", 200))
		for range 2 {
			b := block(by)
			a, err := h.decode(b)
			if err != nil || a.status != 200 || a.by != by || !a.given {
				t.Fatalf("%d: %+v, %v, want %s", i, a, err, by)
			}
			if old := seen[string(b)]; old != "" && old != by {
				seen["other"] = "yes"
			}
			seen[string(b)] = by
		}
	}
	if seen["other"] == "" {
		t.Error("no bytes came twice with another meaning: the test shows nothing")
	}
	h.decode(block("again")) // goes into the table
	known := block("again")
	if n := testing.AllocsPerRun(100, func() { h.decode(known) }); n > 0 {
		t.Errorf("%v allocations for a block that is known", n)
	}
}
