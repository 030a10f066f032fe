package fabrictest

import (
	"bufio"
	"fmt"
	"io"

	"github.com/fabricbot/fabricbot/fabric"
)

// WriteIBNetDiscover writes the topology as ibnetdiscover (infiniband-diags
// 44) prints it without options: a block per switch, then one per adapter and
// router. States are not part of that format.
func WriteIBNetDiscover(w io.Writer, t *fabric.Topology) error {
	out := bufio.NewWriterSize(w, 64<<10)
	fmt.Fprintf(out, "#\n# Topology file: generated on %s\n#\n# Initiated from node %016x port %016x\n",
		t.Generated, uint64(t.FromNode), uint64(t.FromPort))
	for _, switches := range []bool{true, false} {
		for i := range t.Nodes {
			if n := &t.Nodes[i]; (n.Type == fabric.NodeSwitch) == switches {
				writeNode(out, t, n)
			}
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the topology: %w", err)
	}
	return nil
}

func writeNode(out *bufio.Writer, t *fabric.Topology, n *fabric.Node) {
	fmt.Fprintf(out, "\nvendid=0x%x\ndevid=0x%x\n", n.VendorID, n.DeviceID)
	if !n.SystemGUID.IsZero() {
		fmt.Fprintf(out, "sysimgguid=0x%x\n", uint64(n.SystemGUID))
	}
	switch n.Type {
	case fabric.NodeSwitch:
		fmt.Fprintf(out, "switchguid=0x%x(%x)\nSwitch\t%d %s\t\t# \"%s\" enhanced port 0 lid %d lmc %d\n",
			uint64(n.GUID), uint64(n.GUID), n.NumPorts, nodeName(n), n.Description, n.LID, n.LMC)
	case fabric.NodeRouter:
		fmt.Fprintf(out, "rtguid=0x%x\nRt\t%d %s\t\t# \"%s\"\n", uint64(n.GUID), n.NumPorts, nodeName(n), n.Description)
	default:
		fmt.Fprintf(out, "caguid=0x%x\nCa\t%d %s\t\t# \"%s\"\n", uint64(n.GUID), n.NumPorts, nodeName(n), n.Description)
	}
	for i := range n.Ports {
		p := &n.Ports[i]
		peer := t.Node(p.Peer.Node)
		if !p.PeerKnown || peer == nil {
			continue
		}
		end := peer.Port(p.Peer.Port)
		peerGUID, peerLID := "", peer.LID
		if peer.Type != fabric.NodeSwitch && end != nil {
			peerGUID, peerLID = fmt.Sprintf("(%x) ", uint64(end.GUID)), end.LID
		}
		fmt.Fprintf(out, "[%d]", p.Num)
		if n.Type != fabric.NodeSwitch {
			fmt.Fprintf(out, "(%x) ", uint64(p.GUID))
		}
		fmt.Fprintf(out, "\t%s[%d]%s\t\t# ", nodeName(peer), p.Peer.Port, peerGUID)
		if n.Type != fabric.NodeSwitch {
			fmt.Fprintf(out, "lid %d lmc %d ", p.LID, p.LMC)
		}
		fmt.Fprintf(out, "\"%s\" lid %d %dx%v\n", peer.Description, peerLID, p.Width, p.Speed)
	}
}

func nodeName(n *fabric.Node) string {
	letter := "H"
	switch n.Type {
	case fabric.NodeSwitch:
		letter = "S"
	case fabric.NodeRouter:
		letter = "R"
	}
	return fmt.Sprintf("\"%s-%016x\"", letter, uint64(n.GUID))
}
