package sshexec

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/hostexec/hosttest"
)

const fanHosts = 128

// fan runs hostname on every host at once and fails on anything but ok.
func fan(b *testing.B, p *Pool, hosts []string) {
	var all sync.WaitGroup
	for _, h := range hosts {
		all.Go(func() {
			if r, err := p.Look(b.Context(), h, hostname); err != nil || r.Outcome != hostexec.OK {
				b.Errorf("%s: %v %v", h, r.Outcome, err)
			}
		})
	}
	all.Wait()
}

func fanBench(b *testing.B, hosts []string, pool func() *Pool) {
	b.Run("cold", func(b *testing.B) {
		for range b.N {
			p := pool()
			fan(b, p, hosts)
			b.StopTimer()
			p.Close()
			time.Sleep(time.Second) // the server's children of this round end
			b.StartTimer()
		}
		b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*len(hosts)), "ms/host")
	})
	b.Run("warm", func(b *testing.B) {
		p := pool()
		fan(b, p, hosts)
		b.ResetTimer()
		for range b.N {
			fan(b, p, hosts)
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N*len(hosts)), "ms/host")
	})
}

// BenchmarkFanOutServer measures the client and an in-process server together.
func BenchmarkFanOutServer(b *testing.B) {
	f := fleet(b, fanHosts, hosttest.Options{})
	var hosts []string
	for i := range fanHosts {
		hosts = append(hosts, fmt.Sprint(i))
	}
	fanBench(b, hosts, func() *Pool { return fleetPool(b, f, nil) })
}

// BenchmarkFanOutOpenSSH does the same over a real sshd, one connection per host.
func BenchmarkFanOutOpenSSH(b *testing.B) {
	s := startServer(b, "openssh")
	var hosts []string
	for i := range fanHosts {
		hosts = append(hosts, fmt.Sprint(i))
	}
	fanBench(b, hosts, func() *Pool {
		return s.pool(b, func(o *Options) {
			o.Resolve = func(string) (Endpoint, error) {
				return Endpoint{Address: "127.0.0.1", Port: s.port, User: "fbsh", StateDir: filepath.Join(s.dir, "state")}, nil
			}
		})
	})
}
