package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	cert, key, err := SelfSigned(ECDSA, []string{"given.example"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, host, wrong string
		spec              Spec
		rsa               int // bits; 0: ECDSA
	}{
		{name: "zero", host: "127.0.0.1"},
		{name: "ecdsa", spec: Spec{Kind: ECDSA, Hosts: []string{"a.example", "::1"}}, host: "a.example"},
		{name: "rsa", spec: Spec{Kind: RSA}, host: "localhost", rsa: 2048},
		{name: "larger rsa", spec: Spec{Kind: RSA4096}, host: "::1", rsa: 4096},
		{name: "given", spec: Spec{Cert: string(cert), Key: string(key)}, host: "given.example"},
		{name: "unknown kind", spec: Spec{Kind: "dsa"}, wrong: `certificate kind "dsa"`},
		{name: "key alone", spec: Spec{Key: string(key)}, wrong: "without its certificate"},
		{name: "not PEM", spec: Spec{Cert: "x", Key: "y"}, wrong: "certificate: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			pair, err := Load(test.spec)
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Fatalf("got %v, want %q", err, test.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			roots := x509.NewCertPool()
			roots.AddCert(pair.Leaf)
			if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: test.host, Roots: roots}); err != nil {
				t.Errorf("does not verify for %s: %v", test.host, err)
			}
			switch k := pair.Leaf.PublicKey.(type) {
			case *rsa.PublicKey:
				if k.N.BitLen() != test.rsa {
					t.Errorf("RSA key of %d bits", k.N.BitLen())
				}
			case *ecdsa.PublicKey:
				if test.rsa != 0 || k.Curve != elliptic.P256() {
					t.Errorf("ECDSA key on %s", k.Curve.Params().Name)
				}
			}
		})
	}
}
