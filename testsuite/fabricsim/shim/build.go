package shim

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed src/umadshim.c
var source []byte

// Missing names what the machine lacks to build the library: gcc or the
// kernel's header rdma/ib_user_mad.h. Empty means nothing.
func Missing() string {
	if _, err := exec.LookPath("gcc"); err != nil {
		return "Debian package gcc"
	}
	if _, err := os.Stat("/usr/include/rdma/ib_user_mad.h"); err != nil {
		return "Debian package linux-libc-dev (rdma/ib_user_mad.h)"
	}
	return ""
}

// Build compiles the library into dir unless the same source was compiled
// there before, and returns its path. Several processes may build at once.
func Build(ctx context.Context, dir string) (string, error) {
	sum := sha256.Sum256(source)
	out := filepath.Join(dir, fmt.Sprintf("umadshim-%x.so", sum[:6]))
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("building the umad library: %w", err)
	}
	tmp, err := os.CreateTemp(dir, "umadshim-*.tmp")
	if err != nil {
		return "", fmt.Errorf("building the umad library: %w", err)
	}
	tmp.Close()
	defer os.Remove(tmp.Name())
	cmd := exec.CommandContext(ctx, "gcc", "-xc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", tmp.Name(), "-", "-ldl", "-lpthread")
	cmd.Stdin = bytes.NewReader(source)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the umad library with gcc: %w: %s; it needs linux-libc-dev", err, bytes.TrimSpace(text))
	}
	if err := os.Chmod(tmp.Name(), 0o755); err != nil {
		return "", fmt.Errorf("building the umad library: %w", err)
	}
	if err := os.Rename(tmp.Name(), out); err != nil {
		return "", fmt.Errorf("building the umad library: %w", err)
	}
	return out, nil
}
