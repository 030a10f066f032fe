package fabricsim

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/fabric/fabrictest"
)

// clientsOf counts the open devices of all hosts.
func clientsOf(f *Fabric) int {
	f.lock()
	defer f.unlock()
	n := 0
	for _, p := range f.plugs {
		n += len(p.clients)
	}
	return n
}

// TestManyClients runs more tools at once than a kernel would mind, some of
// them stopped or killed in the middle, and expects all others to finish.
func TestManyClients(t *testing.T) {
	f, sm, other := small(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	base := clientsOf(f)
	// Servers that read nothing any more, and senders that die in the act.
	for range 20 {
		stopped := other.command(ctx, "saquery", "NR", "-t", "60000")
		killed := sm.command(ctx, "ibnetdiscover")
		for _, c := range []interface{ Start() error }{stopped, killed} {
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Millisecond)
		stopped.Process.Signal(syscall.SIGSTOP)
		killed.Process.Kill()
		killed.Wait()
		defer func() { stopped.Process.Kill(); stopped.Wait() }()
	}
	seats := make(chan struct{}, 30)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Add(1)
		seats <- struct{}{}
		go func() {
			defer wg.Done()
			defer func() { <-seats }()
			h := []*host{sm, other}[i%2]
			if out, err := h.run("iblinkinfo"); err != nil || !strings.Contains(out, "spine-p01-20") {
				t.Errorf("iblinkinfo %d: %v", i, err)
			}
		}()
	}
	wg.Wait()
	sm.must([]string{"SMINFO_MASTER"}, "sminfo")
	eventually(t, 10*time.Second, "dead clients forgotten", func() bool { return clientsOf(f) <= base+20 })
}

// TestTimeOut asks a node that does not answer: the tool has to end with the
// kernel's time-out and not wait for ever.
func TestTimeOut(t *testing.T) {
	f, sm, _ := small(t)
	if err := f.Hang("leaf-p01-01", true); err != nil {
		t.Fatal(err)
	}
	since := time.Now()
	out, err := sm.run("smpquery", "-t", "200", "-D", "nodeinfo", "0,1")
	if err == nil || !strings.Contains(out, "timed out") && !strings.Contains(out, "query failed") && !strings.Contains(out, "failed") {
		t.Errorf("a hung switch: %v: %s", err, out)
	}
	if took := time.Since(since); took > 20*time.Second {
		t.Errorf("the tool gave up after %v", took)
	}
	if err := f.Hang("leaf-p01-01", false); err != nil {
		t.Fatal(err)
	}
	sm.must([]string{"Switch"}, "smpquery", "-D", "nodeinfo", "0,1")
}

// TestOneHostManyAdapters gives a host two adapters, one with two ports.
func TestOneHostManyAdapters(t *testing.T) {
	needTools(t, "opensm", "ibstat")
	topology := fabrictest.FatTree(16)
	for i := range topology.Nodes {
		if n := &topology.Nodes[i]; strings.HasPrefix(n.Description, "node00002 ") {
			n.NumPorts = 2
		}
	}
	f := newTestFabric(t, topology)
	h := plugHost(t, f, "node00001", "node00002")
	h.opensm()
	allActive(t, f, 20*time.Second)
	out := h.must([]string{"CA 'mlx5_0'", "CA 'mlx5_1'", "Number of ports: 2"}, "ibstat")
	if n := strings.Count(out, "State: Active"); n != 2 {
		t.Errorf("%d active ports, want 2:\n%s", n, out)
	}
	h.must([]string{"node00002 HCA-1"}, "smpquery", "-C", "mlx5_1", "-P", "1", "-D", "nodedesc", "0")
	h.must([]string{"SMINFO_MASTER"}, "sminfo", "-C", "mlx5_1", "-P", "1")
	if _, err := f.Plug(h.dir, Adapter{Node: "node00002"}); err == nil {
		t.Error("one adapter was put into two hosts")
	}
	if _, err := f.Plug(h.dir, Adapter{Node: "leaf-p01-01"}); err == nil {
		t.Error("a switch was put into a host")
	}
}

// TestAllRecords fetches every node record of a large fabric in one answer of
// thousands of RMPP segments.
func TestAllRecords(t *testing.T) {
	needTools(t, "opensm", "saquery")
	hosts := 1000
	if *long {
		hosts = 5000
	}
	topology := fabrictest.FatTree(hosts)
	f := newTestFabric(t, topology)
	h := plugHost(t, f, "node00001")
	h.opensm()
	allActive(t, f, 2*time.Minute)
	h.waitLog("SUBNET UP")
	out := h.must(nil, "saquery", "-t", "10000", "NR")
	if got, want := strings.Count(out, "NodeRecord dump:"), len(topology.Nodes); got != want {
		t.Errorf("%d records, want %d", got, want)
	}
	if last := fmt.Sprintf("node%05d", hosts); !strings.Contains(out, last) {
		t.Errorf("no %s among the records", last)
	}
}
