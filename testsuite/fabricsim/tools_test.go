package fabricsim

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/fabrictest"
	"github.com/fabricbot/fabricbot/fabric/parse"
	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

var long = flag.Bool("long", false, "also run what takes minutes")

// TestSubnetComesUp lets the three usual routing engines bring up small and
// middle fabrics, and then follows every pair of hosts through the forwarding
// tables opensm wrote.
func TestSubnetComesUp(t *testing.T) {
	needTools(t, "opensm")
	sizes := []int{16, 324}
	if *long {
		sizes = append(sizes, 1000, 5000)
	}
	for _, hosts := range sizes {
		for _, engine := range []string{"minhop", "updn", "ftree"} {
			if engine == "ftree" && hosts == 16 {
				continue // one switch is no tree
			}
			if engine == "ftree" && hosts > 400 {
				hosts = (hosts + 399) / 400 * 400 // a tree with half a pod is none to opensm
			}
			t.Run(fmt.Sprintf("%s-%d", engine, hosts), func(t *testing.T) {
				f := newTestFabric(t, fabrictest.FatTree(hosts))
				h := plugHost(t, f, "node00001")
				h.opensm("routing_engine " + engine)
				allActive(t, f, 3*time.Minute)
				text := h.waitLog("SUBNET UP")
				if !strings.Contains(text, engine+" tables configured") {
					t.Errorf("opensm does not say that it used %s:\n%s", engine, text)
				}
				if hosts > 1000 {
					return // too many pairs to walk
				}
				if n := unreachable(f); n != 0 {
					t.Errorf("%d pairs of hosts cannot reach each other", n)
				}
			})
		}
	}
}

// waitLog waits for a text in opensm's log and returns the log.
func (h *host) waitLog(want string) string {
	h.t.Helper()
	var text []byte
	eventually(h.t, 30*time.Second, want+" in opensm's log", func() bool {
		text, _ = os.ReadFile(filepath.Join(h.dir, "opensm.log"))
		return bytes.Contains(text, []byte(want))
	})
	return string(text)
}

// unreachable counts the ordered pairs of adapters between which a data packet
// is lost.
func unreachable(f *Fabric) int {
	f.lock()
	defer f.unlock()
	var ends []*Port
	for _, n := range f.nodes {
		if !n.isSwitch() {
			ends = append(ends, n.ports[1])
		}
	}
	lost := 0
	for _, a := range ends {
		for _, b := range ends {
			if (&trip{packets: 1}).byLID(a, b.info.LID) != b {
				lost++
			}
		}
	}
	return lost
}

// small is a fabric of 40 hosts with a subnet manager on the first and a
// second host to ask from.
func small(t *testing.T, args ...string) (f *Fabric, sm, other *host) {
	needTools(t, "opensm", "ibnetdiscover")
	f = newTestFabric(t, fabrictest.FatTree(40))
	sm, other = plugHost(t, f, "node00001"), plugHost(t, f, "node00030")
	sm.opensm(args...)
	allActive(t, f, 30*time.Second)
	sm.waitLog("SUBNET UP")
	return f, sm, other
}

func TestDiscoveryIsTheTopology(t *testing.T) {
	needTools(t, "opensm", "ibnetdiscover")
	want := fabrictest.FatTree(324)
	f := newTestFabric(t, want)
	h := plugHost(t, f, "node00001")
	h.opensm()
	allActive(t, f, 30*time.Second)
	got, err := parse.IBNetDiscover(strings.NewReader(h.must(nil, "ibnetdiscover")))
	if err != nil {
		t.Fatal(err)
	}
	if g, w := got.Counts(), want.Counts(); g != w {
		t.Errorf("ibnetdiscover sees %+v, want %+v", g, w)
	}
	wantLinks := map[[2]fabric.PortRef]fabric.Link{}
	for _, l := range want.Links() {
		wantLinks[[2]fabric.PortRef{l.A, l.B}] = l
	}
	for _, l := range got.Links() {
		if w, ok := wantLinks[[2]fabric.PortRef{l.A, l.B}]; !ok || w != l {
			t.Errorf("ibnetdiscover sees %+v, want %+v", l, w)
		}
	}
}

