package embedded

import (
	"crypto/tls"
	"errors"
	"fmt"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/rpc/encryption"
)

// Common names of the certificates the directory's authority issues. The name decides what a peer may do; a peer
// without a certificate of this authority cannot connect to any port.
const (
	serverName = "fabricbot-engine" // the server itself, on all its ports: everything
	clientName = "fabricbot-client" // fabricd's own workers and fabricctl: start, signal, update, query, poll; no administration
	readerName = "fabricbot-reader" // the web UI: read only, whatever its own switches say
)

// access is the server's claim mapper: certificate in, rights out. Tokens in headers are ignored.
type access struct{}

// GetClaims implements authorization.ClaimMapper.
func (access) GetClaims(info *authorization.AuthInfo) (*authorization.Claims, error) {
	if info == nil || info.TLSSubject == nil {
		return nil, errors.New("the peer presented no certificate")
	}
	c := &authorization.Claims{Subject: info.TLSSubject.CommonName, AuthType: "mtls"}
	switch info.TLSSubject.CommonName {
	case serverName:
		c.System = authorization.RoleAdmin
	case clientName:
		c.System = authorization.RoleWorker | authorization.RoleReader | authorization.RoleWriter
	case readerName:
		c.System = authorization.RoleReader
	default:
		return nil, fmt.Errorf("certificate %q has no rights here", info.TLSSubject.CommonName)
	}
	return c, nil
}

// serverTLS is mutual TLS for the four ports. The three behind the frontend know no rights, so they take the server's
// own certificate alone: with the UI's one could otherwise write to history past the frontend.
func (a *authority) serverTLS() (encryption.TLSConfigProvider, error) {
	own, err := a.issue(serverName)
	if err != nil {
		return nil, err
	}
	accept := func() *tls.Config {
		return &tls.Config{
			MinVersion:   tls.VersionTLS13,
			Certificates: []tls.Certificate{*own},
			ClientCAs:    a.pool,
			ClientAuth:   tls.RequireAndVerifyClientCert,
		}
	}
	inner := accept()
	inner.VerifyConnection = func(s tls.ConnectionState) error {
		if peer(s) != serverName {
			return fmt.Errorf("certificate %q may use the frontend only", peer(s))
		}
		return nil
	}
	return &encryption.FixedTLSConfigProvider{
		InternodeServerConfig: inner,
		InternodeClientConfig: a.clientTLS(own),
		FrontendServerConfig:  accept(),
		FrontendClientConfig:  a.clientTLS(own),
	}, nil
}

func peer(s tls.ConnectionState) string {
	if len(s.PeerCertificates) == 0 {
		return ""
	}
	return s.PeerCertificates[0].Subject.CommonName
}

// clientTLS dials as the holder of a certificate and takes only the server itself for the server: any other
// certificate of the authority is a client and must not be able to pose as it.
func (a *authority) clientTLS(own *tls.Certificate) *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{*own},
		RootCAs:      a.pool,
		ServerName:   loopback,
	}
}

// dialTLS issues a certificate under a name and returns the settings to dial with it.
func (a *authority) dialTLS(name string) (*tls.Config, error) {
	own, err := a.issue(name)
	if err != nil {
		return nil, err
	}
	return a.clientTLS(own), nil
}

var _ authorization.ClaimMapper = access{}
