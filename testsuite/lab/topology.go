package lab

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Topology is the cabling plan of a fabric.
type Topology struct {
	Switches []Node
	Hosts    []Node

	net []byte // the file it was read from, which says more (speeds, cables)
}

// Node is one switch or one host adapter.
type Node struct {
	Name  string // "leaf01", "node001"
	ID    string // name in the net file, "S-…" or "H-…"
	GUID  uint64 // node GUID; 0 when the file does not say
	Ports int
	Links []Link
	Leaf  string // hosts: the switch on port 1
	More  []Node // hosts: further adapters in the same host
}

// Link is one cable as seen from the node that lists it.
type Link struct {
	Port       int
	RemoteID   string
	RemotePort int
}

// Base GUIDs of generated nodes. The company id b8599f is NVIDIA's in the
// IEEE list, so that tools which look it up show a believable vendor.
const (
	hostGUIDBase   uint64 = 0xb8599f0300100000
	switchGUIDBase uint64 = 0xb8599f0300f00000
	hostDeviceID          = 0x101b // ConnectX-6
	switchDeviceID        = 0xd2f0 // Quantum
	vendorID              = 0x02c9
	maxPerLeaf            = 8
	leafPorts             = 40 // a Quantum switch
)

// FatTree plans a two-level fat tree for hosts adapters: leaves of up to eight
// hosts but at least two leaves, two spines, two cables from every leaf to
// every spine. One host needs one leaf and no spine.
func FatTree(hosts int) (Topology, error) {
	if hosts < 1 || hosts > maxPerLeaf*leafPorts/2 {
		return Topology{}, fmt.Errorf("planning a fat tree of %d hosts: 1 to %d hosts fit", hosts, maxPerLeaf*leafPorts/2)
	}
	perLeaf := min(maxPerLeaf, (hosts+1)/2)
	leaves := (hosts + perLeaf - 1) / perLeaf
	spines := 2
	if leaves == 1 {
		spines = 0
	}
	var t Topology
	newSwitch := func(name string) *Node {
		guid := switchGUIDBase + 0x100*uint64(len(t.Switches))
		t.Switches = append(t.Switches, Node{Name: name, ID: fmt.Sprintf("S-%016x", guid), GUID: guid, Ports: leafPorts})
		return &t.Switches[len(t.Switches)-1]
	}
	for i := range leaves {
		newSwitch(fmt.Sprintf("leaf%02d", i+1))
	}
	for i := range spines {
		newSwitch(fmt.Sprintf("spine%02d", i+1))
	}
	cable := func(a *Node, pa int, b *Node, pb int) {
		a.Links = append(a.Links, Link{pa, b.ID, pb})
		b.Links = append(b.Links, Link{pb, a.ID, pa})
	}
	t.Hosts = make([]Node, hosts)
	for i := range hosts {
		guid := hostGUIDBase + 0x10*uint64(i)
		leaf := &t.Switches[i/perLeaf]
		t.Hosts[i] = Node{Name: fmt.Sprintf("node%03d", i+1), ID: fmt.Sprintf("H-%016x", guid), GUID: guid, Ports: 1, Leaf: leaf.Name}
		cable(&t.Hosts[i], 1, leaf, i%perLeaf+1)
	}
	for l := range leaves {
		for s := range spines {
			for k := range 2 {
				cable(&t.Switches[l], leafPorts/2+2*s+k+1, &t.Switches[leaves+s], 2*l+k+1)
			}
		}
	}
	return t, nil
}

// WriteNet writes the plan in the format of ibnetdiscover, which ibsim reads;
// a plan that was read from a file is written as it was.
func (t Topology) WriteNet(w io.Writer) error {
	if t.net != nil {
		_, err := w.Write(t.net)
		return err
	}
	b := bufio.NewWriter(w)
	names := map[string]string{}
	for _, n := range append(append([]Node(nil), t.Switches...), t.Hosts...) {
		names[n.ID] = n.Name
	}
	fmt.Fprintf(b, "# generated fabric: %d switches, %d hosts\n", len(t.Switches), len(t.Hosts))
	for _, n := range t.Switches {
		fmt.Fprintf(b, "\nvendid=0x%x\ndevid=0x%x\nsysimgguid=0x%x\nswitchguid=0x%x\n", vendorID, switchDeviceID, n.GUID, n.GUID)
		fmt.Fprintf(b, "Switch\t%d %q\t\t# %q enhanced port 0 lid 0 lmc 0\n", n.Ports, n.ID, n.Name)
		for _, l := range n.Links {
			fmt.Fprintf(b, "[%d]\t%q[%d]\t\t# %q lid 0 4xHDR\n", l.Port, l.RemoteID, l.RemotePort, names[l.RemoteID])
		}
	}
	for _, n := range t.Hosts {
		fmt.Fprintf(b, "\nvendid=0x%x\ndevid=0x%x\nsysimgguid=0x%x\ncaguid=0x%x\n", vendorID, hostDeviceID, n.GUID, n.GUID)
		fmt.Fprintf(b, "Ca\t%d %q\t\t# \"%s HCA-1\"\n", n.Ports, n.ID, n.Name)
		for _, l := range n.Links {
			fmt.Fprintf(b, "[%d]\t%q[%d]\t\t# lid 0 lmc 0 %q lid 0 4xHDR\n", l.Port, l.RemoteID, l.RemotePort, names[l.RemoteID])
		}
	}
	return b.Flush()
}

