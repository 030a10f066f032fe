package hosttest

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// Options shape the hosts of a fleet.
type Options struct {
	// Shell, if set, runs what has no transcript for real: this shell with
	// "-c" is the login shell. Home is its home directory.
	Shell string
	Home  string
	// Noise is what a start-up file prints on both streams before anything else.
	Noise string
	// Latency is added before each command is answered.
	Latency time.Duration
}

// Fleet is a set of hosts that share one client key.
type Fleet struct {
	Hosts      []*Host
	KeyFile    string // private key of the client
	KnownHosts string // file with the keys of all hosts
}

// Host is one SSH server on loopback.
type Host struct {
	Addr string // 127.0.0.1:port
	Port int

	opt  Options
	cfg  *ssh.ServerConfig
	ln   net.Listener
	book book
	jobs jobs

	mu    sync.Mutex
	conns map[net.Conn]bool

	logins  atomic.Int64
	running atomic.Int64
	peak    atomic.Int64
	total   *atomic.Int64 // running on the whole fleet
	top     *atomic.Int64
}

// Start makes n hosts; dir takes the client key and the known_hosts file.
func Start(dir string, n int, o Options) (*Fleet, error) {
	f := &Fleet{KeyFile: filepath.Join(dir, "id_ed25519"), KnownHosts: filepath.Join(dir, "known_hosts")}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("starting test hosts: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "hosttest")
	if err != nil {
		return nil, fmt.Errorf("starting test hosts: %w", err)
	}
	client, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return nil, fmt.Errorf("starting test hosts: %w", err)
	}
	if err := os.WriteFile(f.KeyFile, pem.EncodeToMemory(block), 0o600); err != nil {
		return nil, fmt.Errorf("starting test hosts: %w", err)
	}
	var lines strings.Builder
	var total, top atomic.Int64
	for range n {
		h, err := start(o, client.PublicKey(), &total, &top)
		if err != nil {
			f.Close()
			return nil, err
		}
		f.Hosts = append(f.Hosts, h.Host)
		lines.WriteString(knownhosts.Line([]string{h.Addr}, h.key) + "\n")
	}
	if err := os.WriteFile(f.KnownHosts, []byte(lines.String()), 0o600); err != nil {
		f.Close()
		return nil, fmt.Errorf("starting test hosts: %w", err)
	}
	return f, nil
}

// Close ends every host.
func (f *Fleet) Close() {
	for _, h := range f.Hosts {
		h.Close()
	}
}

// Peak is the largest number of commands that ran at once on the whole fleet.
func (f *Fleet) Peak() int64 {
	if len(f.Hosts) == 0 {
		return 0
	}
	return f.Hosts[0].top.Load()
}

type started struct {
	*Host
	key ssh.PublicKey
}

func start(o Options, client ssh.PublicKey, total, top *atomic.Int64) (started, error) {
	h := &Host{opt: o, conns: map[net.Conn]bool{}, total: total, top: top}
	h.jobs.all = map[string]*job{}
	h.jobs.files = map[string]file{}
	h.cfg = &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if string(key.Marshal()) != string(client.Marshal()) {
				return nil, fmt.Errorf("unknown key")
			}
			return nil, nil
		},
	}
	key, err := h.NewKey()
	if err != nil {
		return started{}, err
	}
	if h.ln, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return started{}, fmt.Errorf("starting a test host: %w", err)
	}
	h.Addr, h.Port = h.ln.Addr().String(), h.ln.Addr().(*net.TCPAddr).Port
	go h.accept()
	return started{h, key}, nil
}

// NewKey gives the host another key, as after a reinstallation.
func (h *Host) NewKey() (ssh.PublicKey, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a host key: %w", err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return nil, fmt.Errorf("making a host key: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	cfg := *h.cfg
	cfg.AddHostKey(signer)
	h.cfg = &cfg
	return signer.PublicKey(), nil
}

// Close stops listening and cuts every connection.
func (h *Host) Close() {
	_ = h.ln.Close()
	h.Cut()
}

// Cut breaks every connection at once, as a dying link does.
func (h *Host) Cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		_ = c.Close()
	}
}

// Logins counts connections that got through the login.
func (h *Host) Logins() int64 { return h.logins.Load() }

// Peak is the largest number of commands that ran at once on this host.
func (h *Host) Peak() int64 { return h.peak.Load() }

func (h *Host) enter() (leave func()) {
	raise(&h.peak, h.running.Add(1))
	raise(h.top, h.total.Add(1))
	return func() { h.running.Add(-1); h.total.Add(-1) }
}

func raise(peak *atomic.Int64, now int64) {
	for {
		old := peak.Load()
		if now <= old || peak.CompareAndSwap(old, now) {
			return
		}
	}
}
