package farm

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// Files are what a client needs to log in to the endpoints.
type Files struct {
	Dir   string
	Hosts int
	Port  int
	// Key is the client's private key file.
	Key        string
	KnownHosts string
	// Config is an ssh_config that names the endpoints node001, node002 …
	Config string

	hostKey, home, passwd string
}

// Name is the i-th host's name, from 0.
func (f Files) Name(i int) string { return fmt.Sprintf("node%03d", i+1) }

// Names are all names.
func (f Files) Names() []string {
	out := make([]string, f.Hosts)
	for i := range out {
		out[i] = f.Name(i)
	}
	return out
}

// IP is the i-th host's address without the port.
func (f Files) IP(i int) string { return fmt.Sprintf("127.78.0.%d", i+1) }

// Addr is the i-th host's address with the port.
func (f Files) Addr(i int) string { return net.JoinHostPort(f.IP(i), strconv.Itoa(f.Port)) }

func write(dir string, n, port int) (Files, error) {
	in := func(name string) string { return filepath.Join(dir, name) }
	f := Files{
		Dir: dir, Hosts: n, Port: port, Key: in("id"), KnownHosts: in("known_hosts"), Config: in("ssh_config"),
		hostKey: in("host_key"), home: in("home"), passwd: in("passwd"),
	}
	if err := os.MkdirAll(filepath.Join(f.home, ".ssh"), 0o755); err != nil {
		return f, fmt.Errorf("making the login user's home: %w", err)
	}
	client, err := newKey(f.Key)
	if err != nil {
		return f, err
	}
	server, err := newKey(f.hostKey)
	if err != nil {
		return f, err
	}
	accounts, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return f, fmt.Errorf("reading accounts: %w", err)
	}
	accounts = fmt.Appendf(accounts, "%s:x:%d:%d::%s:/bin/sh\n", User, uid, uid, f.home)
	for _, w := range []struct {
		path, text string
		mode       os.FileMode
	}{
		{f.passwd, string(accounts), 0o644},
		{filepath.Join(f.home, ".ssh", "authorized_keys"), string(ssh.MarshalAuthorizedKey(client)), 0o644},
		{f.KnownHosts, f.knownHosts(server), 0o644},
		{f.Config, f.clientConfig(), 0o644},
	} {
		if err := os.WriteFile(w.path, []byte(w.text), w.mode); err != nil {
			return f, fmt.Errorf("writing %s: %w", w.path, err)
		}
	}
	return f, nil
}

func newKey(path string) (ssh.PublicKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		return nil, fmt.Errorf("writing a key: %w", err)
	}
	return ssh.NewPublicKey(public)
}

// HostKey is the key that every endpoint shows.
func (f Files) HostKey() (ssh.PublicKey, error) {
	text, err := os.ReadFile(f.hostKey)
	if err != nil {
		return nil, fmt.Errorf("reading the host key: %w", err)
	}
	signer, err := ssh.ParsePrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("reading the host key: %w", err)
	}
	return signer.PublicKey(), nil
}

func (f Files) knownHosts(key ssh.PublicKey) string {
	var b strings.Builder
	for i := range f.Hosts {
		b.WriteString(knownhosts.Line([]string{f.Addr(i)}, key) + "\n")
	}
	return b.String()
}

// clientConfig leaves every algorithm at OpenSSH's default.
func (f Files) clientConfig() string {
	var b strings.Builder
	for i := range f.Hosts {
		fmt.Fprintf(&b, "Host %s\n HostName %s\n", f.Name(i), f.IP(i))
	}
	fmt.Fprintf(&b, `Host node*
 User %s
 Port %d
 IdentityFile %s
 IdentitiesOnly yes
 UserKnownHostsFile %s
 GlobalKnownHostsFile /dev/null
 StrictHostKeyChecking yes
 BatchMode yes
 LogLevel ERROR
`, User, f.Port, f.Key, f.KnownHosts)
	return b.String()
}

func (f Files) serverConfig(first, end int) string {
	var b strings.Builder
	for i := first; i < end; i++ {
		fmt.Fprintf(&b, "ListenAddress %s\n", f.Addr(i))
	}
	// No start is dropped at random, nothing but the key is tried, and nothing
	// is looked up or printed.
	fmt.Fprintf(&b, `HostKey %s
PidFile none
MaxStartups 1000
UsePAM no
UseDNS no
PrintMotd no
PasswordAuthentication no
KbdInteractiveAuthentication no
AuthorizedKeysFile .ssh/authorized_keys
LogLevel ERROR
`, f.hostKey)
	return b.String()
}
