package engine

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func writeMeta(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, MetaFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFromDataDir(t *testing.T) {
	b, err := json.Marshal(Meta{Format: 1, FrontendPort: 41233, Namespace: "site7", Created: time.Unix(0, 0).UTC()})
	if err != nil {
		t.Fatal(err)
	}
	dir := writeMeta(t, string(b))
	c, err := FromDataDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c.Address != "127.0.0.1:41233" || c.Namespace != "site7" {
		t.Errorf("got %s %s", c.Address, c.Namespace)
	}
	want := TLS{CAFile: dir + "/tls/ca.crt", CertFile: dir + "/tls/client.crt", KeyFile: dir + "/tls/client.key"}
	if *c.TLS != want {
		t.Errorf("got %+v, want %+v", *c.TLS, want)
	}
}

func TestFromDataDirErrors(t *testing.T) {
	if _, err := FromDataDir(t.TempDir()); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no fabricd has run") {
		t.Errorf("empty directory: got %v", err)
	}
	for _, tc := range []struct{ name, text, want string }{
		{"newer", `{"format":2,"frontend_port":7233}`, "newer fabricbot"},
		{"broken", `{"format":1,`, "restore it from a backup"},
		{"no-format", `{}`, "names no format"},
		{"no-port", `{"format":1}`, "names port 0"},
		{"wild-port", `{"format":1,"frontend_port":70000}`, "names port 70000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := FromDataDir(writeMeta(t, tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestUISignIn(t *testing.T) {
	dir := writeMeta(t, `{"format":1,"frontend_port":7233,"ui_port":8233}`)
	if _, err := UISignIn(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a token: got %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, TLSDir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, TLSDir, UITokenFile), []byte("c0ffee\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if link, err := UISignIn(dir); err != nil || link != "http://127.0.0.1:8233/?token=c0ffee" {
		t.Errorf("got %q, error %v", link, err)
	}
	if _, err := UISignIn(writeMeta(t, `{"format":1,"frontend_port":7233}`)); err == nil || !strings.Contains(err.Error(), "ui_port") {
		t.Errorf("with the page off: got %v", err)
	}
}

func FuzzReadMeta(f *testing.F) {
	f.Add(`{"format":1,"frontend_port":7233,"created":"2026-01-02T03:04:05Z"}`)
	f.Add(`{"format":-1}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ReadMeta(writeMeta(t, text))
		if err == nil && (m.Format < 1 || m.Format > MetaFormat) {
			t.Errorf("accepted format %d", m.Format)
		}
	})
}

func TestLoggerIsQuiet(t *testing.T) {
	core, seen := observer.New(zap.InfoLevel)
	l := Logger(zap.New(core))
	l.Debug("task")
	l.Info("worker started", "queue", "hosts")
	l.Warn("retry", "attempt", 3)
	l.Error("lost", "error", errors.New("eof"))
	got := seen.All()
	if len(got) != 2 || got[0].Message != "retry" || got[1].Message != "lost" {
		t.Fatalf("got %v, want the warning and the error only", got)
	}
	if got[0].ContextMap()["attempt"] != int64(3) {
		t.Errorf("fields %v", got[0].ContextMap())
	}
	Logger(nil).Error("dropped")
}
