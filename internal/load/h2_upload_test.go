package load

import (
	"bytes"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// upload is a load of three requests with a body.
func upload(address string, body []byte) Spec {
	s := three(address)
	s.Method, s.Body = "POST", body
	return s
}

// pattern is a body of which no part looks like another.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return b
}

// TestH2Upload: bodies arrive whole through small windows, in frames that the server takes.
func TestH2Upload(t *testing.T) {
	body := pattern(100_000)
	for _, tt := range []struct {
		name     string
		settings []http2.Setting
		// given is called for each DATA frame: it opens windows.
		given func(p *peer, id uint32, n int)
		frame int // largest that may come
	}{
		{"one window after the other", []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 1000}}, func(p *peer, id uint32, n int) {
			p.WriteWindowUpdate(id, uint32(n))
			p.WriteWindowUpdate(0, uint32(n))
		}, 1000},
		{"the connection's window", []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 1 << 20}}, func(p *peer, id uint32, n int) {
			p.WriteWindowUpdate(0, uint32(n))
		}, 1 << 14},
		{"large frames", []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 1 << 20}, {ID: http2.SettingMaxFrameSize, Val: 1 << 15}}, func(p *peer, id uint32, n int) {
			p.WriteWindowUpdate(0, uint32(n))
		}, 1 << 15},
		{"by settings", []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 0}}, func(p *peer, id uint32, n int) {
			p.WriteWindowUpdate(0, uint32(n))
		}, 1 << 14},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server, book := playH2(t, nil, 0, func(p *peer) {
				p.WriteSettings(tt.settings...)
				p.SetMaxReadFrameSize(1 << 20)
				got := map[uint32][]byte{}
				opened := uint32(0)
				for f := p.hear(); f != nil; f = p.hear() {
					switch f := f.(type) {
					case *http2.MetaHeadersFrame:
						if v := f.RegularFields(); len(v) != 1 || v[0].Name != "content-length" || v[0].Value != "100000" {
							t.Errorf("fields %v", v)
						}
						if tt.name == "by settings" { // 7 bytes more, then fewer than were used, then enough
							for _, n := range []uint32{opened + 7, 0, opened + 100_007} {
								p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: n})
							}
							opened += 100_007
						}
					case *http2.DataFrame:
						id := f.StreamID
						if len(f.Data()) > tt.frame {
							t.Errorf("a frame of %d bytes", len(f.Data()))
						}
						got[id] = append(got[id], f.Data()...)
						tt.given(p, id, len(f.Data()))
						if f.StreamEnded() {
							if !bytes.Equal(got[id], body) {
								t.Errorf("the body of %d has %d bytes, or others", id, len(got[id]))
							}
							p.book.note("whole") // the load may be over when it is answered
							p.ok(id)
						}
					}
				}
			})
			s, ready := begin(t, upload(server.address, body))
			time.Sleep(10 * time.Millisecond)
			c := s.stop().Counts
			if ready.Verified != 1 || c.OK != 3 || c.Due != 3 || book.count("whole") != 4 || book.count("MALFORMED") > 0 {
				t.Errorf("ready %+v, outcomes %s; %s", ready, s.outcomes(), book.all())
			}
		})
	}
}

// TestUploadStopped: an answer that comes before the request is written ends the writing.
func TestUploadStopped(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(p *peer, id uint32)
		ok     int64
		errors map[string]int64
	}{
		{"an early answer", func(p *peer, id uint32) {
			p.head(id, true, ":status", "200")
			p.WriteRSTStream(id, http2.ErrCodeNo)
		}, 3, nil},
		{"an early answer without a reset", func(p *peer, id uint32) { p.ok(id) }, 3, nil},
		{"a reset", func(p *peer, id uint32) { p.WriteRSTStream(id, http2.ErrCodeInternal) }, 0, failing(Reset)},
		{"too large a window", func(p *peer, id uint32) {
			p.WriteWindowUpdate(id, 1<<31-1)
			p.WriteWindowUpdate(id, 1<<31-1)
		}, 0, failing(Protocol)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server, book := playH2(t, nil, 0, func(p *peer) {
				p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 10})
				over := map[uint32]bool{}
				for f := p.hear(); f != nil; f = p.hear() {
					switch f := f.(type) {
					case *http2.DataFrame:
						p.WriteWindowUpdate(0, uint32(len(f.Data())))
						if id := f.StreamID; over[id] {
							p.book.note("more of it")
						} else {
							over[id] = true
							tt.answer(p, id)
							p.WriteWindowUpdate(id, 1000)
						}
					}
				}
			})
			s, _ := begin(t, upload(server.address, pattern(100_000)))
			time.Sleep(10 * time.Millisecond)
			c := s.stop().Counts
			if c.OK != tt.ok || c.Due != 3 || !equal(c.Errors, tt.errors) || c.Opened != 1 || tt.ok > 0 && book.count("more") > 0 || book.count("MALFORMED") > 0 {
				t.Errorf("opened %d, outcomes %s; %s", c.Opened, s.outcomes(), book.all())
			}
		})
	}
}
