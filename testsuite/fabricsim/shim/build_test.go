package shim

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestBuild compiles the library once, and finds it made the second time.
func TestBuild(t *testing.T) {
	if m := Missing(); m != "" {
		t.Skipf("needs %s", m)
	}
	dir := t.TempDir()
	first, err := Build(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Build(context.Background(), dir)
	if err != nil || second != first {
		t.Fatalf("built %s, then %s, %v", first, second, err)
	}
	if after, err := os.Stat(second); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("it was compiled again: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%d files in the cache, want one; %v", len(left), err)
	}
	// A program that has nothing to do with the fabric must not notice it.
	cmd := exec.Command("sh", "-c", "echo through | cat; ls / >/dev/null && cat /dev/null")
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+first, "FABRICSIM_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "through" {
		t.Errorf("an innocent program under the library: %v: %s", err, out)
	}
}
