package engine

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
)

// frontend is a real gRPC server that knows the two calls a dial makes.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer
	namespace string

	mu   sync.Mutex
	keys []string // authorization headers seen
}

func (f *frontend) GetSystemInfo(ctx context.Context, _ *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys = append(f.keys, md.Get("authorization")...)
	return &workflowservice.GetSystemInfoResponse{Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{}}, nil
}

func (f *frontend) DescribeNamespace(_ context.Context, r *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	if r.Namespace != f.namespace {
		return nil, serviceerror.ToStatus(serviceerror.NewNamespaceNotFound(r.Namespace)).Err()
	}
	return &workflowservice.DescribeNamespaceResponse{}, nil
}

func (f *frontend) serve(t *testing.T, o ...grpc.ServerOption) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(o...)
	workflowservice.RegisterWorkflowServiceServer(s, f)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

// issue writes a self-signed certificate for 127.0.0.1 that also is its own CA, and returns it.
func issue(t *testing.T, dir, name string) (certFile, keyFile string, pair tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
	certFile, keyFile = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	for file, b := range map[string][]byte{certFile: certPEM, keyFile: keyPEM} {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pair, err = tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile, pair
}

func TestDialPlainOnLoopback(t *testing.T) {
	f := &frontend{namespace: "fabricbot"}
	c, err := Dial(t.Context(), Config{Address: f.serve(t)})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestDialMutualTLSWithKey(t *testing.T) {
	dir := t.TempDir()
	serverCert, _, pair := issue(t, dir, "server")
	clientCert, clientKey, clientPair := issue(t, dir, "client")
	clients := x509.NewCertPool()
	leaf, err := x509.ParseCertificate(clientPair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	clients.AddCert(leaf)
	f := &frontend{namespace: "site7"}
	addr := f.serve(t, grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert,
	})))
	calls := 0
	c, err := Dial(t.Context(), Config{
		Address: addr, Namespace: "site7",
		TLS:    &TLS{CAFile: serverCert, CertFile: clientCert, KeyFile: clientKey},
		APIKey: func(context.Context) (string, error) { calls++; return "k-123", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.keys) == 0 || f.keys[0] != "Bearer k-123" || calls == 0 {
		t.Errorf("authorization headers %q after %d calls for the key, want Bearer k-123", f.keys, calls)
	}
}

// TestDialErrors wants every failure to name the address and the next step.
func TestDialErrors(t *testing.T) {
	dir := t.TempDir()
	_, _, pair := issue(t, dir, "server")
	otherCA, otherKey, _ := issue(t, dir, "other")
	plain := (&frontend{namespace: "fabricbot"}).serve(t)
	secured := (&frontend{namespace: "fabricbot"}).serve(t, grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{pair}})))
	serverCA := filepath.Join(dir, "server.crt")
	mutual := (&frontend{namespace: "fabricbot"}).serve(t, grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: x509.NewCertPool(), ClientAuth: tls.RequireAndVerifyClientCert,
	})))
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := free.Addr().String()
	free.Close()

	for _, tc := range []struct {
		name string
		c    Config
		want string
	}{
		{"refused", Config{Address: closed}, "nothing listens there"},
		{"refused-datadir", Config{Address: closed, dataDir: "/var/lib/fabricbot"}, "start fabricd with data directory /var/lib/fabricbot"},
		{"namespace", Config{Address: plain, Namespace: "absent"}, "temporal operator namespace create absent"},
		{"tls-to-plain", Config{Address: plain, TLS: &TLS{CAFile: serverCA}}, "does not speak TLS"},
		{"unknown-authority", Config{Address: secured, TLS: &TLS{CAFile: otherCA}}, "check the CA file"},
		{"other-name", Config{Address: secured, TLS: &TLS{CAFile: serverCA, ServerName: "temporal.example.org"}}, "set the TLS server name"},
		{"no-certificate", Config{Address: mutual, TLS: &TLS{CAFile: serverCA}}, "check the certificate and key files"},
		{"untrusted-certificate", Config{Address: mutual, TLS: &TLS{CAFile: serverCA, CertFile: otherCA, KeyFile: otherKey}}, "check the certificate and key files"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.c.DialTimeout = 3 * time.Second
			c, err := Dial(t.Context(), tc.c)
			if err == nil {
				c.Close()
				t.Fatal("dialled, want an error")
			}
			if !strings.Contains(err.Error(), tc.c.Address) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %q, want the address and %q", err, tc.want)
			}
		})
	}
}

func TestDialNeverShowsKey(t *testing.T) {
	secret := "sk-do-not-print"
	_, err := Dial(t.Context(), Config{Address: "127.0.0.1:1", DialTimeout: 2 * time.Second,
		APIKey: func(context.Context) (string, error) { return secret, nil }})
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("got %v, want an error without the key", err)
	}
}
