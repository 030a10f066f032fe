package embedded

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"github.com/fabricbot/fabricbot/internal/engine"
)

const caKeyFile = "ca.key"

// Lifetimes of the authority and of what it issues. Nothing here leaves the data directory, whose owner can do
// everything anyway, so long lives lose nothing; and a server that runs for years must not lock itself out.
const (
	caLife    = 30 * 365 * 24 * time.Hour
	leafLife  = 10 * 365 * 24 * time.Hour
	renewLeft = 365 * 24 * time.Hour // a certificate with less than this left is issued anew at a start
)

// authority is the CA of one data directory. It signs three kinds of certificate, told apart by common name, see
// access.go.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
	pool *x509.CertPool
}

// openAuthority reads the CA of the directory or makes one, and sees to it that the client files beside it fit.
func openAuthority(dir string) (*authority, error) {
	in := filepath.Join(dir, engine.TLSDir)
	if err := os.Mkdir(in, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("making directory of certificates: %w", explainFull(dir, err))
	}
	a, err := readAuthority(in)
	if errors.Is(err, fs.ErrNotExist) {
		a, err = newAuthority(in)
	}
	if err != nil {
		return nil, err
	}
	return a, a.ensureClient(in)
}

func readAuthority(in string) (*authority, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(in, engine.CAFile), filepath.Join(in, caKeyFile))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return nil, fmt.Errorf("reading certificate authority in %s: %w: remove that directory to have it made anew", in, err)
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || time.Until(pair.Leaf.NotAfter) < leafLife {
		return nil, fmt.Errorf("certificate authority in %s is unfit or ends soon (%s): remove that directory to have it made anew",
			in, pair.Leaf.NotAfter.Format(time.DateOnly))
	}
	return withPool(pair.Leaf, key), nil
}

func withPool(cert *x509.Certificate, key crypto.Signer) *authority {
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &authority{cert: cert, key: key, pool: pool}
}

func newAuthority(in string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making key of certificate authority: %w", err)
	}
	tmpl, err := template("fabricbot engine authority", caLife)
	if err != nil {
		return nil, err
	}
	tmpl.IsCA, tmpl.BasicConstraintsValid, tmpl.MaxPathLenZero = true, true, true
	tmpl.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making certificate authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("making certificate authority: %w", err)
	}
	// The key first: a certificate alone would be read as half an authority.
	if err := writeKey(filepath.Join(in, caKeyFile), key); err != nil {
		return nil, err
	}
	if err := writePEM(filepath.Join(in, engine.CAFile), "CERTIFICATE", der); err != nil {
		return nil, err
	}
	return withPool(cert, key), nil
}

// template carries what all certificates here share. A day of back-dating bears with a clock that is set right after
// the first boot.
func template(name string, life time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("making certificate serial: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-24 * time.Hour),
		NotAfter:     now.Add(life),
	}, nil
}

// issue signs a certificate for the loopback address under a common name. Its key lives in memory only.
func (a *authority) issue(name string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making key of %s: %w", name, err)
	}
	tmpl, err := template(name, leafLife)
	if err != nil {
		return nil, err
	}
	tmpl.KeyUsage = x509.KeyUsageDigitalSignature
	tmpl.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if name == serverName {
		tmpl.ExtKeyUsage = append(tmpl.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
		tmpl.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("issuing certificate of %s: %w", name, err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("issuing certificate of %s: %w", name, err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}

// ensureClient leaves a fitting pair of client files alone, since a running fabricctl may be reading them.
func (a *authority) ensureClient(in string) error {
	certFile, keyFile := filepath.Join(in, engine.ClientCertFile), filepath.Join(in, engine.ClientKeyFile)
	if pair, err := tls.LoadX509KeyPair(certFile, keyFile); err == nil && a.fits(pair.Leaf) {
		return nil
	}
	c, err := a.issue(clientName)
	if err != nil {
		return err
	}
	if err := writeKey(keyFile, c.PrivateKey); err != nil {
		return err
	}
	return writePEM(certFile, "CERTIFICATE", c.Certificate[0])
}

func (a *authority) fits(leaf *x509.Certificate) bool {
	_, err := leaf.Verify(x509.VerifyOptions{Roots: a.pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return err == nil && leaf.Subject.CommonName == clientName && time.Until(leaf.NotAfter) > renewLeft
}

func writeKey(path string, key crypto.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return writePEM(path, "PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	b := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := renameio.WriteFile(path, b, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", path, explainFull(filepath.Dir(path), err))
	}
	return nil
}
