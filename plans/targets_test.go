package plans_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/planrun/planrun/actions"
	"github.com/planrun/planrun/engine"
	"github.com/planrun/planrun/engine/record"
	"github.com/planrun/planrun/internal/serve/origin"
	"github.com/planrun/planrun/internal/serve/proxy"
)

// The test binary is also the builtins that the plan below starts, and what asks its targets.
func TestMain(m *testing.M) {
	var err error
	switch args := strings.Join(os.Args[1:min(len(os.Args), 3)], " "); {
	case args == "worker origin":
		err = origin.Main(os.Stdin, os.Stdout)
	case args == "worker proxy":
		err = proxy.Main(os.Stdin, os.Stdout)
	case strings.HasPrefix(args, "ask "):
		err = ask(os.Args[2], os.Args[3], os.Args[4])
	default:
		// The plans name programs that go installs: check warns of those that it does not find.
		var gopath []byte
		if gopath, err = exec.Command("go", "env", "GOPATH").Output(); err == nil {
			if err = os.Setenv("PATH", os.Getenv("PATH")+":"+filepath.Join(strings.TrimSpace(string(gopath)), "bin")); err == nil {
				os.Exit(m.Run())
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestTargets installs every shipped target and asks it in each way that the scenarios do.
func TestTargets(t *testing.T) {
	if testing.Short() {
		t.Skip("starts every target")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var plan strings.Builder
	fmt.Fprint(&plan, "plan: targets\nhost: {tls: {certificate: self-signed-rsa-2048}}\n"+
		"backends: {web: {replicas: 2, routes: {bench.local: /, tls.bench.local: /}}}\ntargets:\n")
	for _, file := range files(t, "targets") {
		fmt.Fprintf(&plan, "  %s: {from: %s}\n", strings.TrimSuffix(path.Base(file), ".yaml"), file)
	}
	fmt.Fprintf(&plan, "scenarios: {ask: {phases: [measure: {do: [exec: {command: [%q, ask, '${{ endpoint(\"http\") }}', '${{ endpoint(\"https\") }}', '${{ tls.cert }}'], timeout: 60s}]}]}}\n", self)
	prog, list := check("targets.yaml", nil, func(name string) ([]byte, error) {
		if name == "targets.yaml" {
			return []byte(plan.String()), nil
		}
		return read(name)
	})
	if len(list) > 0 {
		t.Fatal(list)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	out, err := prog.Run(ctx, engine.RunOptions{Out: filepath.Join(t.TempDir(), "results"), Undos: actions.Undos})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Results.Cells) != len(files(t, "targets")) {
		t.Errorf("%d cells", len(out.Results.Cells))
	}
	for _, c := range out.Results.Cells {
		if c.Status != record.Done {
			t.Errorf("%s is %s: %s", c.Coord.Target, c.Status, c.Reason)
		}
	}
	if out.Exit != 0 {
		t.Errorf("exit %d: %s", out.Exit, out.Why)
	}
}

// ask requests a small answer over HTTP/1.1 and HTTP/2, without TLS where that is HTTP/1.1, and with each version of TLS that
// is allowed; names of both hosts are in the certificate, and a second connection resumes the first one's session.
func ask(plain, secure, certificate string) error {
	pem, err := os.ReadFile(certificate)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	for _, host := range []string{"bench.local", "tls.bench.local"} {
		if err := get("http", plain, host, 1, nil); err != nil {
			return fmt.Errorf("%s without TLS: %w", host, err)
		}
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			for _, major := range []int{1, 2} {
				config := &tls.Config{RootCAs: roots, ServerName: host, MinVersion: version, MaxVersion: version, ClientSessionCache: tls.NewLRUClientSessionCache(0)}
				resumed := false
				config.VerifyConnection = func(state tls.ConnectionState) error { resumed = state.DidResume; return nil }
				for range 2 {
					if err := get("https", secure, host, major, config); err != nil {
						return fmt.Errorf("%s, HTTP/%d, %s: %w", host, major, tls.VersionName(version), err)
					}
				}
				if !resumed {
					return fmt.Errorf("%s, HTTP/%d, %s: the second connection did not resume the session", host, major, tls.VersionName(version))
				}
			}
		}
		old := &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS11, MaxVersion: tls.VersionTLS11}
		if err := get("https", secure, host, 1, old); err == nil {
			return errors.New("TLS 1.1 is spoken too")
		}
	}
	return nil
}

// get makes one request on a connection of its own, in the given major version of HTTP.
func get(scheme, address, host string, major int, config *tls.Config) error {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(major == 1)
	protocols.SetHTTP2(major == 2)
	transport := &http.Transport{Protocols: protocols, TLSClientConfig: config, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: 20 * time.Second}
	answer, err := client.Get(scheme + "://" + host + "/small")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || string(body) != origin.Small || answer.ProtoMajor != major {
		return fmt.Errorf("%s, %s: %q", answer.Status, answer.Proto, body)
	}
	return nil
}
