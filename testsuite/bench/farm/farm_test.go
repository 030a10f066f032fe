package farm

import (
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestEndpointsLetTheUserInAndVanish(t *testing.T) {
	if why := Missing(); why != "" {
		t.Skip(why)
	}
	dir, err := os.MkdirTemp("", "farm")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := Start(t.Context(), dir, 18) // more than one server
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if len(f.servers) != 2 {
		t.Errorf("%d servers for 18 hosts, want 2", len(f.servers))
	}
	for _, i := range []int{0, 17} {
		out, err := exec.Command("ssh", "-F", f.Config, f.Name(i), "id -un; echo $SHELL; pwd").CombinedOutput()
		if want := User + "\n/bin/sh\n" + f.home + "\n"; err != nil || string(out) != want {
			t.Errorf("%s answered %q, %v, want %q", f.Name(i), out, err, want)
		}
	}
	if err := f.Settle(t.Context()); err != nil {
		t.Error(err)
	}
	sleeper := exec.Command("ssh", "-F", f.Config, f.Name(3), "exec sleep 300")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if f.Sessions() == 1 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	f.Keep()
	if f.kept != 1 {
		t.Errorf("%d sessions kept, want 1", f.kept)
	}
	if err := f.Settle(t.Context()); err != nil {
		t.Errorf("a kept session must not be waited for: %v", err)
	}
	f.Close()
	if err := sleeper.Wait(); err == nil {
		t.Error("a session outlived the farm")
	}
	if c, err := net.Dial("tcp", f.Addr(0)); err == nil {
		_ = c.Close()
		t.Error("a server outlived the farm")
	}
	if out, err := exec.Command("id", User).CombinedOutput(); err == nil {
		t.Errorf("the login user is known outside the farm: %s", out)
	}
}

func TestHostCountIsBounded(t *testing.T) {
	for _, n := range []int{0, MaxHosts + 1} {
		if f, err := Start(t.Context(), t.TempDir(), n); err == nil {
			f.Close()
			t.Errorf("%d hosts were accepted", n)
		}
	}
}
