package sshexec

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// hostKeys decides whether a host is who it says. The files are read again
// when they have changed, so adding a host needs no restart.
type hostKeys struct {
	files []string
	cas   []ssh.PublicKey

	mu    sync.Mutex
	stamp string
	now   *hostKeyFiles
}

// hostKeyFiles is one reading of the files.
type hostKeyFiles struct {
	check ssh.HostKeyCallback
	// authority marks "file:line" of the @cert-authority lines: knownhosts
	// lists them among the keys it wants, but they are not a host's own key.
	authority map[string]bool
}

// changedKeyError: the host has a recorded key and shows another one.
type changedKeyError struct {
	got   string
	want  []string
	names []string
}

func (e *changedKeyError) Error() string {
	return fmt.Sprintf("host key has changed: got %s, recorded %s", e.got, strings.Join(e.want, ", "))
}

// unknownKeyError: nothing is recorded about the host.
type unknownKeyError struct{ got string }

func (e *unknownKeyError) Error() string {
	return fmt.Sprintf("host key %s is not recorded", e.got)
}

func newHostKeys(o Options) (*hostKeys, error) {
	h := &hostKeys{files: o.KnownHosts}
	for _, path := range o.HostCAs {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading host authority: %w", err)
		}
		for len(bytes.TrimSpace(text)) > 0 {
			key, _, _, rest, err := ssh.ParseAuthorizedKey(text)
			if err != nil {
				return nil, fmt.Errorf("reading host authority %s: %w", path, err)
			}
			h.cas = append(h.cas, key)
			text = rest
		}
	}
	_, err := h.load()
	return h, err
}

func (h *hostKeys) load() (*hostKeyFiles, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var stamp strings.Builder
	for _, f := range h.files {
		st, err := os.Stat(f)
		if err != nil {
			return nil, fmt.Errorf("reading known hosts: %w", err)
		}
		fmt.Fprintf(&stamp, "%s %d %d\n", f, st.Size(), st.ModTime().UnixNano())
	}
	if h.now != nil && h.stamp == stamp.String() {
		return h.now, nil
	}
	check, err := knownhosts.New(h.files...)
	if err != nil {
		return nil, fmt.Errorf("reading known hosts: %w", err)
	}
	k := &hostKeyFiles{check: check, authority: map[string]bool{}}
	for _, f := range h.files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("reading known hosts: %w", err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			if n++; strings.HasPrefix(strings.TrimSpace(line), "@cert-authority") {
				k.authority[fmt.Sprintf("%s:%d", f, n)] = true
			}
		}
	}
	h.now, h.stamp = k, stamp.String()
	return k, nil
}

// recorded returns the plain keys recorded for the host under any of its
// names, and whether an authority may vouch for it.
func (h *hostKeys) recorded(k *hostKeyFiles, addrs []string) (plain []knownhosts.KnownKey, vouched bool) {
	vouched = len(h.cas) > 0
	probe, err := ssh.NewPublicKey(ed25519.PublicKey(make([]byte, ed25519.PublicKeySize)))
	if err != nil {
		return nil, vouched
	}
	for _, a := range addrs {
		keyErr, ok := errors.AsType[*knownhosts.KeyError](k.check(a, &net.TCPAddr{}, probe))
		if !ok {
			continue
		}
		for _, w := range keyErr.Want {
			if k.authority[fmt.Sprintf("%s:%d", w.Filename, w.Line)] {
				vouched = true
			} else {
				plain = append(plain, w)
			}
		}
		if len(plain) > 0 {
			break
		}
	}
	for _, a := range portless(addrs) {
		if keyErr, ok := errors.AsType[*knownhosts.KeyError](k.check(a, &net.TCPAddr{}, probe)); ok {
			vouched = vouched || slices.ContainsFunc(keyErr.Want, func(w knownhosts.KnownKey) bool { return k.authority[fmt.Sprintf("%s:%d", w.Filename, w.Line)] })
		}
	}
	return plain, vouched
}

// portless are the same names at port 22. In known_hosts "*" means every port
// to OpenSSH but only port 22 to the library; authorities are looked up both ways.
func portless(addrs []string) (out []string) {
	for _, a := range addrs {
		if host, port, err := net.SplitHostPort(a); err == nil && port != "22" {
			out = append(out, net.JoinHostPort(host, "22"))
		}
	}
	return out
}

var certAlgorithms = []string{
	ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
	ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01,
}

// algorithms asks the host for a key of a kind that is recorded: a host has
// several, and one of another kind would look like a changed key.
func algorithms(plain []knownhosts.KnownKey, vouched bool) []string {
	var out []string
	if vouched {
		out = append(out, certAlgorithms...)
	}
	for _, w := range plain {
		switch t := w.Key.Type(); t {
		case ssh.KeyAlgoRSA:
			out = append(out, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		default:
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return unrecorded
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unrecorded is what a host without a record is asked for, so that its key can
// be named in the refusal. RSA comes last: Dropbear 2022.83 offers it also
// without such a key and breaks off when it is chosen.
var unrecorded = []string{
	ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256,
}

// callback verifies the key under the first of the names that has a record.
func (h *hostKeys) callback(k *hostKeyFiles, addrs []string, plain []knownhosts.KnownKey) ssh.HostKeyCallback {
	return func(_ string, remote net.Addr, key ssh.PublicKey) error {
		if remote == nil || remote.Network() != "tcp" {
			remote = &net.TCPAddr{}
		}
		got := key.Type() + " " + ssh.FingerprintSHA256(key)
		cert, isCert := key.(*ssh.Certificate)
		names := addrs
		if isCert {
			names = append(slices.Clone(addrs), portless(addrs)...)
		}
		var last error
		for _, a := range names {
			err := k.check(a, remote, key)
			if err == nil {
				return nil
			}
			if _, revoked := errors.AsType[*knownhosts.RevokedError](err); revoked {
				return fmt.Errorf("host key %s is marked revoked", got)
			}
			if isCert && h.trusts(cert.SignatureKey) {
				if err := h.vouch(k, a, remote, cert); err == nil {
					return nil
				} else {
					last = err
				}
				continue
			}
			if last == nil || isCert {
				last = err
			}
		}
		if isCert {
			return fmt.Errorf("host certificate %s signed by %s: %w", got, ssh.FingerprintSHA256(cert.SignatureKey), last)
		}
		if len(plain) == 0 {
			return &unknownKeyError{got}
		}
		return &changedKeyError{got: got, want: fingerprints(plain), names: addrs}
	}
}

func fingerprints(plain []knownhosts.KnownKey) (out []string) {
	for _, w := range plain {
		out = append(out, w.Key.Type()+" "+ssh.FingerprintSHA256(w.Key))
	}
	return out
}

func (h *hostKeys) trusts(ca ssh.PublicKey) bool {
	return slices.ContainsFunc(h.cas, func(k ssh.PublicKey) bool { return bytes.Equal(k.Marshal(), ca.Marshal()) })
}

// vouch checks a certificate of one of our own authorities: principal, dates,
// signature, and that neither key is marked revoked.
func (h *hostKeys) vouch(k *hostKeyFiles, addr string, remote net.Addr, cert *ssh.Certificate) error {
	for _, key := range []ssh.PublicKey{cert.Key, cert.SignatureKey} {
		if _, revoked := errors.AsType[*knownhosts.RevokedError](k.check(addr, remote, key)); revoked {
			return errors.New("marked revoked")
		}
	}
	c := ssh.CertChecker{IsHostAuthority: func(ca ssh.PublicKey, _ string) bool { return h.trusts(ca) }}
	return c.CheckHostKey(addr, remote, cert)
}