// TestToolsAnswer runs every packaged tool once and looks for what only the
// right answer holds.
func TestToolsAnswer(t *testing.T) {
	f, sm, other := small(t)
	lid := func(node string) string {
		for _, p := range f.Ports() {
			if p.Node == node {
				return fmt.Sprint(p.LID)
			}
		}
		t.Fatalf("no %s", node)
		return ""
	}
	leaf, smLID, here := lid("leaf-p01-02"), lid("node00001"), lid("node00030")
	for _, c := range []struct {
		argv string
		want []string
	}{
		{"ibstat", []string{"CA 'mlx5_0'", "MT4123", "State: Active", "Rate: 200", "Base lid: " + here, "SM lid: " + smLID}},
		{"iblinkinfo", []string{`"node00040 HCA-1"`, "4X        53.125 Gbps Active/  LinkUp", `"MF0;spine-p01-20:MQM8700/U1"`}},
		{"ibqueryerrors", []string{"62 nodes checked, 0 bad nodes"}},
		{"perfquery " + leaf + " 3", []string{"PortXmitData", "CapMask: 0x1300"}},
		{"perfquery -a " + leaf, []string{"port 255"}},
		{"perfquery -x " + leaf + " 3", []string{"PortUnicastXmitPkts", "PortXmitWait"}},
		{"saquery -s", []string{"IsSM ports", "EndPortLid.............." + smLID}},
		{"saquery -p --src-to-dst " + here + ":" + smLID, []string{"dlid...................." + smLID, "rate....................0x91", "mtu.....................0x85"}},
		{"smpquery nodeinfo " + leaf, []string{"NodeType:........................Switch", "NumPorts:........................40"}},
		{"smpquery -D nodedesc 0", []string{"node00030 HCA-1"}},
		{"smpquery -D nodedesc 0,1", []string{"leaf-p01-02"}},
		{"smpquery portinfo " + here + " 1", []string{"LinkSpeedExtActive:..............53.125 Gbps", "IsLinkSpeedHDRSupported"}},
		{"smpquery switchinfo " + leaf, []string{"LinearFdbCap:....................49152", "EnhancedPort0:...................1"}},
		{"smpquery pkeys " + leaf + " 0", []string{"0xffff", "32 pkeys capacity"}},
		{"smpquery sl2vl " + leaf + " 1", []string{"ports: in 40, out  1: | 0| 1| 2| 3| 4| 5| 6| 7|"}},
		{"smpquery mlnxextportinfo " + leaf + " 1", []string{"LinkSpeedSupported:..............0x01"}},
		{"smpquery guidinfo " + here, []string{"0x0c42a103"}},
		{"sminfo", []string{"SMINFO_MASTER"}},
		{"ibtracert " + here + " " + smLID, []string{`"MF0;leaf-p01-02:MQM8700/U1"`, `To ca`, `"node00001 HCA-1"`}},
		{"ibroute " + leaf, []string{"62 valid lids dumped"}},
		{"ibaddr", []string{"GID fe80::c42:a103:0:340"}},
		{"ibnetdiscover -p", []string{"4x HDR"}},
		{"ibportstate " + leaf + " 10 query", []string{"Peer PortInfo", "LinkSpeedExtActive:..............53.125 Gbps"}},
		{"dump_fts", []string{"62 valid lids dumped"}},
	} {
		t.Run(strings.Fields(c.argv)[0], func(t *testing.T) {
			h := *other
			h.t = t
			h.must(c.want, strings.Fields(c.argv)...)
		})
	}
	for _, record := range []struct {
		name string
		want int
	}{{"NR", 62}, {"LR", 160}, {"PIR", 22*41 + 40}} {
		out := other.must(nil, "saquery", record.name)
		if n := strings.Count(out, "Record dump:"); n != record.want && record.name != "PIR" || n < 900 && record.name == "PIR" {
			t.Errorf("saquery %s: %d records, want %d", record.name, n, record.want)
		}
	}
	out, err := other.run("sminfo", here)
	if err == nil || !strings.Contains(out, "sminfo") {
		t.Errorf("sminfo of a port without a subnet manager: %v\n%s", err, out)
	}
	for _, line := range strings.Split(sm.waitLog("SUBNET UP"), "\n") {
		if strings.Contains(line, " ERR ") {
			t.Errorf("opensm complains: %s", line)
		}
	}
}

