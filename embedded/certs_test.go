package embedded

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/internal/engine"
)

func clientPair(t *testing.T, dir string) tls.Certificate {
	t.Helper()
	in := filepath.Join(dir, engine.TLSDir)
	pair, err := tls.LoadX509KeyPair(filepath.Join(in, engine.ClientCertFile), filepath.Join(in, engine.ClientKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// TestAuthorityIsKept wants certificates to outlive a restart, so that a running client does, and to be made anew
// when they no longer fit.
func TestAuthorityIsKept(t *testing.T) {
	dir := t.TempDir()
	first, err := openAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	before := clientPair(t, dir)
	second, err := openAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !first.cert.Equal(second.cert) || !before.Leaf.Equal(clientPair(t, dir).Leaf) {
		t.Error("a second start made certificates anew")
	}

	in := filepath.Join(dir, engine.TLSDir)
	if err := os.Remove(filepath.Join(in, engine.ClientKeyFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := openAuthority(dir); err != nil {
		t.Fatal(err)
	}
	if after := clientPair(t, dir); after.Leaf.Equal(before.Leaf) || !second.fits(after.Leaf) {
		t.Error("a lost client key was not replaced by a fitting pair")
	}

	// A new authority makes the old client pair worthless.
	if err := os.Remove(filepath.Join(in, caKeyFile)); err != nil {
		t.Fatal(err)
	}
	third, err := openAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	if third.cert.Equal(first.cert) || !third.fits(clientPair(t, dir).Leaf) {
		t.Error("a lost authority was not replaced together with the client pair")
	}

	if err := os.WriteFile(filepath.Join(in, engine.CAFile), []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openAuthority(dir); err == nil || !strings.Contains(err.Error(), "remove that directory") {
		t.Errorf("damaged authority: got %v", err)
	}
}

func TestFits(t *testing.T) {
	a, err := newAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	other, err := newAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	leaf := func(a *authority, name string) *tls.Certificate {
		c, err := a.issue(name)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	ending := *leaf(a, clientName).Leaf
	ending.NotAfter = time.Now().Add(renewLeft - time.Hour)
	if !a.fits(leaf(a, clientName).Leaf) || a.fits(leaf(other, clientName).Leaf) || a.fits(leaf(a, readerName).Leaf) || a.fits(&ending) {
		t.Error("want the own client certificate to fit, and no foreign, reader's or ending one")
	}
}

func TestKeysStayInside(t *testing.T) {
	dir := t.TempDir()
	if _, err := openAuthority(dir); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, engine.TLSDir))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory of certificates: %v, %v", info.Mode(), err)
	}
	for _, name := range []string{caKeyFile, engine.ClientKeyFile} {
		info, err := os.Stat(filepath.Join(dir, engine.TLSDir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}
