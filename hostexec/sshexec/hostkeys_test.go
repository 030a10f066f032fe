package sshexec

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/hostexec/hosttest"
)

func TestChangedHostKeyQuarantines(t *testing.T) {
	f := fleet(t, 2, hosttest.Options{})
	p := fleetPool(t, f, nil)
	if _, err := p.Look(deadline(t), "0", hostname); err != nil {
		t.Fatal(err)
	}
	key, err := f.Hosts[0].NewKey()
	if err != nil {
		t.Fatal(err)
	}
	f.Hosts[0].Cut()
	for range 2 { // the second answer comes without a connection
		r, err := p.Look(deadline(t), "0", hostname)
		if !errors.Is(err, hostexec.ErrQuarantined) || r.Outcome != hostexec.Refused || r.Step != "host key" || !strings.Contains(err.Error(), ssh.FingerprintSHA256(key)) {
			t.Errorf("%v, %+v", err, r)
		}
	}
	q := p.Quarantined()
	if len(q) != 1 || q[0].Host != "0" || len(q[0].Want) != 1 || !strings.Contains(q[0].Got, ssh.FingerprintSHA256(key)) {
		t.Errorf("quarantine %+v", q)
	}
	if _, err := p.Look(deadline(t), "1", hostname); err != nil {
		t.Errorf("the other host: %v", err)
	}
	// Released without a corrected file, it goes straight back.
	if !p.Release("0") || p.Release("0") {
		t.Error("release")
	}
	if _, err := p.Look(deadline(t), "0", hostname); !errors.Is(err, hostexec.ErrQuarantined) {
		t.Errorf("still wrong: %v", err)
	}
	text, err := os.ReadFile(f.KnownHosts)
	if err != nil {
		t.Fatal(err)
	}
	_, others, _ := bytes.Cut(text, []byte("\n"))
	// An edit that concerns others releases nobody; a new record does.
	write(t, f.KnownHosts, string(text)+"# another host was added\n", 0o600)
	if _, err := p.Look(deadline(t), "0", hostname); !errors.Is(err, hostexec.ErrQuarantined) {
		t.Errorf("an unrelated edit: %v", err)
	}
	line := fmt.Sprintf("[127.0.0.1]:%d %s", f.Hosts[0].Port, ssh.MarshalAuthorizedKey(key))
	write(t, f.KnownHosts, line+string(others)+"# corrected\n", 0o600)
	if _, err := p.Look(deadline(t), "0", hostname); err != nil || len(p.Quarantined()) != 0 {
		t.Errorf("after correction: %v, %v", err, p.Quarantined())
	}
}

func TestUnknownHostKeyIsRefused(t *testing.T) {
	f := fleet(t, 1, hosttest.Options{})
	empty := filepath.Join(t.TempDir(), "known_hosts")
	write(t, empty, "", 0o600)
	p := fleetPool(t, f, func(o *Options) { o.KnownHosts = []string{empty} })
	r, err := p.Look(deadline(t), "0", hostname)
	if hostexec.OutcomeOf(err) != hostexec.Refused || r.Step != "host key" || errors.Is(err, hostexec.ErrQuarantined) || !strings.Contains(err.Error(), "SHA256:") {
		t.Errorf("%v", err)
	}
	if _, err := New(Options{Keys: []string{f.KeyFile}}); err == nil {
		t.Error("a pool without known hosts was made")
	}
}

// A server without a record is asked for its key in a way that makes it say
// which one it has, so that the refusal can name it.
func TestUnrecordedServerNamesItsKey(t *testing.T) {
	for _, kind := range []string{"openssh", "dropbear"} {
		t.Run(kind, func(t *testing.T) {
			s := startServer(t, kind)
			empty := filepath.Join(t.TempDir(), "known_hosts")
			write(t, empty, "", 0o600)
			_, err := s.pool(t, func(o *Options) { o.KnownHosts = []string{empty} }).Look(deadline(t), "root", hostname)
			if hostexec.OutcomeOf(err) != hostexec.Refused || !strings.Contains(err.Error(), "SHA256:") || !strings.Contains(err.Error(), "not recorded") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestHostAuthority(t *testing.T) {
	s := startServer(t, "openssh-ca")
	ca := s.dir + "/ca.pub"
	text, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.dir+"/by-line", "@cert-authority * "+string(text), 0o644)
	write(t, s.dir+"/empty", "", 0o644)
	other := filepath.Join(t.TempDir(), "other")
	command(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other)
	try := func(change func(*Options)) error {
		_, err := s.pool(t, change).Look(deadline(t), "fbsh", hostname)
		return err
	}
	if err := try(func(o *Options) { o.KnownHosts, o.HostCAs = nil, []string{ca} }); err != nil {
		t.Errorf("authority file: %v", err)
	}
	if err := try(func(o *Options) { o.KnownHosts = []string{s.dir + "/by-line"} }); err != nil {
		t.Errorf("@cert-authority line: %v", err)
	}
	err = try(func(o *Options) { o.KnownHosts, o.HostCAs = []string{s.dir + "/empty"}, []string{other + ".pub"} })
	if hostexec.OutcomeOf(err) != hostexec.Refused || errors.Is(err, hostexec.ErrQuarantined) {
		t.Errorf("another authority: %v", err)
	}
	write(t, s.dir+"/revoked", "@revoked * "+string(text), 0o644)
	if err = try(func(o *Options) { o.KnownHosts, o.HostCAs = []string{s.dir + "/revoked"}, []string{ca} }); hostexec.OutcomeOf(err) != hostexec.Refused {
		t.Errorf("revoked authority: %v", err)
	}
}

// No part of a private key or passphrase shows in any error.
func TestSecretsNeverShow(t *testing.T) {
	const canary = "canary-7f3a9"
	dir := t.TempDir()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	known := filepath.Join(dir, "known_hosts")
	write(t, known, "", 0o600)
	write(t, dir+"/garbage", "-----BEGIN OPENSSH PRIVATE KEY-----\n"+canary+"\n-----END OPENSSH PRIVATE KEY-----\n", 0o600)
	write(t, dir+"/plain", canary+"\n", 0o600)
	block, err := ssh.MarshalPrivateKeyWithPassphrase(private, canary, []byte("right "+canary))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/locked", string(pem.EncodeToMemory(block)), 0o600)
	for _, o := range []Options{
		{Keys: []string{dir + "/garbage"}}, {Keys: []string{dir + "/plain"}}, {Keys: []string{dir + "/locked"}}, {Certificates: []string{dir + "/plain"}},
		{Keys: []string{dir + "/locked"}, Passphrase: func(string) ([]byte, error) { return []byte("wrong " + canary), nil }},
		{Keys: []string{dir + "/locked"}, Passphrase: func(string) ([]byte, error) { return nil, errors.New("vault said " + canary) }},
	} {
		o.KnownHosts = []string{known}
		if _, err := New(o); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%v", err)
		}
	}
	// Neither does a command's input, when the command fails in any way.
	f := fleet(t, 1, hosttest.Options{})
	p := fleetPool(t, f, nil)
	secret := hostexec.Command{Argv: []string{"tee", "/proc/irq/9/smp_affinity"}, Stdin: []byte(canary)}
	r, err := p.Change(deadline(t), "0", hostexec.Lease{Run: "r", Token: 1}, secret)
	if err != nil || strings.Contains(fmt.Sprintf("%+v", r), canary) {
		t.Errorf("%v %+v", err, r)
	}
	_, err = p.Look(deadline(t), "0", secret)
	if !errors.Is(err, hostexec.ErrNeedsLease) || strings.Contains(err.Error(), canary) {
		t.Error(err)
	}
}
