package fabricsim

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/fabrictest"
	"github.com/fabricbot/fabricbot/testsuite/fabricsim/shim"
)

// host is a simulated host for the real tools: a directory and the preloaded
// library, without a file system of its own.
type host struct {
	t    testing.TB
	dir  string
	plug *Plug
	lib  string
	sm   *exec.Cmd // its subnet manager, if it has one
}

// needTools skips unless the packaged programs are there.
func needTools(t testing.TB, tools ...string) {
	t.Helper()
	if m := shim.Missing(); m != "" {
		t.Skipf("needs %s", m)
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			pkg := "infiniband-diags"
			if tool == "opensm" || tool == "osmtest" {
				pkg = "opensm"
			}
			t.Skipf("needs Debian package %s (%s)", pkg, tool)
		}
	}
}

func newTestFabric(t testing.TB, topology *fabric.Topology) *Fabric {
	t.Helper()
	var text bytes.Buffer
	if err := fabrictest.WriteIBNetDiscover(&text, topology); err != nil {
		t.Fatal(err)
	}
	plan, err := ReadPlan(&text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := New(plan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func plugHost(t testing.TB, f *Fabric, nodes ...string) *host {
	t.Helper()
	lib, err := shim.Build(context.Background(), filepath.Join(os.TempDir(), "fabricsim-shim"))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "fsim")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var adapters []Adapter
	for _, n := range nodes {
		adapters = append(adapters, Adapter{Node: n})
	}
	p, err := f.Plug(dir, adapters...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() }) // before its directory goes
	return &host{t: t, dir: dir, plug: p, lib: lib}
}

func (h *host) command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+h.lib, "FABRICSIM_DIR="+h.dir, "OSM_CACHE_DIR="+h.dir, "OSM_TMP_DIR="+h.dir)
	cmd.Dir = h.dir
	cmd.WaitDelay = time.Second
	return cmd
}

// run runs a tool to its end and returns what it printed.
func (h *host) run(argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	out, err := h.command(ctx, argv...).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%v: %w\n%s", argv, err, out)
	}
	return string(out), nil
}

// must runs a tool that has to succeed and print all the given texts.
func (h *host) must(want []string, argv ...string) string {
	h.t.Helper()
	out, err := h.run(argv...)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, w := range want {
		if !strings.Contains(out, w) {
			h.t.Errorf("%v: no %q in\n%s", argv, w, out)
		}
	}
	return out
}

// opensm starts a subnet manager that ends with the test. conf holds lines of
// opensm.conf.
func (h *host) opensm(conf ...string) *exec.Cmd {
	h.t.Helper()
	file := filepath.Join(h.dir, "opensm.conf")
	lines := append([]string{"force_log_flush TRUE", "dump_files_dir " + h.dir}, conf...)
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		h.t.Fatal(err)
	}
	cmd := h.command(context.Background(), "opensm", "-f", filepath.Join(h.dir, "opensm.log"), "-F", file)
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	h.sm = cmd
	return cmd
}

func eventually(t testing.TB, within time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, within)
		}
	}
}

// allActive waits until every cabled port is Active.
func allActive(t testing.TB, f *Fabric, within time.Duration) {
	t.Helper()
	eventually(t, within, "all ports active", func() bool { return f.NotActive() == 0 })
}
