// Package certificate gives planrun's own servers their TLS certificate: the plan's, or a self-signed one.
package certificate

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Kinds of generated keys, as plans name them after self-signed-.
const (
	RSA     = "rsa-2048"   // what most servers still present
	RSA4096 = "rsa-4096"   // several times the work of each full handshake
	ECDSA   = "ecdsa-p256" // the cheapest to sign with
)

// Lifetime of a generated certificate, from an hour before it is made, so that clocks may differ.
const Lifetime = 30 * 24 * time.Hour

// A Spec is PEM text, or what to generate where Cert is empty.
type Spec struct {
	Cert  string   `json:"cert,omitempty"`  // PEM chain, leaf first
	Key   string   `json:"key,omitempty"`   // PEM
	Kind  string   `json:"kind,omitempty"`  // RSA, RSA4096 or ECDSA; ECDSA if empty
	Hosts []string `json:"hosts,omitempty"` // names and addresses; localhost, 127.0.0.1 and ::1 if empty
}

// Load returns the certificate of the specification.
func Load(spec Spec) (tls.Certificate, error) {
	cert, key := []byte(spec.Cert), []byte(spec.Key)
	if spec.Cert == "" {
		if spec.Key != "" {
			return tls.Certificate{}, fmt.Errorf("certificate: a key without its certificate")
		}
		var err error
		if cert, key, err = SelfSigned(spec.Kind, spec.Hosts); err != nil {
			return tls.Certificate{}, err
		}
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate: %w", err)
	}
	return pair, nil
}

// SelfSigned makes a certificate and its key as PEM. It can be its own root: clients may put it into their pool.
func SelfSigned(kind string, hosts []string) (cert, key []byte, err error) {
	signer, err := generate(kind)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, fmt.Errorf("certificate serial number: %w", err)
	}
	if len(hosts) == 0 {
		hosts = []string{"localhost", "127.0.0.1", "::1"}
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: hosts[0], Organization: []string{"planrun"}},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(Lifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, signer.Public(), signer)
	if err != nil {
		return nil, nil, fmt.Errorf("signing the certificate: %w", err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(signer)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding the key: %w", err)
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	return cert, key, nil
}

func generate(kind string) (crypto.Signer, error) {
	switch kind {
	case RSA:
		return rsa.GenerateKey(rand.Reader, 2048)
	case RSA4096:
		return rsa.GenerateKey(rand.Reader, 4096)
	case ECDSA, "":
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	return nil, fmt.Errorf("certificate kind %q: there are %q, %q and %q", kind, RSA, RSA4096, ECDSA)
}
