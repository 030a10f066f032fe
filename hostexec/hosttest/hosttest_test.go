package hosttest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/hostexec/hosttest"
	"github.com/fabricbot/fabricbot/hostexec/sshexec"
)

func site(t *testing.T) (*hosttest.Host, *sshexec.Pool) {
	t.Helper()
	f, err := hosttest.Start(t.TempDir(), 1, hosttest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	h := f.Hosts[0]
	p, err := sshexec.New(sshexec.Options{
		KnownHosts: []string{f.KnownHosts}, Keys: []string{f.KeyFile},
		Resolve: func(string) (sshexec.Endpoint, error) {
			return sshexec.Endpoint{Address: "127.0.0.1", Port: h.Port}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return h, p
}

func TestTranscripts(t *testing.T) {
	h, p := site(t)
	if err := h.Load("testdata"); err != nil {
		t.Fatal(err)
	}
	r, err := p.Look(t.Context(), "node1", hostexec.Command{Argv: []string{"ibstat", "mlx5_0"}})
	if err != nil || r.Exit != 0 || !bytes.HasPrefix(r.Stdout, []byte("CA 'mlx5_0'\n")) || !bytes.HasSuffix(r.Stdout, []byte("Rate: 400\n")) {
		t.Errorf("%+v %v", r, err)
	}
	r, err = p.Look(t.Context(), "node1", hostexec.Command{Argv: []string{"sminfo"}})
	if err != nil || r.Exit != 255 || string(r.Stderr) != "sminfo: iberror: failed: query\n" || r.Outcome != hostexec.Failed {
		t.Errorf("%+v %v", r, err)
	}
	if u := h.Unused(); len(u) != 1 || u[0] != "ofed_info -s" {
		t.Errorf("unused %q", u)
	}
	if r, err = p.Look(t.Context(), "node1", hostexec.Command{Argv: []string{"lsmod"}}); err != nil || r.Exit != 127 {
		t.Errorf("without a transcript: %+v %v", r, err)
	}
	h.Record(hosttest.Transcript{Argv: []string{"uptime"}, Stdout: "1", Times: 1}, hosttest.Transcript{Argv: []string{"uptime"}, Stdout: "2"})
	for _, want := range []string{"1", "2", "2"} {
		if r, err = p.Look(t.Context(), "node1", hostexec.Command{Argv: []string{"uptime"}}); err != nil || string(r.Stdout) != want {
			t.Errorf("in turn: %q, want %s, %v", r.Stdout, want, err)
		}
	}
}

func TestJobsAndFilesWithoutAShell(t *testing.T) {
	h, p := site(t)
	argv := []string{"flint", "-d", "0000:3b:00.0", "-i", "/var/lib/fabricbot/images/fw.bin", "-y", "burn"}
	h.Record(hosttest.Transcript{Argv: argv, Stdout: "Burning - OK\n", Delay: 300 * time.Millisecond, Times: 1})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	lease := hostexec.Lease{Run: "run-1", Token: 9}
	job := hostexec.Job{ID: "run-1.burn", Lock: "flash", Command: hostexec.Command{Argv: argv, Sudo: true}}
	st, err := p.StartJob(ctx, "node1", lease, job)
	if err != nil || st.State != hostexec.Running || st.Attached {
		t.Fatalf("%+v %v", st, err)
	}
	if again, err := p.StartJob(ctx, "node1", lease, job); err != nil || !again.Attached || again.PID != st.PID {
		t.Errorf("%+v %v", again, err)
	}
	other := job
	other.ID = "run-2.burn"
	if busy, err := p.StartJob(ctx, "node1", lease, other); err != nil || busy.State != hostexec.Busy {
		t.Errorf("%+v %v", busy, err)
	}
	for st.State == hostexec.Running && ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
		if st, err = p.PollJob(ctx, "node1", job.ID, 0); err != nil {
			t.Fatal(err)
		}
	}
	if st.State != hostexec.Done || string(st.Output) != "Burning - OK\n" || st.Token != 9 {
		t.Errorf("%+v", st)
	}
	content := []byte("guid 0x1\n")
	put := func(l hostexec.Lease) error {
		return p.Put(ctx, "node1", l, "/etc/opensm/opensm.conf", 0o644, bytes.NewReader(content), fmt.Sprintf("%x", sha256.Sum256(content)))
	}
	before := len(h.Calls())
	if err := errors.Join(put(lease), put(lease)); err != nil {
		t.Error(err)
	}
	if n := len(h.Calls()) - before; n != 1 {
		t.Errorf("%d uploads of the same file", n)
	}
	if err := put(hostexec.Lease{Run: "run-0", Token: 8}); !errors.Is(err, hostexec.ErrFenced) {
		t.Errorf("older lease: %v", err)
	}
}

func FuzzParseTranscripts(f *testing.F) {
	f.Add([]byte("# c\n$ ibstat -p\n0x1\n2> warn\nexit 3\n"))
	f.Add([]byte("$ \n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := hosttest.ParseTranscripts(text)
		for _, tr := range list {
			if err == nil && hostexec.CheckArgv(tr.Argv) != nil {
				t.Fatalf("%q", tr.Argv)
			}
		}
	})
}