var (
	nodeLine = regexp.MustCompile(`^(Switch|Ca|Hca)\s+(\d+)\s+"([^"]+)"(?:.*?#\s*"([^"]*)")?`)
	portLine = regexp.MustCompile(`^\[(\d+)\](?:\([0-9a-fA-F]*\))?\s+"([^"]+)"(?:\[(\d+)\])?`)
	guidLine = regexp.MustCompile(`^(switchguid|caguid|hcaguid)s?=0x([0-9a-fA-F]+)`)
)

// ReadNet reads a net file: ibnetdiscover's output or ibsim's shorter form.
// Host names are the first word of the node description, or the node id;
// adapters with the same first word are in one host. The reduction engine
// inside a switch, an adapter on the wire, is no host.
func ReadNet(r io.Reader) (Topology, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return Topology{}, fmt.Errorf("reading net file: %w", err)
	}
	t := Topology{net: text}
	var cur *Node
	var guid uint64
	names := map[string]string{}
	taken := map[string]bool{}
	hostOf, more := map[string]*Node{}, map[*Node][]*Node{}
	var nodes []*Node
	kinds := map[*Node]string{}
	sc := bufio.NewScanner(bytes.NewReader(text))
	for sc.Scan() {
		line := strings.TrimRight(sc.Text(), "\r")
		if m := guidLine.FindStringSubmatch(line); m != nil {
			guid, _ = strconv.ParseUint(m[2], 16, 64)
		} else if m := nodeLine.FindStringSubmatch(line); m != nil {
			ports, _ := strconv.Atoi(m[2])
			cur = &Node{ID: m[3], Name: m[3], GUID: guid, Ports: ports}
			guid = 0
			if strings.Contains(m[4], "Aggregation Node") {
				continue
			}
			if f := strings.Fields(m[4]); len(f) > 0 && hostNameOK(f[0]) {
				if first := hostOf[f[0]]; first != nil && m[1] != "Switch" {
					more[first] = append(more[first], cur)
					continue
				}
				if !taken[f[0]] {
					cur.Name = f[0]
				}
			}
			taken[cur.Name] = true
			if m[1] != "Switch" {
				hostOf[cur.Name] = cur
			}
			names[cur.ID] = cur.Name
			nodes = append(nodes, cur)
			kinds[cur] = m[1]
		} else if m := portLine.FindStringSubmatch(line); m != nil && cur != nil {
			p, _ := strconv.Atoi(m[1])
			rp, _ := strconv.Atoi(m[3])
			if rp == 0 {
				rp = 1
			}
			cur.Links = append(cur.Links, Link{p, m[2], rp})
		}
	}
	if err := sc.Err(); err != nil {
		return t, fmt.Errorf("reading net file: %w", err)
	}
	for _, n := range nodes {
		if kinds[n] == "Switch" {
			t.Switches = append(t.Switches, *n)
			continue
		}
		if len(n.Links) > 0 {
			n.Leaf = names[n.Links[0].RemoteID]
		}
		for _, m := range more[n] {
			n.More = append(n.More, *m)
		}
		if !hostNameOK(n.Name) {
			return t, fmt.Errorf("reading net file: adapter %q has no name a host could bear; describe it as # \"NAME HCA-1\"", n.ID)
		}
		t.Hosts = append(t.Hosts, *n)
	}
	if len(t.Hosts) == 0 {
		return t, fmt.Errorf("reading net file: no host adapter (Ca or Hca) found")
	}
	return t, nil
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,30}$`)

func hostNameOK(s string) bool { return hostName.MatchString(s) }

// node finds a switch or host by name.
func (t Topology) node(name string) (Node, bool) {
	for _, l := range [][]Node{t.Switches, t.Hosts} {
		for _, n := range l {
			if n.Name == name {
				return n, true
			}
		}
	}
	return Node{}, false
}
