package fabricsim

import (
	"fmt"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// Sizes of the tables of a real switch and adapter of the HDR generation, as
// smpquery prints them.
const (
	linearFDBCap    = 49152 // LIDs 0 to 0xbfff, all unicast
	multicastFDBCap = 4096
	maxMFTBlock     = multicastFDBCap/32 - 1
	partitionsCA    = 128
	partitionsSW    = 32
	guidCap         = 8
	defaultPKey     = 0xffff
	mtu4096         = 5 // IBTA 14.2.5.6, MTUCap
	vlCap8          = 4 // VL0 to VL7
	physSubnet      = 18
	firstMulticast  = 0xc000 // IBTA 4.1.3
	qdr             = 4      // IBTA 14.2.5.6, LinkSpeedActive: 10 Gb/s
)

// New builds the fabric a topology describes, every port powered and cabled
// and every link waiting for a subnet manager. The topology's LIDs and states
// are not taken over. A node's Name is the first word of its description when
// no other node has it, else its identifier as ibnetdiscover writes it.
func New(t *fabric.Topology) (*Fabric, error) {
	f := newFabric()
	words := map[string]int{}
	for i := range t.Nodes {
		words[firstWord(t.Nodes[i].Description)]++
	}
	byGUID := map[fabric.GUID]*Node{}
	for i := range t.Nodes {
		d := &t.Nodes[i]
		name := firstWord(d.Description)
		if name == "" || words[name] > 1 {
			name = fmt.Sprintf("%c-%016x", "?HSR"[min(d.Type, 3)], uint64(d.GUID))
		}
		n, err := newNode(name, d)
		if err != nil {
			return nil, fmt.Errorf("building the fabric: %w", err)
		}
		byGUID[d.GUID] = n
		f.byName[name] = n
		f.nodes = append(f.nodes, n)
	}
	for _, l := range t.Links() {
		a, b := byGUID[l.A.Node], byGUID[l.B.Node]
		if a == nil || b == nil {
			continue // the source names an end it does not describe
		}
		pa, pb := a.port(uint8(l.A.Port)), b.port(uint8(l.B.Port))
		if pa == nil || pb == nil || !pa.external() || !pb.external() {
			return nil, fmt.Errorf("building the fabric: no ports for the cable %s[%d] to %s[%d]", a.Name, l.A.Port, b.Name, l.B.Port)
		}
		if pa.cable != nil || pb.cable != nil {
			return nil, fmt.Errorf("building the fabric: two cables in a port of %v to %v", pa, pb)
		}
		speed, width := l.Speed, l.Width
		if speed == fabric.SpeedUnknown {
			speed = fabric.HDR
		}
		if width == 0 {
			width = 4
		}
		pa.support(speed, width)
		pb.support(speed, width)
		connect(pa, pb)
	}
	for _, n := range f.nodes {
		for _, p := range n.ports {
			if p != nil && p.cable != nil && p.cable.a == p {
				f.train(p.cable)
			}
		}
	}
	return f, nil
}

// firstWord of a description, without the vendor's "MF0;…:model/U1" frame.
func firstWord(desc string) string {
	if rest, ok := strings.CutPrefix(desc, "MF0;"); ok {
		desc, _, _ = strings.Cut(rest, ":")
	}
	words := strings.Fields(desc)
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

func newNode(name string, d *fabric.Node) (*Node, error) {
	if d.NumPorts == 0 || d.NumPorts == 255 {
		return nil, fmt.Errorf("node %s has %d ports; 1 to 254 are possible", name, d.NumPorts)
	}
	n := &Node{Name: name, desc: d.Description, traps: map[uint64]*pendingTrap{}}
	n.info = mad.NodeInfo{
		BaseVersion: 1, ClassVersion: 1, Type: uint8(d.Type), NumPorts: d.NumPorts,
		SystemGUID: uint64(d.SystemGUID), NodeGUID: uint64(d.GUID), PortGUID: uint64(d.GUID),
		PartitionCap: partitionsCA, DeviceID: uint16(d.DeviceID), Revision: 0, VendorID: d.VendorID,
	}
	if n.info.SystemGUID == 0 {
		n.info.SystemGUID = n.info.NodeGUID
	}
	if n.info.Type == 0 {
		n.info.Type = mad.NodeCA
	}
	n.ports = make([]*Port, int(d.NumPorts)+1)
	ports := make([]Port, len(n.ports))
	first := 1
	if d.Type == fabric.NodeSwitch {
		first = 0
		n.info.PartitionCap = partitionsSW
		n.sw = newSwitching()
	}
	for i := first; i < len(n.ports); i++ {
		p := &ports[i]
		*p = Port{node: n, num: uint8(i), guid: n.info.NodeGUID, counters: &counterSet{}}
		if d.Type != fabric.NodeSwitch {
			p.guid = n.info.NodeGUID + uint64(i)
			if dp := d.Port(fabric.PortNum(i)); dp != nil && dp.GUID != 0 {
				p.guid = uint64(dp.GUID)
			}
		}
		p.reset()
		n.ports[i] = p
	}
	return n, nil
}

func newSwitching() *switching {
	s := &switching{mft: map[uint32]*mad.MulticastFDBBlock{}}
	s.info = mad.SwitchInfo{
		LinearFDBCap: linearFDBCap, MulticastFDBCap: multicastFDBCap, LifeTime: 18, LIDsPerPort: 0,
		PartitionEnforcementCap: partitionsSW, InboundEnforcement: true, OutboundEnforcement: true,
		FilterRawInbound: true, FilterRawOutbound: true, EnhancedPort0: true, DefaultMulticastPrimary: mad.NoPort, DefaultMulticastNotPrimary: mad.NoPort,
	}
	return s
}

// reset brings a port to what it is after power on: no LID, link down.
func (p *Port) reset() {
	old := p.info
	p.tables = nil
	p.info = mad.PortInfo{
		GIDPrefix: 0xfe80000000000000, LocalPort: p.num, State: mad.PortDown, Phys: mad.PhysPolling, LinkDownDefault: mad.PhysPolling,
		MTUCap: mtu4096, NeighborMTU: mtu4096, VLCap: vlCap8, OperationalVLs: vlCap8, VLArbHighCap: 8, VLArbLowCap: 8,
		SubnetTimeout: physSubnet, RespTime: 16, LocalPhyErrors: 8, OverrunErrors: 8, MaxCreditHint: 0,
		WidthSupported: old.WidthSupported, WidthEnabled: old.WidthSupported, WidthActive: 2,
		SpeedSupported: old.SpeedSupported, SpeedEnabled: old.SpeedSupported, SpeedActive: 1,
		SpeedExtSupported: old.SpeedExtSupported, SpeedExtEnabled: old.SpeedExtSupported,
		CapabilityMask: old.CapabilityMask, CapabilityMask2: old.CapabilityMask2,
	}
	p.mlnx.SpeedEnabled, p.mlnx.SpeedActive = p.mlnx.SpeedSupported, 0
	if p.info.WidthSupported == 0 {
		p.support(fabric.HDR, 4)
	}
	if p.num == 0 {
		p.info.State, p.info.Phys = mad.PortActive, mad.PhysLinkUp
		// No wire: it runs at its best, or paths to the switch would be slow.
		best := mad.SpeedSet(1) << p.enabledSpeeds().Best()
		_, width := mad.WidthSet(p.info.WidthEnabled).Best()
		p.info.WidthActive, p.info.SpeedActive, p.info.SpeedExtActive = uint8(width), qdr, best.Extended()
	}
	if p.external() && !p.node.isSwitch() {
		p.info.GUIDCap = guidCap
	}
}

// support sets what a port is built for; a link of two such ports comes up
// with the best of both.
func (p *Port) support(max fabric.Speed, width fabric.Width) {
	s, i := mad.NewSpeedSet(max), &p.info
	i.SpeedSupported, i.SpeedEnabled = s.Legacy(), s.Legacy()
	i.SpeedExtSupported, i.SpeedExtEnabled = s.Extended(), s.Extended()
	p.mlnx.SpeedSupported, p.mlnx.SpeedEnabled = s.Mlnx(), s.Mlnx()
	w := uint8(mad.NewWidthSet(width))
	i.WidthSupported, i.WidthEnabled = w, w
	i.CapabilityMask2 = mad.Cap2SetDescription
	if w&16 != 0 {
		i.CapabilityMask2 |= mad.Cap2Width2X
	}
	if max >= fabric.HDR {
		i.CapabilityMask2 |= mad.Cap2HDR
	}
	if max >= fabric.NDR {
		i.CapabilityMask2 |= mad.Cap2NDR
	}
	i.CapabilityMask = mad.CapTrap | mad.CapNotice | mad.CapAutoMigration | mad.CapSLMapping | mad.CapSystemGUID | mad.CapMask2 |
		mad.CapCommMgmt | mad.CapDRNotice | mad.CapMaskNotice | mad.CapClientReregister | mad.CapOtherChanges
	if i.SpeedExtSupported != 0 {
		i.CapabilityMask |= mad.CapExtendedSpeeds
	}
}
