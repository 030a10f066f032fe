package sshexec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// keyring holds the private keys. Its errors name files, never their content.
type keyring struct {
	common     []ssh.Signer
	certs      []*ssh.Certificate
	passphrase func(string) ([]byte, error)
	agentSock  string

	mu    sync.Mutex
	files map[string][]ssh.Signer // endpoint keys, read once
}

func newKeyring(o Options) (*keyring, error) {
	k := &keyring{passphrase: o.Passphrase, files: map[string][]ssh.Signer{}}
	if o.Agent {
		k.agentSock = o.AgentSocket
	}
	for _, path := range o.Certificates {
		c, err := readCertificate(path)
		if err != nil {
			return nil, err
		}
		k.certs = append(k.certs, c)
	}
	for _, path := range o.Keys {
		s, err := k.load(path)
		if err != nil {
			return nil, err
		}
		k.common = append(k.common, s...)
	}
	return k, nil
}

func readCertificate(path string) (*ssh.Certificate, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading certificate: %w", err)
	}
	pub, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return nil, fmt.Errorf("reading certificate %s: not a public key line", path)
	}
	cert, ok := pub.(*ssh.Certificate)
	if !ok || cert.CertType != ssh.UserCert {
		return nil, fmt.Errorf("reading certificate %s: it holds a %s, not a user certificate", path, pub.Type())
	}
	return cert, nil
}

// load reads one private key and puts signers with certificates first.
func (k *keyring) load(path string) ([]ssh.Signer, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading private key: %w", err)
	}
	defer clear(text)
	signer, err := ssh.ParsePrivateKey(text)
	if _, locked := errors.AsType[*ssh.PassphraseMissingError](err); locked && k.passphrase != nil {
		var phrase []byte
		if phrase, err = k.passphrase(path); err != nil {
			return nil, fmt.Errorf("reading private key %s: its passphrase is not to be had", path)
		}
		signer, err = ssh.ParsePrivateKeyWithPassphrase(text, phrase)
		clear(phrase)
	}
	if err != nil {
		return nil, fmt.Errorf("reading private key %s: not a key this program can use, or its passphrase is wrong or missing", path)
	}
	var out []ssh.Signer
	certs := k.certs
	if c, err := readCertificate(path + "-cert.pub"); err == nil {
		certs = append([]*ssh.Certificate{c}, certs...)
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, c := range certs {
		if !bytes.Equal(c.Key.Marshal(), signer.PublicKey().Marshal()) {
			continue
		}
		s, err := ssh.NewCertSigner(c, signer)
		if err != nil {
			return nil, fmt.Errorf("using the certificate for %s: %w", path, err)
		}
		out = append(out, s)
	}
	return append(out, signer), nil
}

// method offers, in this order: the endpoint's keys, the common keys, the agent's.
func (k *keyring) method(paths []string) ssh.AuthMethod {
	return ssh.PublicKeysCallback(func() ([]ssh.Signer, error) {
		var all []ssh.Signer
		for _, p := range paths {
			s, err := k.cached(p)
			if err != nil {
				return nil, err
			}
			all = append(all, s...)
		}
		all = append(all, k.common...)
		if k.agentSock != "" {
			s, err := agentSigners(k.agentSock)
			if err != nil && len(all) == 0 {
				return nil, err
			}
			all = append(all, s...)
		}
		return all, nil
	})
}

func (k *keyring) cached(path string) ([]ssh.Signer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s, ok := k.files[path]; ok {
		return s, nil
	}
	s, err := k.load(path)
	if err == nil {
		k.files[path] = s
	}
	return s, err
}

// agentSigner signs through a connection of its own, so that no connection to
// the agent outlives a log-in.
type agentSigner struct {
	socket string
	key    ssh.PublicKey
}

func agentSigners(socket string) ([]ssh.Signer, error) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("asking the key agent: %w", err)
	}
	defer conn.Close()
	keys, err := agent.NewClient(conn).List()
	if err != nil {
		return nil, fmt.Errorf("asking the key agent: %w", err)
	}
	var out []ssh.Signer
	for _, k := range keys {
		if pub, err := ssh.ParsePublicKey(k.Blob); err == nil {
			out = append(out, agentSigner{socket, pub})
		}
	}
	return out, nil
}

func (a agentSigner) PublicKey() ssh.PublicKey { return a.key }

func (a agentSigner) Sign(_ io.Reader, data []byte) (*ssh.Signature, error) {
	return a.sign(data, 0)
}

// SignWithAlgorithm lets RSA keys of the agent sign with SHA-2.
func (a agentSigner) SignWithAlgorithm(_ io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	switch algorithm {
	case ssh.KeyAlgoRSASHA256, ssh.CertAlgoRSASHA256v01:
		return a.sign(data, agent.SignatureFlagRsaSha256)
	case ssh.KeyAlgoRSASHA512, ssh.CertAlgoRSASHA512v01:
		return a.sign(data, agent.SignatureFlagRsaSha512)
	}
	return a.sign(data, 0)
}

func (a agentSigner) sign(data []byte, flags agent.SignatureFlags) (*ssh.Signature, error) {
	conn, err := net.Dial("unix", a.socket)
	if err != nil {
		return nil, fmt.Errorf("asking the key agent to sign: %w", err)
	}
	defer conn.Close()
	return agent.NewClient(conn).SignWithFlags(a.key, data, flags)
}
