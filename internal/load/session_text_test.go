package load

import "testing"

// TestSession: what is said of a session can be read again.
func TestSession(t *testing.T) {
	for text, s := range map[string]Session{
		"TLS 1.3 TLS_AES_128_GCM_SHA256 X25519 ALPN h2":              {"TLS 1.3", "TLS_AES_128_GCM_SHA256", "X25519", "h2", false},
		"TLS 1.3 TLS_AES_128_GCM_SHA256 X25519MLKEM768 resumed":      {"TLS 1.3", "TLS_AES_128_GCM_SHA256", "X25519MLKEM768", "", true},
		"TLS 1.2 TLS_RSA_WITH_AES_128_CBC_SHA":                       {"TLS 1.2", "TLS_RSA_WITH_AES_128_CBC_SHA", "", "", false},
		"TLS 1.2 TLS_RSA_WITH_AES_128_CBC_SHA ALPN http/1.1 resumed": {"TLS 1.2", "TLS_RSA_WITH_AES_128_CBC_SHA", "", "http/1.1", true},
	} {
		if got := s.String(); got != text {
			t.Errorf("%+v is %q, want %q", s, got, text)
		}
		if got := ParseSession(text); got != s {
			t.Errorf("%q is %+v, want %+v", text, got, s)
		}
	}
	for _, none := range []string{"", "TLS", " resumed"} {
		if got := ParseSession(none); got.Version != "" {
			t.Errorf("%q is %+v", none, got)
		}
	}
}
