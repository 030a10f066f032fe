package engine

import (
	"context"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	key := func(context.Context) (string, error) { return "k", nil }
	for _, tc := range []struct {
		name string
		c    Config
		want string // part of the error; empty means accepted
	}{
		{"loopback4", Config{Address: "127.0.0.1:7233"}, ""},
		{"loopback-other", Config{Address: "127.8.0.1:7233"}, ""},
		{"loopback6", Config{Address: "[::1]:7233"}, ""},
		{"localhost", Config{Address: "localhost:7233"}, ""},
		{"remote-tls", Config{Address: "temporal.example.org:7233", TLS: &TLS{}}, ""},
		{"remote-key", Config{Address: "temporal.example.org:7233", APIKey: key}, ""},
		{"remote-plain", Config{Address: "temporal.example.org:7233"}, "no TLS is configured"},
		{"remote-plain-ip", Config{Address: "192.0.2.7:7233"}, "no TLS is configured"},
		{"any-address", Config{Address: "0.0.0.0:7233"}, "no TLS is configured"},
		{"mapped-remote", Config{Address: "[::ffff:192.0.2.7]:7233"}, "no TLS is configured"},
		{"looks-like-localhost", Config{Address: "localhost.example.org:7233"}, "no TLS is configured"},
		{"empty", Config{}, "address is empty"},
		{"no-port", Config{Address: "temporal.example.org"}, "is not host:port"},
		{"no-host", Config{Address: ":7233"}, "is not host:port"},
		{"half-pair", Config{Address: "127.0.0.1:7233", TLS: &TLS{CertFile: "a"}}, "only one of"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.c.Check()
			if tc.want == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
