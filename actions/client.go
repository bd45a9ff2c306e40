package actions

import (
	"crypto/tls"
	"net/http"
)

// client makes requests on connections of their own: an admin API may restart what serves it. Redirects are answers.
func client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // targets have self-signed certificates
			ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
