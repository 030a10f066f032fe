package engine

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// Dial connects to the cluster, checks that the namespace exists, and returns a client the caller must close.
// The error says which address was tried and what to do next; it never holds the API key.
func Dial(ctx context.Context, c Config) (client.Client, error) {
	o, err := c.ClientOptions()
	if err != nil {
		return nil, err
	}
	c = c.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, c.DialTimeout)
	defer cancel()

	cl, err := client.DialContext(ctx, o)
	if err != nil {
		return nil, c.explain(err)
	}
	_, err = cl.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: c.Namespace})
	var denied *serviceerror.PermissionDenied
	if err != nil && !errors.As(err, &denied) {
		// A key limited to starting workflows may be denied the description and still be good.
		cl.Close()
		return nil, c.explain(err)
	}
	return cl, nil
}

// ClientOptions turns the configuration into the SDK's options, for callers that add interceptors or a converter
// before they dial themselves.
func (c Config) ClientOptions() (client.Options, error) {
	if err := c.Check(); err != nil {
		return client.Options{}, err
	}
	c = c.withDefaults()
	o := client.Options{
		HostPort:  c.Address,
		Namespace: c.Namespace,
		Identity:  c.Identity,
		Logger:    Logger(c.Log),
	}
	if c.TLS != nil {
		t, err := c.TLS.config(c.Address)
		if err != nil {
			return client.Options{}, err
		}
		o.ConnectionOptions.TLS = t
	}
	if c.APIKey != nil {
		o.Credentials = client.NewAPIKeyDynamicCredentials(c.APIKey)
	}
	return o, nil
}

// explain adds the address and the next step to what the SDK reported. gRPC flattens the causes of a failed
// connection into text, so the text is what there is to look at.
func (c Config) explain(err error) error {
	var (
		missing  *serviceerror.NamespaceNotFound
		notFound *serviceerror.NotFound
		denied   *serviceerror.PermissionDenied
		unknown  x509.UnknownAuthorityError
		text     = err.Error()
		next     string
	)
	switch {
	case errors.As(err, &missing), errors.As(err, &notFound):
		next = fmt.Sprintf("create it with: temporal operator namespace create %s", c.Namespace)
	case errors.As(err, &denied), strings.Contains(text, "Unauthenticated"), strings.Contains(text, "unauthorized"):
		next = "the cluster refused these credentials; check the API key or the client certificate"
	case errors.As(err, &unknown), strings.Contains(text, "unknown authority"):
		next = "its certificate is not signed by the configured CA; check the CA file"
	case strings.Contains(text, "certificate is valid for"), strings.Contains(text, "not valid for any names"),
		strings.Contains(text, "doesn't contain any IP SANs"), strings.Contains(text, "valid for any names"):
		next = "its certificate carries another name; set the TLS server name"
	case strings.Contains(text, "remote error: tls"), c.TLS != nil && hungUp(text):
		next = "it broke off the handshake, as a cluster does that asks for another client certificate; check the certificate and key files"
	case strings.Contains(text, "first record does not look like a TLS handshake"):
		next = "it does not speak TLS; leave TLS out only if the cluster is on this machine"
	case errors.Is(err, syscall.ECONNREFUSED), strings.Contains(text, "connection refused"):
		next = "nothing listens there; check the address and that the cluster is running"
		if c.dataDir != "" {
			next = fmt.Sprintf("nothing listens there; start fabricd with data directory %s first", c.dataDir)
		}
	case strings.Contains(text, "no such host"):
		next = "the name is not known; check the spelling and the resolver"
	default:
		next = "check the address, the TLS settings and that the cluster is running"
	}
	return fmt.Errorf("connecting to temporal at %s, namespace %s: %w; %s", c.Address, c.Namespace, err, next)
}

// hungUp holds for a connection that was cut. In TLS 1.3 a server judges the client's certificate only after the
// client believes the handshake done (RFC 8446 section 4.4.2.4), so its refusal often arrives as a cut connection.
func hungUp(text string) bool {
	for _, s := range []string{"broken pipe", "connection reset", "EOF"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}
