package sshexec

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/fabricbot/fabricbot/hostexec"
)

// Keys from an agent, encrypted keys and user certificates against a real sshd.
func TestWaysToLogIn(t *testing.T) {
	s := startServer(t, "openssh")
	text, err := os.ReadFile(s.key)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.ParseRawPrivateKey(text)
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		t.Fatal(err)
	}
	sock := filepath.Join(s.dir, "agent")
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, c); _ = c.Close() }()
		}
	}()
	// A key that only its certificate makes welcome.
	command(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", s.dir+"/userca")
	command(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", s.dir+"/certified")
	ca, err := os.ReadFile(s.dir + "/userca.pub")
	if err != nil {
		t.Fatal(err)
	}
	command(t, "ssh-keygen", "-q", "-s", s.dir+"/userca", "-I", "bot", "-n", "fbsh", s.dir+"/certified.pub")
	home := s.dir + "/home/fbsh/.ssh/authorized_keys"
	own, err := os.ReadFile(home)
	if err != nil {
		t.Fatal(err)
	}
	write(t, home, string(own)+"cert-authority "+string(ca), 0o600)
	phrase := func(string) ([]byte, error) { return []byte("secret"), nil }

	for name, change := range map[string]func(*Options){
		"agent":       func(o *Options) { o.Keys, o.Agent, o.AgentSocket = nil, true, sock },
		"certificate": func(o *Options) { o.Keys, o.Passphrase = []string{s.dir + "/certified"}, phrase },
		"certificate_file": func(o *Options) {
			o.Keys, o.Passphrase, o.Certificates = []string{s.dir + "/moved"}, phrase, []string{s.dir + "/certified-cert.pub"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "certificate_file" {
				b, err := os.ReadFile(s.dir + "/certified")
				if err != nil {
					t.Fatal(err)
				}
				write(t, s.dir+"/moved", string(b), 0o600)
			}
			if r, err := s.pool(t, change).Look(deadline(t), "fbsh", hostname); err != nil || r.Outcome != hostexec.OK {
				t.Error(err)
			}
		})
	}
	if _, err := s.pool(t, func(o *Options) { o.Keys, o.Agent, o.AgentSocket = nil, true, s.dir+"/none" }).Look(deadline(t), "fbsh", hostname); hostexec.OutcomeOf(err) == 0 {
		t.Error("logged in without a key")
	}
	if _, err := New(Options{KnownHosts: []string{s.knownHosts}, Agent: true}); err == nil {
		t.Error("agent without a socket accepted")
	}
}

func TestRSAHostKeyAmongOthers(t *testing.T) {
	// The file knows the ed25519 key only; a host that also has others must not look changed.
	s := startServer(t, "openssh")
	if _, err := s.pool(t, nil).Look(deadline(t), "fbsh", hostname); err != nil {
		t.Error(err)
	}
	// It knows an RSA key only, which the host does not have.
	command(t, "ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", s.dir+"/rsa")
	pub, err := os.ReadFile(s.dir + "/rsa.pub")
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.knownHosts, fmt.Sprintf("[127.0.0.1]:%d %s", s.port, pub), 0o644)
	p := s.pool(t, nil)
	if _, err := p.Look(deadline(t), "fbsh", hostname); !errors.Is(err, hostexec.ErrQuarantined) || len(p.Quarantined()) != 1 {
		t.Errorf("recorded kind is gone: %v", err)
	}
}

func TestConfigResolver(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/.ssh/fabric", "key", 0o600)
	write(t, dir+"/config", `Host node*
	HostName %h.ib.example
	User ops
	Port 2222
	IdentityFile ~/.ssh/fabric
	IdentityFile ~/.ssh/absent
	StrictHostKeyChecking no
	UserKnownHostsFile /dev/null
	ProxyJump gate,admin@inner:2200
Host gate
	HostName 192.0.2.1
	User jump
Host plain
	ProxyJump none
	HostKeyAlias alias
`, 0o600)
	resolve, err := ConfigResolver(dir+"/config", dir)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]Endpoint{
		"node7": {Address: "node7.ib.example", Port: 2222, User: "ops", Keys: []string{dir + "/.ssh/fabric"}, Jump: []Endpoint{
			{Address: "192.0.2.1", User: "jump"}, {Address: "inner", Port: 2200, User: "admin"},
		}},
		"plain": {Address: "plain", HostKeyAlias: "alias"},
		"other": {Address: "other"},
	} {
		got, err := resolve(host)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", host, d)
		}
	}
}

func TestCaptureFindsTheMarkerInAnyPieces(t *testing.T) {
	marker := "00112233445566778899aabbccddeeff"
	noise := strings.Repeat("motd ", 30000) + marker[:20] + "\n"
	all := noise + marker + " 12 bourne go\nbody\nmore"
	for _, size := range []int{1, 7, 4096, len(all)} {
		line := ""
		c := &capture{marker: []byte(marker), keep: 6, beat: new(atomic.Int64), onLine: func(l string) { line = l }}
		for i := 0; i < len(all); i += size {
			if _, err := c.Write([]byte(all[i:min(i+size, len(all))])); err != nil {
				t.Fatal(err)
			}
		}
		kept, spill, cut, err := c.finish()
		if string(kept) != "body\nm" || line != " 12 bourne go" || spill != "" || !cut || err != nil {
			t.Errorf("pieces of %d: %q, line %q, %v", size, kept, line, err)
		}
	}
}

func FuzzReport(f *testing.F) {
	f.Add("state done\npid 7\nexit 0\nstarted 1\nended 2\ntoken 3\nout 4\nfrom 0\nerr 0\nerrfrom 0\ndetail\n\nbody")
	f.Add("state busy\ndetail lock x is held by job y\n\n")
	f.Add("state running\nout 9999999999999\nfrom 0\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		st, err := report("h", []string{"poll"}, text, answer{})
		if err == nil && (st.State == 0 || len(st.Output) > len(text)) {
			t.Fatalf("%+v", st)
		}
	})
}
