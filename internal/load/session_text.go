package load

import (
	"crypto/tls"
	"strings"
)

// A Session is what a TLS handshake agreed on. As a text it is "TLS 1.3 TLS_AES_128_GCM_SHA256 X25519 ALPN h2 resumed",
// without what there was none of.
type Session struct {
	Version string // "TLS 1.3"
	Cipher  string // by its name in the standards
	Group   string // of the key exchange, as plans name it; "" without one
	ALPN    string // "" if the server chose no protocol
	Resumed bool
}

const (
	alpnMark    = " ALPN "
	resumedMark = " resumed"
)

func sessionOf(s *tls.ConnectionState) Session {
	out := Session{Version: tls.VersionName(s.Version), Cipher: tls.CipherSuiteName(s.CipherSuite), ALPN: s.NegotiatedProtocol, Resumed: s.DidResume}
	if s.CurveID != 0 {
		out.Group = groupName(s.CurveID)
	}
	return out
}

func (s Session) String() string {
	text := s.Version + " " + s.Cipher
	if s.Group != "" {
		text += " " + s.Group
	}
	if s.ALPN != "" {
		text += alpnMark + s.ALPN
	}
	if s.Resumed {
		text += resumedMark
	}
	return text
}

// ParseSession reads such a text. What is none has no version.
func ParseSession(text string) (s Session) {
	text, s.Resumed = strings.CutSuffix(text, resumedMark)
	text, s.ALPN, _ = strings.Cut(text, alpnMark)
	if words := strings.Split(text, " "); len(words) >= 3 {
		s.Version, s.Cipher, s.Group = words[0]+" "+words[1], words[2], strings.Join(words[3:], " ")
	}
	return s
}
