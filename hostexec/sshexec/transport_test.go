package sshexec

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/hostexec/hosttest"
)

func fleet(t testing.TB, n int, o hosttest.Options) *hosttest.Fleet {
	t.Helper()
	f, err := hosttest.Start(t.TempDir(), n, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	for _, h := range f.Hosts {
		h.Record(hosttest.Transcript{Argv: []string{"hostname"}, Stdout: "node\n"})
	}
	return f
}

// fleetPool names the hosts 0, 1, 2 ...
func fleetPool(t testing.TB, f *hosttest.Fleet, change func(*Options)) *Pool {
	t.Helper()
	o := Options{
		KnownHosts: []string{f.KnownHosts}, Keys: []string{f.KeyFile},
		Resolve: func(host string) (Endpoint, error) {
			var i int
			if _, err := fmt.Sscanf(host, "%d", &i); err != nil || i >= len(f.Hosts) {
				return Endpoint{}, fmt.Errorf("no such host")
			}
			return Endpoint{Address: "127.0.0.1", Port: f.Hosts[i].Port}, nil
		},
	}
	if change != nil {
		change(&o)
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

var hostname = hostexec.Command{Argv: []string{"hostname"}}

func TestConnectionIsSharedAndReplaced(t *testing.T) {
	f := fleet(t, 1, hosttest.Options{Noise: "Welcome!\nno newline"})
	p := fleetPool(t, f, nil)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if r, err := p.Look(deadline(t), "0", hostname); err != nil || string(r.Stdout) != "node\n" || len(r.Stderr) != 0 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	all.Wait()
	if n := f.Hosts[0].Logins(); n != 1 {
		t.Errorf("%d logins for 20 commands", n)
	}
	f.Hosts[0].Cut()
	if _, err := p.Look(deadline(t), "0", hostname); err != nil {
		t.Errorf("after the connection was cut between commands: %v", err)
	}
	if n := f.Hosts[0].Logins(); n != 2 {
		t.Errorf("%d logins after one cut", n)
	}
}

func TestConnectionCutMidCommandIsLost(t *testing.T) {
	f := fleet(t, 1, hosttest.Options{})
	f.Hosts[0].Record(hosttest.Transcript{Argv: []string{"iblinkinfo"}, Stdout: "partial\n", Delay: 30 * time.Second})
	p := fleetPool(t, f, nil)
	go func() {
		for f.Hosts[0].Peak() == 0 {
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
		f.Hosts[0].Cut()
	}()
	r, err := p.Look(deadline(t), "0", hostexec.Command{Argv: []string{"iblinkinfo"}})
	if hostexec.OutcomeOf(err) != hostexec.Lost || !r.Remains || r.Exit != -1 || string(r.Stdout) != "partial\n" {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestUnreachableAndTimeoutsNameTheStep(t *testing.T) {
	f := fleet(t, 1, hosttest.Options{})
	closed := freePort(t)
	mute, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	p := fleetPool(t, f, func(o *Options) {
		o.ConnectTimeout = 300 * time.Millisecond
		o.Resolve = func(host string) (Endpoint, error) {
			switch host {
			case "closed":
				return Endpoint{Address: "127.0.0.1", Port: closed}, nil
			case "mute":
				return Endpoint{Address: "127.0.0.1", Port: mute.Addr().(*net.TCPAddr).Port}, nil
			}
			return Endpoint{}, errors.New("not in the inventory")
		}
	})
	for host, want := range map[string]struct {
		o    hostexec.Outcome
		step string
	}{"closed": {hostexec.Unreachable, "connect"}, "mute": {hostexec.TimedOut, "key exchange"}, "nobody": {hostexec.Refused, "connect"}} {
		r, err := p.Look(deadline(t), host, hostname)
		if hostexec.OutcomeOf(err) != want.o || r.Outcome != want.o || r.Step != want.step || r.Host != host || r.Remains {
			t.Errorf("%s: %v, %+v", host, err, r)
		}
	}
}

func TestLoginRefused(t *testing.T) {
	f := fleet(t, 1, hosttest.Options{})
	stranger := fleet(t, 1, hosttest.Options{})
	p := fleetPool(t, f, func(o *Options) { o.Keys = []string{stranger.KeyFile} })
	r, err := p.Look(deadline(t), "0", hostname)
	if hostexec.OutcomeOf(err) != hostexec.Refused || r.Step != "login" || !strings.Contains(err.Error(), "authorized_keys") {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestTwoJumpHosts(t *testing.T) {
	f := fleet(t, 5, hosttest.Options{})
	at := func(i int) Endpoint { return Endpoint{Address: "127.0.0.1", Port: f.Hosts[i].Port} }
	p := fleetPool(t, f, func(o *Options) {
		o.Resolve = func(host string) (Endpoint, error) {
			ep := at(map[string]int{"a": 2, "b": 3, "c": 4}[host])
			ep.Jump = []Endpoint{at(0), at(1)}
			return ep, nil
		}
	})
	var all sync.WaitGroup
	for _, h := range []string{"a", "b", "c"} {
		all.Go(func() {
			if r, err := p.Look(deadline(t), h, hostname); err != nil || string(r.Stdout) != "node\n" {
				t.Errorf("%s: %v", h, err)
			}
		})
	}
	all.Wait()
	for i := range 5 {
		if n := f.Hosts[i].Logins(); n != 1 {
			t.Errorf("host %d has %d logins", i, n)
		}
	}
	f.Hosts[1].Close()
	waitFor(t, "the far connections to end", func() bool { c := p.hosts["a"].conn; return c == nil || !c.alive() })
	r, err := p.Look(deadline(t), "a", hostname)
	if hostexec.OutcomeOf(err) != hostexec.Unreachable || !strings.Contains(r.Step, "jump host 2") {
		t.Errorf("broken chain: %v, step %s", err, r.Step)
	}
}

func TestConcurrencyCaps(t *testing.T) {
	f := fleet(t, 4, hosttest.Options{Latency: 20 * time.Millisecond})
	p := fleetPool(t, f, func(o *Options) { o.PerHost, o.Overall = 2, 5 })
	var all sync.WaitGroup
	for i := range 80 {
		all.Go(func() {
			if _, err := p.Look(deadline(t), fmt.Sprint(i%4), hostname); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, h := range f.Hosts {
		if h.Peak() > 2 {
			t.Errorf("host %d ran %d at once", i, h.Peak())
		}
	}
	if f.Peak() > 5 || f.Peak() < 3 {
		t.Errorf("%d at once overall", f.Peak())
	}
	// Waiting in the queue ends with the caller's context.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range cap(p.overall) {
		p.overall <- struct{}{}
	}
	if r, err := p.Look(ctx, "0", hostname); !errors.Is(err, context.Canceled) || r.Step != "queue" {
		t.Errorf("%v %+v", err, r)
	}
}

// A hundred megabytes cost memory for the part that is kept only.
func TestLargeOutputGoesToAFile(t *testing.T) {
	f := fleet(t, 1, hosttest.Options{Shell: "/bin/sh", Home: t.TempDir()})
	spill := t.TempDir()
	p := fleetPool(t, f, func(o *Options) { o.SpillDir = spill })
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		var top uint64
		for {
			select {
			case <-stop:
				peak <- top
				return
			case <-time.After(20 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				top = max(top, m.HeapInuse)
			}
		}
	}()
	const size = 100 << 20
	r, err := p.raw(deadline(t), "0", hostexec.Command{Argv: []string{"/bin/sh", "-c", fmt.Sprintf("head -c %d /dev/zero; echo end >&2", size)}, MaxOutput: 4096})
	close(stop)
	if top := <-peak; top > 48<<20 {
		t.Errorf("%d MiB of heap in use", top>>20)
	}
	if err != nil || len(r.Stdout) != 4096 || !r.Truncated || string(r.Stderr) != "end\n" || r.StderrSpill != "" {
		t.Fatalf("%v, %d bytes, %q, %q", err, len(r.Stdout), r.Stderr, r.StderrSpill)
	}
	st, err := os.Stat(r.StdoutSpill)
	if err != nil || st.Size() != size-4096 || st.Mode().Perm() != 0o600 {
		t.Errorf("spill file: %v, %v", st, err)
	}
}

// A link that goes silent without breaking is noticed by the probes.
func TestSilentLinkIsLost(t *testing.T) {
	f := fleet(t, 1, hosttest.Options{})
	f.Hosts[0].Record(hosttest.Transcript{Argv: []string{"iblinkinfo"}, Delay: 30 * time.Second})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	silent := make(chan struct{})
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", f.Hosts[0].Addr)
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
			for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
				go func() {
					buf := make([]byte, 4096)
					for {
						n, err := way[0].Read(buf)
						if err != nil {
							return
						}
						select {
						case <-silent: // swallowed
						default:
							_, _ = way[1].Write(buf[:n])
						}
					}
				}()
			}
		}
	}()
	p := fleetPool(t, f, func(o *Options) {
		o.KeepAlive = 50 * time.Millisecond
		o.Resolve = func(string) (Endpoint, error) {
			return Endpoint{Address: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, HostKeyAlias: "node0"}, nil
		}
	})
	text, err := os.ReadFile(f.KnownHosts)
	if err != nil {
		t.Fatal(err)
	}
	_, key, _ := strings.Cut(string(text), " ")
	write(t, f.KnownHosts, "node0 "+key, 0o600)
	go func() {
		for f.Hosts[0].Peak() == 0 {
			time.Sleep(5 * time.Millisecond)
		}
		close(silent)
	}()
	r, err := p.Look(deadline(t), "0", hostexec.Command{Argv: []string{"iblinkinfo"}})
	if hostexec.OutcomeOf(err) != hostexec.Lost || !r.Remains {
		t.Errorf("%v %+v", err, r)
	}
}
