package embedded

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/fabricbot/fabricbot/internal/engine"
)

// listeners returns the ports this process listens on, and fails for any that is not on the loopback address.
func listeners(t *testing.T) []int {
	t.Helper()
	mine := map[string]bool{}
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil {
			if inode, ok := strings.CutPrefix(to, "socket:["); ok {
				mine[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	var ports []int
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6", "/proc/self/net/udp", "/proc/self/net/udp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue // no IPv6 in this kernel
		}
		for sc := bufio.NewScanner(f); sc.Scan(); {
			w := strings.Fields(sc.Text()) // proc_net_tcp: local address in 1, state in 3 (0A listens), inode in 9
			if len(w) < 10 || !mine[w[9]] || strings.HasPrefix(filepath.Base(table), "tcp") && w[3] != "0A" {
				continue
			}
			addr, port, _ := strings.Cut(w[1], ":")
			if addr != "0100007F" { // 127.0.0.1 in the kernel's order on a little-endian machine
				t.Errorf("%s: open on %s", table, w[1])
			}
			n, err := strconv.ParseUint(port, 16, 16)
			if err != nil {
				t.Fatal(err)
			}
			ports = append(ports, int(n))
		}
		f.Close()
	}
	return ports
}

func TestListensOnLoopbackOnly(t *testing.T) {
	s := shared(t)
	ports := listeners(t)
	if len(ports) != 5 {
		t.Errorf("listening on %v, want frontend, history, matching, worker and web UI", ports)
	}
	seen := map[int]bool{}
	for _, p := range ports {
		seen[p] = true
	}
	if !seen[s.m.FrontendPort] || !seen[s.m.UIPort] {
		t.Errorf("%v lacks frontend %d or web UI %d", ports, s.m.FrontendPort, s.m.UIPort)
	}
}

// TestPortsRefuseStrangers tries every gRPC port without TLS, without a certificate, and with a certificate of another
// authority; and the inner ports with the certificates that only the frontend takes.
func TestPortsRefuseStrangers(t *testing.T) {
	s := shared(t)
	own, err := readAuthority(filepath.Join(sharedDir, engine.TLSDir))
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := newAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	as := func(a *authority, name string) *tls.Config {
		c, err := a.dialTLS(name)
		if err != nil {
			t.Fatal(err)
		}
		c.RootCAs = own.pool
		c.NextProtos = []string{"h2"}
		return c
	}
	bare := &tls.Config{RootCAs: own.pool, ServerName: loopback, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
	for _, port := range listeners(t) {
		if port == s.m.UIPort {
			continue
		}
		frontend := port == s.m.FrontendPort
		for _, tc := range []struct {
			name   string
			config *tls.Config
			want   bool
		}{
			{"plain", nil, false},
			{"no-certificate", bare, false},
			{"other-authority", as(foreign, serverName), false},
			{"reader", as(own, readerName), frontend},
			{"client", as(own, clientName), frontend},
			{"server", as(own, serverName), true},
		} {
			if got := talks(t, port, tc.config); got != tc.want {
				t.Errorf("port %d (frontend %v) as %s: connected %v, want %v", port, frontend, tc.name, got, tc.want)
			}
		}
	}
}

// talks reports whether a port answers HTTP/2 with its settings, which a gRPC server sends once it accepts the peer.
func talks(t *testing.T, port int, config *tls.Config) bool {
	t.Helper()
	c, err := net.DialTimeout("tcp", hostPort(port), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if config != nil {
		c = tls.Client(c, config)
	}
	if _, err := c.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")); err != nil {
		return false
	}
	frame := make([]byte, 9)
	for read := 0; read < len(frame); {
		n, err := c.Read(frame[read:])
		if err != nil {
			return false
		}
		read += n
	}
	return frame[3] == 4 // SETTINGS, RFC 9113 section 6.5
}

// TestRights wants the reader's certificate unable to write and the client's unable to administrate, at the server and
// not merely in some client.
func TestRights(t *testing.T) {
	s := shared(t)
	own, err := readAuthority(filepath.Join(sharedDir, engine.TLSDir))
	if err != nil {
		t.Fatal(err)
	}
	as := func(name string) client.Client {
		c, err := own.dialTLS(name)
		if err != nil {
			t.Fatal(err)
		}
		o := s.ClientOptions()
		o.ConnectionOptions.TLS = c
		cl, err := client.Dial(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		return cl
	}
	var notFound *serviceerror.NotFound
	signal := func(c client.Client) error { return c.SignalWorkflow(t.Context(), "absent", "", "approve", nil) }
	list := func(c client.Client) error {
		_, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{})
		return err
	}
	register := func(c client.Client) error {
		_, err := c.WorkflowService().DeprecateNamespace(t.Context(), &workflowservice.DeprecateNamespaceRequest{Namespace: "absent"})
		return err
	}
	update := func(c client.Client) error {
		_, err := c.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{WorkflowID: "absent", UpdateName: "vote", WaitForStage: client.WorkflowUpdateStageAccepted})
		return err
	}
	reader, worker, admin := as(readerName), as(clientName), as(serverName)
	for _, tc := range []struct {
		name   string
		try    func(client.Client) error
		c      client.Client
		denied bool
	}{
		{"reader-lists", list, reader, false},
		{"reader-signals", signal, reader, true},
		{"reader-updates", update, reader, true},
		{"reader-administrates", register, reader, true},
		{"client-lists", list, worker, false},
		{"client-signals", signal, worker, false},
		{"client-updates", update, worker, false},
		{"client-administrates", register, worker, true},
		{"server-administrates", register, admin, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.try(tc.c)
			var denied *serviceerror.PermissionDenied
			if errors.As(err, &denied) != tc.denied {
				t.Fatalf("got %v, want denied %v", err, tc.denied)
			}
			if !tc.denied && err != nil && !errors.As(err, &notFound) && !isNamespaceMissing(err) {
				t.Errorf("got %v, want the call to reach its object", err)
			}
		})
	}
	if _, err := own.issue("fabricbot-stranger"); err != nil {
		t.Fatal(err)
	}
	stranger, err := own.dialTLS("fabricbot-stranger")
	if err != nil {
		t.Fatal(err)
	}
	o := s.ClientOptions()
	o.ConnectionOptions.TLS = stranger
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if c, err := client.DialContext(ctx, o); err == nil {
		if list(c) == nil {
			t.Error("a certificate with an unknown name may list")
		}
		c.Close()
	}
}

func isNamespaceMissing(err error) bool {
	var missing *serviceerror.NamespaceNotFound
	return errors.As(err, &missing)
}
