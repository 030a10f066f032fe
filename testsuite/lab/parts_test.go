package lab

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFatTree(t *testing.T) {
	for _, c := range []struct{ hosts, switches, onFirstLeaf int }{{1, 1, 1}, {2, 4, 1}, {8, 4, 4}, {16, 4, 8}, {17, 5, 8}, {160, 22, 8}} {
		topo, err := FatTree(c.hosts)
		if err != nil {
			t.Errorf("%d hosts: %v", c.hosts, err)
			continue
		}
		n := 0
		for _, h := range topo.Hosts {
			if h.Leaf == "leaf01" {
				n++
			}
		}
		if len(topo.Hosts) != c.hosts || len(topo.Switches) != c.switches || n != c.onFirstLeaf {
			t.Errorf("%d hosts: got %d hosts, %d switches, %d on leaf01, want %d switches, %d", c.hosts, len(topo.Hosts), len(topo.Switches), n, c.switches, c.onFirstLeaf)
		}
		checkCables(t, topo)
	}
	for _, n := range []int{0, -1, 161} {
		if _, err := FatTree(n); err == nil {
			t.Errorf("a fat tree of %d hosts was planned", n)
		}
	}
}

// checkCables looks for a cable that only one end knows, and for a port used twice.
func checkCables(t *testing.T, topo Topology) {
	t.Helper()
	ends := map[string]Link{}
	key := func(id string, port int) string { return id + "/" + strings.Repeat("i", port) }
	all := append(append([]Node(nil), topo.Switches...), topo.Hosts...)
	for _, n := range all {
		for _, l := range n.Links {
			if _, twice := ends[key(n.ID, l.Port)]; twice || l.Port > n.Ports {
				t.Errorf("%s[%d] is used twice or not there", n.Name, l.Port)
			}
			ends[key(n.ID, l.Port)] = l
		}
	}
	for _, n := range all {
		for _, l := range n.Links {
			if back := ends[key(l.RemoteID, l.RemotePort)]; back.RemoteID != n.ID || back.RemotePort != l.Port {
				t.Errorf("%s[%d] leads to %s[%d], which leads to %s[%d]", n.Name, l.Port, l.RemoteID, l.RemotePort, back.RemoteID, back.RemotePort)
			}
		}
	}
}

func TestNetFileRoundTrip(t *testing.T) {
	topo, err := FatTree(16)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := topo.WriteNet(&file); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	got, err := ReadNet(&file)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range topo.Hosts {
		if g := got.Hosts[i]; g.Name != h.Name || g.GUID != h.GUID || g.Leaf != h.Leaf || g.Ports != h.Ports {
			t.Errorf("wrote %+v, read %+v", h, g)
		}
	}
	checkCables(t, got)
	var again bytes.Buffer
	if err := got.WriteNet(&again); err != nil || again.String() != text {
		t.Errorf("a plan that was read is not written as it was: %v", err)
	}
}

func TestReadNetRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty":    "",
		"no_hosts": "Switch\t8 \"leaf\"\n[1]\t\"x\"[1]\n",
		"bad_name": "Ca\t1 \"H 01\"\t\t# \"- HCA-1\"\n",
	} {
		if _, err := ReadNet(strings.NewReader(text)); err == nil {
			t.Errorf("%s: read", name)
		}
	}
}

func FuzzReadNet(f *testing.F) {
	topo, err := FatTree(4)
	if err != nil {
		f.Fatal(err)
	}
	var file bytes.Buffer
	if err := topo.WriteNet(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.String())
	f.Add("Switch 8 \"a\"\n[1] \"b\"[1]\nHca 2 \"b\"\n[1] \"a\"[1]\n")
	f.Fuzz(func(t *testing.T, text string) {
		topo, err := ReadNet(strings.NewReader(text))
		if err == nil && len(topo.Hosts) == 0 {
			t.Error("read without error and without hosts")
		}
	})
}

func TestParseDump(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "dump.txt"))
	if err != nil {
		t.Fatal(err)
	}
	got := parseDump(string(text), map[string]string{"S-b8599f0300f00000": "leaf01", "H-b8599f0300100000": "node001"})
	want := []PortState{
		{Node: "leaf01", Port: 0, GUID: 0xb8599f0300f00000, LID: 2, SMLID: 1, State: "Active", Phys: "LinkUp", Width: "4x", Speed: "2.5G"},
		{Node: "leaf01", Port: 1, GUID: 0xb8599f0300f00000, State: "Active", Phys: "LinkUp", Width: "4x", Speed: "50G"},
		{Node: "leaf01", Port: 2, GUID: 0xb8599f0300f00000, State: "Down", Phys: "Polling", Width: "4x", Speed: "2.5G"},
		{Node: "node001", Port: 1, GUID: 0xb8599f0300100001, LID: 1, SMLID: 1, State: "Active", Phys: "LinkUp", Width: "4x", Speed: "50G"},
	}
	if len(got) != len(want) {
		t.Fatalf("got %d ports, want %d: %+v", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("port %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestOverrideConf(t *testing.T) {
	got := overrideConf("# guid of the port\nguid 0x0\n\nsm_priority 0\n", map[string]string{"guid": "0x1", "sm_key": "0x2", "absent": "3"})
	want := "# guid of the port\nguid 0x1\n\nsm_priority 0\nabsent 3\nsm_key 0x2\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEmulatorsAreThere(t *testing.T) {
	for _, name := range []string{"ibtool", "opensm", "opensmd", "ofed_info", "ibdev2netdev", "lspci", "reboot", "mlxlink", "mget_temp"} {
		if !bytes.HasPrefix(emul(name), []byte("#!/bin/sh\n")) {
			t.Errorf("no emulator %s", name)
		}
	}
}

func TestRelayRecords(t *testing.T) {
	m := make(madRecord, reqBytes)
	m.mad()[3] = methodGet
	copy(m.mad()[8:], []byte{0, 9, 0, 1, 0, 0, 0x12, 0x34})
	if !m.wantsAnswer() || m.isResponse() || m.timedOut() || m.transaction() != 0x100001234 {
		t.Errorf("a request reads as answer %v, timed out %v, transaction %#x", m.isResponse(), m.timedOut(), m.transaction())
	}
	if m.setTimedOut(); !m.timedOut() {
		t.Error("no time-out after setting it")
	}
	m.mad()[3] = 0x81
	if m.wantsAnswer() || !m.isResponse() {
		t.Error("a response reads as a request")
	}
	c := newCtl(ctlConnect, 3)
	c.setNode(strings.Repeat("n", 40))
	if !c.valid() || c.kind() != ctlConnect || c.clientID() != 3 || c[59] != 0 || c[58] != 'n' {
		t.Errorf("control record is %v", c)
	}
	if ctlRecord(c[:40]).valid() {
		t.Error("half a record is valid")
	}
}