func TestPingBetweenHosts(t *testing.T) {
	_, sm, other := small(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server := other.command(ctx, "ibping", "-S")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cancel(); server.Wait() }()
	m := regexp.MustCompile(`Base lid: (\d+)`).FindStringSubmatch(other.must(nil, "ibstat"))
	if m == nil {
		t.Fatal("ibstat shows no LID")
	}
	eventually(t, 10*time.Second, "an answer to ibping", func() bool {
		out, err := sm.run("ibping", "-c", "1", m[1])
		return err == nil && strings.Contains(out, "1 packets transmitted, 1 received")
	})
	// Nobody serves ping on the SM's own host: the SM must not mind.
	other.run("ibping", "-c", "1", "1")
	sm.must([]string{"SMINFO_MASTER"}, "sminfo")
}

// TestOSMTest runs opensm's own test programme of its SA.
func TestOSMTest(t *testing.T) {
	needTools(t, "osmtest")
	_, _, other := small(t)
	inventory := filepath.Join(other.dir, "osmtest.dat")
	other.must([]string{`"Create Inventory" PASS`}, "osmtest", "-f", "c", "-i", inventory)
	if *long { // half a minute, most of it time-outs that have to happen
		other.must([]string{`"Validate Inventory" PASS`}, "osmtest", "-f", "v", "-i", inventory)
		other.must([]string{`"All Validations" PASS`}, "osmtest", "-f", "a", "-i", inventory)
	}
}

func TestIBDiagnet(t *testing.T) {
	if _, err := exec.LookPath("ibdiagnet"); err != nil {
		t.Skip("needs Debian package ibutils (ibdiagnet)")
	}
	_, _, other := small(t)
	other.must([]string{"62 nodes (22 Switches & 40 CA-s) discovered", "No bad Guids were found", "No illegal PM counters values were found",
		"No bad link were found", "PKey:0x7fff Hosts:40 full:40 limited:0"}, "ibdiagnet", "-o", other.dir)
}

func TestPortState(t *testing.T) {
	f, sm, other := small(t)
	leaf, port := "leaf-p01-02", 10
	var lid string
	for _, p := range f.Ports() {
		if p.Node == leaf {
			lid = fmt.Sprint(p.LID)
		}
	}
	status := func() PortStatus {
		for _, p := range f.Ports() {
			if p.Node == leaf && p.Port == port {
				return p
			}
		}
		return PortStatus{}
	}
	order := func(words ...string) {
		t.Helper()
		sm.must(nil, append([]string{"ibportstate", lid, "10"}, words...)...)
	}
	active := func() bool { return status().State == "Active" }

	order("disable")
	if s := status(); s.State != "Down" || s.Phys != "Disabled" {
		t.Fatalf("disabled: %+v", s)
	}
	if out := other.must([]string{"State: Down", "Physical state: Polling"}, "ibstat"); strings.Contains(out, "Active") {
		t.Errorf("the host at the other end sees\n%s", out)
	}
	order("enable")
	eventually(t, 15*time.Second, "active after enable", active)
	order("espeed", "2") // EDR
	order("reset")
	eventually(t, 15*time.Second, "active after a new speed", active)
	if s := status(); s.Speed != mad.EDR {
		t.Errorf("after espeed 2 the link runs at %v", s.Speed)
	}
	order("width", "1") // 1X
	order("reset")
	eventually(t, 15*time.Second, "active after a new width", active)
	if s := status(); s.Width != 1 {
		t.Errorf("after width 1 the link is %v wide", s.Width)
	}
	// Meanwhile opensm has enabled all supported speeds again.
	other.must([]string{"Rate: 50"}, "ibstat")
}
