package shim

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// source is the library: device.c plays the device files, path.c moves paths.
//
//go:embed src
var source embed.FS

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
	files, err := fs.ReadDir(source, "src")
	if err != nil {
		return "", fmt.Errorf("building the umad library: %w", err)
	}
	sum := sha256.New()
	texts := map[string][]byte{}
	for _, f := range files {
		text, err := source.ReadFile("src/" + f.Name())
		if err != nil {
			return "", fmt.Errorf("building the umad library: %w", err)
		}
		texts[f.Name()] = text
		sum.Write(text)
	}
	out := filepath.Join(dir, fmt.Sprintf("umadshim-%x.so", sum.Sum(nil)[:6]))
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("building the umad library: %w", err)
	}
	work, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return "", fmt.Errorf("building the umad library: %w", err)
	}
	defer os.RemoveAll(work)
	made := filepath.Join(work, "umadshim.so")
	argv := []string{"-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", made}
	for name, text := range texts {
		file := filepath.Join(work, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return "", fmt.Errorf("building the umad library: %w", err)
		}
		if filepath.Ext(name) == ".c" {
			argv = append(argv, file)
		}
	}
	if text, err := exec.CommandContext(ctx, "gcc", append(argv, "-ldl", "-lpthread")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the umad library with gcc: %w: %s; it needs linux-libc-dev", err, bytes.TrimSpace(text))
	}
	if err := os.Chmod(made, 0o755); err != nil {
		return "", fmt.Errorf("building the umad library: %w", err)
	}
	if err := os.Rename(made, out); err != nil {
		return "", fmt.Errorf("building the umad library: %w", err)
	}
	return out, nil
}
