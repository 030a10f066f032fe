package fabrictest

import (
	"fmt"

	"github.com/fabricbot/fabricbot/fabric"
)

// The shape of the tree: switches of 40 ports, half of a leaf's for hosts,
// and pods of 20 leaves below 20 spines. Real fabrics of HDR switches are
// built like this.
const (
	leafHosts  = 20
	podLeaves  = 20
	podSpines  = 20
	spineCores = 20
	radix      = 40
)

// MaxHosts is the largest tree: with it the unicast LIDs (up to 0xbfff) still
// suffice for all hosts and switches.
const MaxHosts = 40000

// FatTree returns a healthy three-level fat tree with one single-port adapter
// per host, every link 4X HDR, LIDs assigned, and names as in a real site.
// Up to 20 hosts share one switch, up to 400 one pod; beyond, core switches
// join the pods. hosts is held between 1 and MaxHosts. The same number gives
// the same tree.
func FatTree(hosts int) *fabric.Topology {
	hosts = min(max(hosts, 1), MaxHosts)
	b := &builder{}
	leaves := (hosts + leafHosts - 1) / leafHosts
	pods := (leaves + podLeaves - 1) / podLeaves
	var cores []int
	if pods > 1 {
		for i := range podSpines * spineCores {
			cores = append(cores, b.add(fabric.NodeSwitch, max(radix, pods), fmt.Sprintf("MF0;core-%03d:MQM8700/U1", i+1)))
		}
	}
	host := 0
	for pod := range pods {
		var spines []int
		if leaves > 1 {
			for i := range podSpines {
				spine := b.add(fabric.NodeSwitch, radix, fmt.Sprintf("MF0;spine-p%02d-%02d:MQM8700/U1", pod+1, i+1))
				spines = append(spines, spine)
				for up := 0; up < spineCores && len(cores) > 0; up++ {
					b.cable(spine, podLeaves+up+1, cores[i*spineCores+up], pod+1)
				}
			}
		}
		for i := 0; i < podLeaves && pod*podLeaves+i < leaves; i++ {
			leaf := b.add(fabric.NodeSwitch, radix, fmt.Sprintf("MF0;leaf-p%02d-%02d:MQM8700/U1", pod+1, i+1))
			for s, spine := range spines {
				b.cable(leaf, leafHosts+s+1, spine, i+1)
			}
			for port := 1; port <= leafHosts && host < hosts; port++ {
				host++
				b.cable(b.add(fabric.NodeCA, 1, fmt.Sprintf("node%05d HCA-1", host)), 1, leaf, port)
			}
		}
	}
	t := fabric.NewTopology(b.nodes)
	t.Generated = "Tue Mar  4 05:06:07 2025"
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Type == fabric.NodeCA {
			t.FromNode, t.FromPort = n.GUID, n.Ports[0].GUID
			break
		}
	}
	return t
}

type builder struct {
	nodes []fabric.Node
	lid   fabric.LID
}

// add makes a node and returns its place in nodes.
func (b *builder) add(kind fabric.NodeType, ports int, name string) int {
	b.lid++
	n := fabric.Node{Type: kind, Description: name, VendorID: 0x2c9, NumPorts: uint8(ports)}
	if kind == fabric.NodeSwitch {
		n.GUID = 0xb8cef60300000000 + fabric.GUID(b.lid)<<4
		n.DeviceID, n.LID = 0xd2f0, b.lid
	} else {
		n.GUID = 0x0c42a10300000000 + fabric.GUID(b.lid)<<4
		n.DeviceID = 0x101b
		n.Ports = []fabric.Port{{Num: 1, GUID: n.GUID, LID: b.lid}}
	}
	n.SystemGUID = n.GUID
	b.nodes = append(b.nodes, n)
	return len(b.nodes) - 1
}

// cable joins two ports.
func (b *builder) cable(a, aPort, c, cPort int) {
	b.end(a, aPort, c, cPort)
	b.end(c, cPort, a, aPort)
}

func (b *builder) end(node, port, peer, peerPort int) {
	n := &b.nodes[node]
	p := fabric.Port{Num: fabric.PortNum(port)}
	if n.Type == fabric.NodeCA {
		p = n.Ports[0]
		n.Ports = n.Ports[:0]
	}
	p.Width, p.Speed, p.PeerKnown = 4, fabric.HDR, true
	p.PeerType = b.nodes[peer].Type
	p.Peer = fabric.PortRef{Node: b.nodes[peer].GUID, Port: fabric.PortNum(peerPort)}
	n.Ports = append(n.Ports, p)
}
