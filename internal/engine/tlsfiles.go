package engine

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
)

// config builds the TLS settings. Files are read once here, so that a wrong path is an error now and not a vague
// handshake failure later; the key pair is read again at each handshake.
func (t *TLS) config(address string) (*tls.Config, error) {
	name := t.ServerName
	if name == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("temporal address %q: %w", address, err)
		}
		name = host
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: name}
	if t.CAFile != "" {
		pool, err := readPool(t.CAFile)
		if err != nil {
			return nil, err
		}
		out.RootCAs = pool
	}
	if t.CertFile != "" {
		if _, err := t.keyPair(); err != nil {
			return nil, err
		}
		out.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return t.keyPair() }
	}
	return out, nil
}

func (t *TLS) keyPair() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("reading client certificate %s and its key: %w: run as the user that owns them", t.CertFile, err)
	}
	if err != nil {
		return nil, fmt.Errorf("reading client certificate %s and its key %s: %w", t.CertFile, t.KeyFile, err)
	}
	return &pair, nil
}

func readPool(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading temporal CA file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("reading temporal CA file %s: it holds no PEM certificate", path)
	}
	return pool, nil
}
