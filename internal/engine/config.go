package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"go.uber.org/zap"
)

// DefaultNamespace is the Temporal namespace used when a configuration names none.
const DefaultNamespace = "fabricbot"

// DefaultDialTimeout bounds one attempt to reach the cluster when Config.DialTimeout is zero.
const DefaultDialTimeout = 10 * time.Second

// Config says which Temporal cluster to talk to and as whom.
type Config struct {
	// Address is host:port of the cluster's frontend.
	Address string
	// Namespace is the Temporal namespace; empty means DefaultNamespace.
	Namespace string
	// TLS is nil for an unencrypted connection, which is refused unless Address is a loopback address. A zero TLS
	// trusts the system's certificate authorities and presents no certificate.
	TLS *TLS
	// APIKey yields the bearer key of the cluster, or is nil where the cluster asks for none. It is called for every
	// request, so it must be cheap and may follow a rotated secret. A key implies TLS.
	APIKey func(context.Context) (string, error)
	// Identity is shown by Temporal as the one who acted; empty leaves it to the SDK (pid@host).
	Identity string
	// DialTimeout bounds the first connection; zero means DefaultDialTimeout.
	DialTimeout time.Duration
	// Log receives the SDK's warnings and errors; nil drops them.
	Log *zap.Logger

	// dataDir is set by FromDataDir, so that an error can name the program that should be running.
	dataDir string
}

// TLS names the files of an encrypted connection. They are read at every handshake, so renewed certificates are
// taken up without a restart.
type TLS struct {
	CAFile     string // PEM; empty trusts the system's authorities
	CertFile   string // PEM; with KeyFile, the certificate presented to the cluster (mutual TLS)
	KeyFile    string // PEM
	ServerName string // name the cluster's certificate must carry; empty means the host of Address
}

func (c Config) withDefaults() Config {
	if c.Namespace == "" {
		c.Namespace = DefaultNamespace
	}
	if c.DialTimeout == 0 {
		c.DialTimeout = DefaultDialTimeout
	}
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	if c.APIKey != nil && c.TLS == nil {
		c.TLS = &TLS{}
	}
	return c
}

// Check reports what is wrong with a configuration without connecting anywhere.
func (c Config) Check() error {
	if c.Address == "" {
		return errors.New("temporal address is empty: set it to host:port of the cluster's frontend")
	}
	host, port, err := net.SplitHostPort(c.Address)
	if err != nil || host == "" || port == "" {
		return fmt.Errorf("temporal address %q is not host:port, such as temporal.example.org:7233", c.Address)
	}
	if c.TLS == nil && c.APIKey == nil && !isLoopback(host) {
		return fmt.Errorf("temporal address %s is not on this machine and no TLS is configured: "+
			"an unencrypted connection would let anyone on the path approve changes; set the CA, certificate and key files", c.Address)
	}
	if c.TLS != nil && (c.TLS.CertFile == "") != (c.TLS.KeyFile == "") {
		return errors.New("temporal TLS names only one of certificate file and key file: set both or neither")
	}
	return nil
}

// isLoopback holds for literal loopback addresses and for the name localhost, which RFC 6761 section 6.3 reserves
// for them. Any other name may point anywhere tomorrow.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
